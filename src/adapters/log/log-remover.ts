/**
 * Frees the files of covered segments beside a running server, a piece at a time in a thread that may wait. unlink(2) gives back the cached pages of a file before
 * it returns, 12 ms for a segment of 64 MiB on an idle core and twice that on a busy one: whoever did it stood still for as long, verdicts with it.
 */

import { renameSync } from "node:fs";
import { open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errorCode } from "./log-file-system.ts";
import { namesIn } from "./log-segment.ts";

/** Behind the name of a segment that is no part of the log any more. */
const DISCARDED = ".discarded";
/** Freed at a time: 1 ms, and then others have the core. A segment is gone in a tenth of a second, faster than any log grows. */
const STEP_BYTES = 4 * 1024 * 1024;
const PAUSE_MS = 5;

/** Takes segments out of the log at once, and frees them one after another. */
export class LogRemover {
  readonly #waiting: string[];
  #isStopping = false;
  #removing: Promise<void> | undefined;

  /** Begins with what a killed server has left in the folders. */
  constructor(directories: readonly string[]) {
    this.#waiting = directories.flatMap((directory) =>
      namesIn(directory)
        .filter((name) => name.endsWith(DISCARDED))
        .map((name) => join(directory, name)),
    );
    this.#begin();
  }

  /** Takes a segment out of the log, whatever comes after; false where it has gone already. Throws the system's error. */
  discard(path: string): boolean {
    try {
      renameSync(path, path + DISCARDED);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return false;
      throw error;
    }
    this.#waiting.push(path + DISCARDED);
    this.#begin();
    return true;
  }

  /** Frees without pauses what is left. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#removing;
  }

  #begin(): void {
    if (this.#removing === undefined && this.#waiting.length > 0) this.#removing = this.#removeAll();
  }

  /** Frees all segments that wait; those that cannot be freed are left to the next start. */
  async #removeAll(): Promise<void> {
    for (let path = this.#waiting.shift(); path !== undefined; path = this.#waiting.shift()) {
      await this.#remove(path).catch(() => undefined);
    }
    this.#removing = undefined;
  }

  async #remove(path: string): Promise<void> {
    const file = await open(path, "r+");
    try {
      const { size } = await file.stat();
      for (let end = size - STEP_BYTES; end > 0 && !this.#isStopping; end -= STEP_BYTES) {
        await file.truncate(end);
        await sleep(PAUSE_MS);
      }
    } finally {
      await file.close();
    }
    await unlink(path);
  }
}
