// Sends the soak's requests at their rates, whatever the server does (open loop): an answer's time counts from the moment the request was due. Beside them
// it keeps readers of the event stream, of which some take almost nothing, and clients that send their body a few bytes a second.
import { connect, type Socket } from "node:net";
import { Pool } from "undici";
import { RATES, type SoakKind, type SoakRequest, SoakRequests } from "./soak-requests.ts";

const TICK_MS = 20;
const CONNECTIONS = 16;
/** Requests without an answer; beyond, one that is due is not sent, and counted. */
const WAITING_MAX = 500;
const KINDS = Object.keys(RATES) as SoakKind[];
const READERS = 4;
const SLOW_READERS = 2;
const SLOW_READ_MS = 1_000;
const SLOW_WRITERS = 2;
const SLOW_WRITE_MS = 500;
const WRITER_HEAD = "POST /api/v1/telemetry HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n";

/** What became of the requests since the start. */
export interface SoakTally {
  sent: number;
  acknowledged: number;
  accepted: number;
  refused: number;
  overloaded: number;
  /** Due, but not sent: too many had no answer. */
  withheld: number;
  /** Answers that must not be, by what they were; without an answer "lost". */
  readonly wrong: Map<string, number>;
  /** Bytes of events that the quick readers got. */
  eventBytes: number;
  /** Times that the server closed a slow reader or writer. */
  slowClosed: number;
}

export class SoakLoad {
  readonly requests: SoakRequests;
  readonly tally: SoakTally = {
    sent: 0,
    acknowledged: 0,
    accepted: 0,
    refused: 0,
    overloaded: 0,
    withheld: 0,
    wrong: new Map(),
    eventBytes: 0,
    slowClosed: 0,
  };
  readonly #pool: Pool;
  readonly #port: number;
  readonly #due = new Map<SoakKind, number>();
  readonly #sockets = new Set<Socket>();
  readonly #timers: NodeJS.Timeout[] = [];
  #writeMs: number[] = [];
  #queryMs: number[] = [];
  #waiting = 0;
  #startMs = 0;
  #stopped = false;

  constructor(origin: string, seed: number) {
    this.requests = new SoakRequests(seed);
    this.#port = Number(new URL(origin).port);
    this.#pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 });
  }

  start(): void {
    this.#startMs = performance.now();
    this.#timers.push(setInterval(() => this.#tick(), TICK_MS));
    for (let i = 0; i < READERS; i++) this.#reader(i < SLOW_READERS);
    for (let i = 0; i < SLOW_WRITERS; i++) this.#slowWriter();
  }

  /** Answer times since the last call, in milliseconds. */
  takeTimes(): { readonly writes: number[]; readonly queries: number[] } {
    const times = { writes: this.#writeMs, queries: this.#queryMs };
    this.#writeMs = [];
    this.#queryMs = [];
    return times;
  }

  /** Sends nothing more and waits for the answers. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers) clearInterval(timer);
    for (let turn = 0; turn < 200 && this.#waiting > 0; turn++) await new Promise((resolve) => setTimeout(resolve, 50));
    for (const socket of this.#sockets) socket.destroy();
    await this.#pool.destroy();
  }

  #tick(): void {
    const elapsedSeconds = (performance.now() - this.#startMs) / 1000;
    for (const kind of KINDS) {
      let made = this.#due.get(kind) ?? 0;
      for (const due = Math.floor(elapsedSeconds * RATES[kind]); made < due; made++) {
        const dueMs = this.#startMs + ((made + 1) / RATES[kind]) * 1000;
        if (this.#waiting >= WAITING_MAX) this.tally.withheld++;
        else void this.#send(this.requests.make(kind, Date.now()), dueMs);
      }
      this.#due.set(kind, made);
    }
  }

  async #send({ kind, method, path, headers, body, status, accepted, refused }: SoakRequest, dueMs: number): Promise<void> {
    this.#waiting++;
    this.tally.sent++;
    try {
      const response = await this.#pool.request({ method, path, headers, ...(body === undefined ? {} : { body }) });
      const text = await response.body.text();
      (kind === "query" ? this.#queryMs : this.#writeMs).push(performance.now() - dueMs);
      if (response.statusCode === 503 && response.headers["retry-after"] !== undefined) this.tally.overloaded++;
      else if (response.statusCode !== status) this.#wrong(`${kind}: ${response.statusCode} ${text.slice(0, 120)}`);
      else {
        this.tally.acknowledged++;
        this.tally.accepted += accepted;
        this.tally.refused += refused;
      }
    } catch (error) {
      this.#wrong(`${kind}: lost: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      this.#waiting--;
    }
  }

  #wrong(what: string): void {
    this.tally.wrong.set(what, (this.tally.wrong.get(what) ?? 0) + 1);
  }

  /** A reader of events that comes back when it is cut off; a slow one reads once in a while. */
  #reader(isSlow: boolean): void {
    const socket = this.#connect(() => {
      if (isSlow) this.tally.slowClosed++;
      this.#reader(isSlow);
    });
    socket.write(`GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1:${this.#port}\r\nAccept: text/event-stream\r\n\r\n`);
    socket.on("data", (chunk) => {
      if (!isSlow) this.tally.eventBytes += chunk.length;
      else {
        socket.pause();
        setTimeout(() => socket.resume(), SLOW_READ_MS).unref();
      }
    });
  }

  /** A client that never gets to the end of its body. */
  #slowWriter(): void {
    const socket = this.#connect(() => {
      this.tally.slowClosed++;
      this.#slowWriter();
    });
    socket.write(WRITER_HEAD);
    const timer = setInterval(() => socket.write("          "), SLOW_WRITE_MS);
    socket.on("data", () => {});
    socket.on("close", () => clearInterval(timer));
  }

  #connect(onClose: () => void): Socket {
    const socket = connect({ port: this.#port, host: "127.0.0.1" });
    this.#sockets.add(socket);
    socket.on("error", () => {}); // a reset shows as "close"
    socket.on("end", () => socket.end());
    socket.on("close", () => {
      this.#sockets.delete(socket);
      if (!this.#stopped) setTimeout(() => !this.#stopped && onClose(), 100);
    });
    return socket;
  }
}
