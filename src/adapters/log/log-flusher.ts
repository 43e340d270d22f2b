/**
 * Flushes the log of a running server from a thread that may wait: with DURABILITY=process a loss of power costs what was written since the last flush.
 * An engine that flushed its own log once a second stood still for as long, 10 to 100 ms at 15 MB/s: that was the p99 of its answers.
 * A flush through another descriptor covers all of the file's pages (fsync(2)).
 */

import { open, stat } from "node:fs/promises";
import { errorCode } from "./log-file-system.ts";
import { listSegments } from "./log-segment.ts";

/** Flushes segments that have grown since they were flushed last. */
export class LogFlusher {
  readonly #directory: string;
  #flushedBytes = new Map<string, number>();
  #isFlushing = false;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Bytes flushed by the last round that came to its end, by path. */
  get flushed(): ReadonlyMap<string, number> {
    return this.#flushedBytes;
  }

  /** One round; nothing while the last one is under way. Throws the system's error, but for files that are deleted meanwhile. */
  async flush(): Promise<void> {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    try {
      const now = new Map<string, number>();
      for (const { path } of listSegments(this.#directory)) now.set(path, await flushFile(path, this.#flushedBytes.get(path) ?? 0));
      this.#flushedBytes = now;
    } finally {
      this.#isFlushing = false;
    }
  }
}

/** Returns the bytes that are flushed now. */
async function flushFile(path: string, flushedBytes: number): Promise<number> {
  try {
    const { size } = await stat(path);
    if (size === flushedBytes) return size;
    const file = await open(path, "r");
    try {
      await file.datasync();
    } finally {
      await file.close();
    }
    return size;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return flushedBytes;
    throw error;
  }
}
