/**
 * The requests of one connection, one at a time. node:http hands over pipelined requests as soon as they are parsed and only orders the
 * answers; here request n+1 starts when answer n is out, so that the order of work is the order of requests, as it is on uws.
 */
import type { Socket } from "node:net";
import { connection, listenOnce } from "../../../core/faults/guard.ts";
import type { NodeExchange } from "./node-exchange.ts";

/** Starts an exchange; `onOver` must be called when it is over, with whether its answer said that the connection closes. */
export type ExchangeStarter = (onOver: (isLast: boolean) => void) => NodeExchange;

/** One connection with the exchange that runs and those that wait. */
export class ConnectionPipeline {
  readonly socket: Socket;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  /** An answer outside any exchange was given; nothing more is read. */
  refused = false;
  /** An answer said that the connection closes: what comes behind its request is not served (RFC 9112, 9.6). */
  #ended = false;
  readonly #waitingMax: number;
  readonly #waiting: ExchangeStarter[] = [];
  #current: NodeExchange | undefined;
  #running = false;

  constructor(options: { waitingMax: number }, socket: Socket) {
    this.#waitingMax = options.waitingMax;
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      listenOnce(socket, "close", connection("a connection of HTTP", resolve), () => {
        this.clear();
        resolve();
      });
    });
  }

  /** The exchange that runs now. */
  get current(): NodeExchange | undefined {
    return this.#current;
  }

  /** Whether no exchange runs or waits. */
  get isIdle(): boolean {
    return !this.#running;
  }

  /** Runs the exchange now or after those before it; a client with too many waiting loses its connection. */
  enqueue(starter: ExchangeStarter): void {
    if (this.refused || this.#ended) return;
    if (!this.#running) return this.#start(starter);
    if (this.#waiting.length < this.#waitingMax) this.#waiting.push(starter);
    else this.socket.destroy();
  }

  /** Forgets what waits: the connection is gone or broken. */
  clear(): void {
    this.#waiting.length = 0;
  }

  #start(starter: ExchangeStarter): void {
    this.#running = true;
    let over = false;
    const exchange = starter((isLast) => {
      over = true;
      if (isLast) this.#end();
      this.#next();
    });
    if (!over) this.#current = exchange;
  }

  #end(): void {
    this.#ended = true;
    this.clear();
  }

  #next(): void {
    this.#current = undefined;
    this.#running = false;
    const starter = this.#waiting.shift();
    if (starter !== undefined && !this.socket.destroyed) this.#start(starter);
  }
}
