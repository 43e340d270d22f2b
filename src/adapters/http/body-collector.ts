/** Puts the chunks of one body together in a pooled buffer which doubles when full, so a body of n bytes is copied at most twice. */
import type { BodyPool } from "./body-pool.ts";
import type { BodyReceiver, RefusalCode } from "./http-server.ts";

/** Outcome for a chunk. */
export type AppendOutcome = "taken" | "too-long" | "no-memory";

/** The refusal of a body that was not taken: status, code, message. */
export function bodyRefusal(outcome: Exclude<AppendOutcome, "taken">, maxBytes: number): readonly [number, RefusalCode, string] {
  return outcome === "too-long"
    ? [413, "body_too_large", `the body is longer than ${maxBytes} bytes; send smaller requests`]
    : [503, "overloaded", "too many bodies are being received"];
}

/** One body being collected; ends with `deliver` or `discard`, both of which give the buffer back. */
export class BodyCollector {
  readonly #pool: BodyPool;
  readonly maxBytes: number;
  readonly #onBody: BodyReceiver;
  #buffer: Buffer | undefined;
  #length = 0;

  constructor(options: { maxBytes: number; onBody: BodyReceiver }, pool: BodyPool) {
    this.#pool = pool;
    this.maxBytes = options.maxBytes;
    this.#onBody = options.onBody;
  }

  /** Copies a chunk. The declared length is not believed: memory is taken only for bytes that have come. */
  append(chunk: Uint8Array): AppendOutcome {
    const needed = this.#length + chunk.length;
    if (needed > this.maxBytes) return "too-long";
    if (chunk.length === 0) return "taken";
    if (this.#buffer === undefined || needed > this.#buffer.length) {
      if (!this.#grow(needed)) return "no-memory";
    }
    this.#buffer?.set(chunk, this.#length);
    this.#length = needed;
    return "taken";
  }

  /** Hands the body over and takes the buffer back, also when the receiver throws. */
  deliver(): void {
    try {
      this.#onBody(this.#buffer === undefined ? Buffer.alloc(0) : this.#buffer.subarray(0, this.#length));
    } finally {
      this.discard();
    }
  }

  /** Gives the buffer back. */
  discard(): void {
    if (this.#buffer !== undefined) this.#pool.release(this.#buffer);
    this.#buffer = undefined;
    this.#length = 0;
  }

  #grow(needed: number): boolean {
    const larger = this.#pool.acquire(needed);
    if (larger === undefined) return false;
    if (this.#buffer !== undefined) {
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#pool.release(this.#buffer);
    }
    this.#buffer = larger;
    return true;
  }
}
