// Those who take their time: clients that send a body a few bytes a second, readers of the event stream and of long answers that do not read, connections that say
// nothing, and receivers of webhooks that are silent, drip, answer nonsense or hang up.
import { connect, createServer, type Server, type Socket } from "node:net";
import type { DisturbanceTarget } from "./disturbance.ts";

const WRITERS = 4;
const READERS = 4;
const SILENT = 4;
const DRIP_MS = 500;
const AGAIN_MS = 1_000;
const DRIP_MAX = 40;
const HEAD = "POST /api/v1/telemetry/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 50000\r\n\r\n[";
const UNREAD = ["/api/v1/stream", "/metrics", "/openapi.json", "/api/v1/series?limit=1000"];

/** How a receiver treats what comes, by the path's first letter. */
const MANNERS: Readonly<Record<string, (socket: Socket) => void>> = {
  silent: () => undefined,
  drip: (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    let dripped = 0;
    const timer = setInterval(() => (dripped++ < DRIP_MAX ? socket.write("x") : socket.destroy()), DRIP_MS);
    socket.on("close", () => clearInterval(timer));
  },
  nonsense: (socket) => socket.end("HTTP/1.1 999 \u0000\r\nContent-Length: -5\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
  reset: (socket) => socket.resetAndDestroy(),
};

/** Names of the manners of receivers. */
export const RECEIVER_MANNERS: readonly string[] = Object.keys(MANNERS);

export class SlowPeers {
  readonly #target: DisturbanceTarget;
  readonly #sockets = new Set<Socket>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #receiver: Server;
  #isOn = false;

  constructor(target: DisturbanceTarget) {
    this.#target = target;
    this.#receiver = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      socket.once("data", (bytes) => MANNERS[/^POST \/(\w+)/.exec(bytes.toString("latin1"))?.[1] ?? "silent"]?.(socket));
    });
  }

  /** Listens as receivers of webhooks and returns the port. */
  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve) => this.#receiver.listen(port, "127.0.0.1", resolve));
  }

  /** Has all of them come, and come again when they are sent away. */
  start(): void {
    this.#isOn = true;
    for (let i = 0; i < WRITERS; i++) this.#writer();
    for (let i = 0; i < READERS; i++) this.#reader(UNREAD[i % UNREAD.length] as string);
    for (let i = 0; i < SILENT; i++) this.#open(i % 2 === 0 ? this.#target.ports.grpc : this.#target.ports.http, () => undefined);
  }

  stop(): void {
    this.#isOn = false;
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers.clear();
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.stop();
    this.#receiver.close();
  }

  #writer(): void {
    this.#open(this.#target.ports.http, (socket) => {
      socket.write(HEAD);
      const timer = setInterval(() => socket.write(" "), DRIP_MS);
      this.#timers.add(timer);
      socket.on("close", () => {
        clearInterval(timer);
        this.#timers.delete(timer);
      });
    });
  }

  #reader(path: string): void {
    this.#open(this.#target.ports.http, (socket) => {
      socket.pause();
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${this.#target.ports.http}\r\nAccept: */*\r\n\r\n`.repeat(path === "/metrics" ? 16 : 1),
      );
    });
  }

  #open(port: number, use: (socket: Socket) => void): void {
    const socket = connect(port, "127.0.0.1");
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("connect", () => use(socket));
    socket.on("close", () => {
      this.#sockets.delete(socket);
      setTimeout(() => this.#isOn && this.#open(port, use), AGAIN_MS).unref();
    });
  }
}
