/**
 * <dataDir>/log-archive/: segments of the log that every checkpoint has passed, kept for a restore to a moment behind the newest backup, and while a backup is made. They are renamed, so keeping one costs its
 * disk and nothing else; what passes the bound goes, the oldest first.
 */
import { mkdirSync, renameSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { errorCode } from "./log-file-system.ts";
import { type LogSegment, listSegments } from "./log-segment.ts";

/** Frees a segment that is kept no longer. */
export interface SegmentRemover {
  discard(path: string): boolean;
}

/** Folder of the archive in a data folder. */
export function archiveDirectory(dataDir: string): string {
  return join(dataDir, "log-archive");
}

/** Archive of the log of one data folder. */
export class LogArchive {
  readonly #directory: string;
  readonly #bytesMax: number;
  readonly #remover: SegmentRemover;
  #isLocked = false;
  /** A bound that keeps nothing and no backup: segments that are covered go at once. */
  readonly #keepsAlways: boolean;

  /** Bytes that are kept beside a backup that is being made; 0 keeps none. */
  constructor(dataDir: string, bytesMax: number, remover: SegmentRemover) {
    this.#directory = archiveDirectory(dataDir);
    this.#bytesMax = bytesMax;
    this.#remover = remover;
    this.#keepsAlways = bytesMax > 0;
    if (!this.#keepsAlways) this.prune(() => true);
  }

  /** Takes a covered segment out of the log, and keeps it where it is wanted. Throws the system's error. */
  retire(path: string): void {
    if (!this.#isLocked && !this.#keepsAlways) {
      this.#remover.discard(path);
      return;
    }
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    try {
      renameSync(path, join(this.#directory, basename(path)));
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error; // it has gone already
    }
    if (!this.#isLocked) this.#bound();
  }

  /** From now on nothing goes: a backup reads. */
  lock(): void {
    this.#isLocked = true;
  }

  /** The backup has ended; `isCopied` tells which segments it holds wholly. */
  release(isCopied: (segment: LogSegment) => boolean): void {
    this.#isLocked = false;
    this.prune(isCopied);
  }

  /** Frees what nobody needs, and what is beyond the bound. */
  prune(isNeedless: (segment: LogSegment) => boolean): void {
    for (const segment of listSegments(this.#directory)) {
      if (!this.#keepsAlways || isNeedless(segment)) this.#remover.discard(segment.path);
    }
    this.#bound();
  }

  /** Bytes that are kept now. */
  get bytes(): number {
    return this.#sizes().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #bound(): void {
    const sizes = this.#sizes();
    let total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { path, bytes } of sizes) {
      if (total <= this.#bytesMax) return;
      this.#remover.discard(path);
      total -= bytes;
    }
  }

  /** The oldest first. */
  #sizes(): Array<{ readonly path: string; readonly bytes: number; readonly changedMs: number }> {
    const sized = listSegments(this.#directory).flatMap(({ path }) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat === undefined ? [] : { path, bytes: stat.size, changedMs: stat.mtimeMs };
    });
    return sized.sort((a, b) => a.changedMs - b.changedMs);
  }
}
