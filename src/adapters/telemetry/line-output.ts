// Lines to a file descriptor, written before the call returns: the last line before a crash is not lost. Where it takes nothing, because its disk is full, its
// reader has gone or has not read for long, lines are left out and counted: nothing is kept in memory, and no line ends the server.
import { writeSync } from "node:fs";
import { waitBlocking } from "../platform/blocking-wait.ts";

const FULL_WAIT_MS = 5;
/** Waits for the reader of a full pipe, one line: 50 ms in all. */
const FULL_WAITS_MAX = 10;

type Write = (descriptor: number, bytes: Uint8Array, offset: number) => number;

/** One descriptor. */
export class LineOutput {
  readonly #descriptor: number;
  readonly #onLost: () => void;
  readonly #write: Write;
  /** The last line found no room: the next ones do not wait. */
  #isFull = false;

  /** `onLost` is called for each line that was not written as a whole. */
  constructor(descriptor: number, onLost: () => void, write: Write = writeSync) {
    this.#descriptor = descriptor;
    this.#onLost = onLost;
    this.#write = write;
  }

  /** Writes text that ends its line. */
  write(text: string): void {
    const bytes = Buffer.from(text);
    let waits = this.#isFull ? FULL_WAITS_MAX : 0;
    for (let at = 0; at < bytes.length; ) {
      try {
        at += this.#write(this.#descriptor, bytes, at);
        this.#isFull = false;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EAGAIN" && waits++ < FULL_WAITS_MAX) waitBlocking(FULL_WAIT_MS);
        else {
          this.#isFull = true;
          return this.#onLost();
        }
      }
    }
  }
}
