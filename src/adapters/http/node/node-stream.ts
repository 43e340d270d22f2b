/** A streaming answer on node:http. */
import type { ServerResponse } from "node:http";
import { connection, listen } from "../../../core/faults/guard.ts";
import type { HttpStream } from "../http-server.ts";

/** Members of its exchange that the stream needs. */
export interface NodeStreamOptions {
  readonly stallTimeoutMs: number;
  /** Runs a callback of the handler's. */
  guard(call: () => void): void;
}

/** The stream over a response whose head is set. */
export class NodeStream implements HttpStream {
  readonly #outgoing: ServerResponse;
  readonly #options: NodeStreamOptions;
  #drainCallback: (() => void) | undefined;
  #closeCallback: (() => void) | undefined;

  constructor(options: NodeStreamOptions, outgoing: ServerResponse) {
    this.#options = options;
    this.#outgoing = outgoing;
    outgoing.flushHeaders();
    const home = connection("a stream over HTTP", () => outgoing.destroy());
    listen(outgoing, "drain", home, () => this.#onDrain());
  }

  get bufferedBytes(): number {
    return this.#outgoing.writableLength;
  }

  write(chunk: Uint8Array): boolean {
    if (this.#outgoing.writableEnded || this.#outgoing.destroyed) return false;
    const taken = this.#outgoing.write(chunk);
    // Only while a reader is awaited: a quiet stream may rest as long as it likes.
    if (!taken) this.#outgoing.setTimeout(this.#options.stallTimeoutMs);
    return taken;
  }

  onDrain(callback: () => void): void {
    this.#drainCallback = callback;
  }

  onClose(callback: () => void): void {
    this.#closeCallback = callback;
  }

  end(): void {
    if (!this.#outgoing.writableEnded) this.#outgoing.end();
  }

  /** Tells the stream that the client is gone. */
  closed(): void {
    this.#closeCallback?.();
  }

  #onDrain(): void {
    if (this.#outgoing.writableEnded) return;
    this.#outgoing.setTimeout(0);
    if (this.#drainCallback !== undefined) this.#options.guard(this.#drainCallback);
  }
}
