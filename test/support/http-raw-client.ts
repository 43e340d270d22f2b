/** An HTTP client over a bare socket: it sends exactly the bytes it is given, and shows what really comes back. */
import { once } from "node:events";
import type { Socket } from "node:net";
import { connect } from "node:net";

/** One answer as it came over the wire. */
export interface RawResponse {
  readonly version: string;
  readonly status: number;
  /** Lower-case names; the last of repeated ones. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** Raised when the connection closes before what was waited for has come. */
export class ConnectionClosed extends Error {}

/** A connection to a server on the loopback interface. */
export class RawHttpClient {
  readonly socket: Socket;
  /** Resolves when the connection is closed, for whatever reason. */
  readonly closed: Promise<void>;
  #chunks: Buffer[] = [];
  #length = 0;
  #isClosed = false;
  #wake: (() => void) | undefined;
  #chunkTrailerDue = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on("error", () => {}); // a reset shows as "close"
    socket.on("data", (chunk) => {
      this.#chunks.push(chunk);
      this.#length += chunk.length;
      this.#wake?.();
    });
    // A half-close ends what can be read, and the answer is complete then.
    const ended = (): void => {
      this.#isClosed = true;
      this.#wake?.();
    };
    socket.on("end", ended);
    this.closed = new Promise((resolve) => {
      socket.on("close", () => {
        ended();
        resolve();
      });
    });
  }

  /** Opens a connection; with `allowHalfOpen` the client's own end() closes only its sending side. */
  static async open(port: number, options: { host?: string; allowHalfOpen?: boolean } = {}): Promise<RawHttpClient> {
    const socket = connect({ port, host: options.host ?? "127.0.0.1", allowHalfOpen: options.allowHalfOpen ?? false });
    await once(socket, "connect");
    return new RawHttpClient(socket);
  }

  /** Sends bytes as they are, and resolves when the kernel has taken them. */
  send(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.socket.write(data, () => resolve()));
  }

  /** Sends each part in a packet of its own, as far as a server in this process is concerned: it reads one before the next is sent. */
  async sendApart(parts: Iterable<string>): Promise<void> {
    for (const part of parts) {
      await this.send(part);
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Reads one whole answer; `head` for the answer to a HEAD request. */
  async response(options: { head?: boolean } = {}): Promise<RawResponse> {
    const headOfAnswer = await this.responseHead();
    const { status, headers } = headOfAnswer;
    if (options.head === true || status === 204 || status === 304 || status < 200) return { ...headOfAnswer, body: Buffer.alloc(0) };
    if (headers.get("transfer-encoding") === "chunked") return { ...headOfAnswer, body: await this.#chunkedBody() };
    const length = headers.get("content-length");
    if (length !== undefined) return { ...headOfAnswer, body: await this.#bytes(Number(length)) };
    await this.#until(() => this.#isClosed);
    return { ...headOfAnswer, body: this.#take(this.#length) };
  }

  /** Reads status line and headers only. */
  async responseHead(): Promise<Omit<RawResponse, "body">> {
    const statusLine = await this.#line();
    const headers = new Map<string, string>();
    for (let line = await this.#line(); line !== ""; line = await this.#line()) {
      const colon = line.indexOf(":");
      headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
    }
    const [version = "", status = ""] = statusLine.split(" ");
    return { version, status: Number(status), headers };
  }

  /** Reads the next chunk of a chunked body; empty at its end. */
  async chunk(): Promise<Buffer> {
    // The line end after a chunk is read with the next one: uws sends it with the next one too.
    if (this.#chunkTrailerDue) await this.#line();
    const size = Number.parseInt(await this.#line(), 16);
    const data = await this.#bytes(size);
    this.#chunkTrailerDue = size > 0;
    if (size === 0) await this.#line();
    return data;
  }

  /** Reads whatever comes until the connection closes. */
  async rest(): Promise<Buffer> {
    await this.#until(() => this.#isClosed);
    return this.#take(this.#length);
  }

  /** Cuts the connection off with a reset. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  async #chunkedBody(): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let part = await this.chunk(); part.length > 0; part = await this.chunk()) parts.push(part);
    return Buffer.concat(parts);
  }

  async #line(): Promise<string> {
    let end = -1;
    await this.#until(() => {
      end = this.#merged().indexOf("\r\n");
      return end >= 0;
    });
    return this.#take(end + 2).toString("latin1", 0, end);
  }

  async #bytes(count: number): Promise<Buffer> {
    await this.#until(() => this.#length >= count);
    return this.#take(count);
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.#isClosed)
        throw new ConnectionClosed(`connection closed after ${JSON.stringify(this.#merged().toString("latin1", 0, 200))}`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #merged(): Buffer {
    const [first] = this.#chunks;
    if (first !== undefined && this.#chunks.length === 1) return first;
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }

  #take(count: number): Buffer {
    const all = this.#merged();
    this.#chunks = [all.subarray(count)];
    this.#length -= count;
    return all.subarray(0, count);
  }
}
