/**
 * What has come of a body whose exchange is held. uws gives each piece once and takes its memory back, so it is copied here; behind HELD_BODY_BYTES_MAX
 * the connection is paused, and the kernel's buffers make the client wait.
 */
import { HELD_BODY_BYTES_MAX } from "../http-limits.ts";
import type { UwsResponse } from "./uws-library.ts";

/** The pieces of one body. */
export class HeldBody {
  readonly #response: UwsResponse;
  #chunks: ArrayBuffer[] = [];
  #bytes = 0;
  #isPaused = false;
  isComplete = false;

  constructor(response: UwsResponse) {
    this.#response = response;
  }

  keep(chunk: ArrayBuffer, isLast: boolean): void {
    this.isComplete ||= isLast;
    this.#chunks.push(chunk.slice(0)); // ArrayBuffer's slice copies
    this.#bytes += chunk.byteLength;
    if (isLast || this.#isPaused || this.#bytes < HELD_BODY_BYTES_MAX) return;
    this.#isPaused = true;
    this.#response.pause();
  }

  /** Everything kept, in order; the last piece is the end of the body where it is complete. */
  take(): ArrayBuffer[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#bytes = 0;
    return chunks;
  }

  /** Reads on; must not be called once the response is over. */
  resume(): void {
    if (this.#isPaused) this.#response.resume();
    this.#isPaused = false;
  }

  /** Forgets everything; the rest of the body is read and dropped while the client is there. */
  drop(isAlive: boolean): void {
    this.take();
    if (isAlive) this.resume();
  }
}
