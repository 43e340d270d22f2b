// The log's part of a backup: which segments there are at the cut and how much of each, and their copies.
import { closeSync, fstatSync, fsyncSync, linkSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { archiveDirectory } from "../../adapters/log/log-archive.ts";
import { errorCode } from "../../adapters/log/log-file-system.ts";
import { readBlocks } from "../../adapters/log/log-reader.ts";
import { type LogSegment, listSegments } from "../../adapters/log/log-segment.ts";
import { logDirectory } from "../../adapters/log/meta-file.ts";
import type { BackupFile, BackupLog } from "../../core/protocol/backup.ts";

/** Copied at a time; others have the disk and the core between. */
const STEP_BYTES = 1024 * 1024;
const PAUSE_MS = 2;

/** A segment up to the cut. */
export interface CutSegment extends LogSegment {
  readonly bytes: number;
  /** No block will follow in it: a later segment of its writer is there. */
  readonly isFull: boolean;
}

/** The log at the cut. Call it once the transactions of both stores are held, while the server's archive keeps what it takes out of the log. Throws the system's error. */
export function cutLog(dataDir: string): { readonly segments: readonly CutSegment[]; readonly logs: readonly BackupLog[] } {
  const listed = new Map<string, LogSegment>();
  // The archive last: what leaves the log meanwhile is there.
  for (const segment of [...listSegments(logDirectory(dataDir)), ...listSegments(archiveDirectory(dataDir))])
    listed.set(basename(segment.path), segment);
  const all = [...listed.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, segment]) => segment);
  const segments: CutSegment[] = [];
  const logs: BackupLog[] = [];
  for (const [index, segment] of all.entries()) {
    const next = all[index + 1];
    const isFull = next !== undefined && next.epoch === segment.epoch && next.writer === segment.writer;
    const cut = isFull ? { bytes: statSync(segmentNow(segment, dataDir)).size, admission: 0 } : wholeBlocks(segment, dataDir);
    segments.push({ ...segment, bytes: cut.bytes, isFull });
    if (!isFull) logs.push({ epoch: segment.epoch, lane: segment.writer, segment: segment.segment, ...cut });
  }
  return { segments, logs };
}

/** Up to the end of the last block: behind it one may be half written. A segment that leaves the log meanwhile is read where it has gone: a file that is not there reads as an empty one. */
function wholeBlocks(segment: LogSegment, dataDir: string): { readonly bytes: number; readonly admission: number } {
  const path = segmentNow(segment, dataDir);
  let admission = 0;
  const blocks = readBlocks(path);
  for (let step = blocks.next(); ; step = blocks.next()) {
    if (step.done === true)
      return path === segmentNow(segment, dataDir) ? { bytes: step.value.endOffset, admission } : wholeBlocks(segment, dataDir);
    admission = Math.max(admission, step.value.header.admission);
  }
}

/** Links a file of an earlier backup where it is the same; false where the file system cannot. */
export function linkFile(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (["EXDEV", "EPERM", "EMLINK", "ENOENT", "ENOTSUP"].includes(errorCode(error))) return false;
    throw error;
  }
}

/** Copies the first `bytes` of a file, a piece at a time, and flushes the copy. Rejects with the system's error, or where the file has fewer. */
export async function copyBytes(from: string, to: string, bytes: number, copied: (bytes: number) => void): Promise<void> {
  const source = openSync(from, "r");
  try {
    if (fstatSync(source).size < bytes) throw new Error(`${from} has become shorter than ${bytes} bytes while it was copied`);
    const target = openSync(to, "wx", 0o600);
    try {
      const piece = Buffer.alloc(Math.min(STEP_BYTES, Math.max(1, bytes)));
      for (let at = 0; at < bytes; ) {
        const read = readSync(source, piece, 0, Math.min(piece.length, bytes - at), at);
        if (read === 0) throw new Error(`${from} ends at byte ${at}, before byte ${bytes}`);
        for (let written = 0; written < read; ) written += writeSync(target, piece, written, read - written);
        at += read;
        copied(read);
        await sleep(PAUSE_MS);
      }
      fsyncSync(target);
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

/** Where a segment is now: the server may have taken it out of the log since the cut. */
export function segmentNow(segment: LogSegment, dataDir: string): string {
  const archived = join(archiveDirectory(dataDir), basename(segment.path));
  return statSync(segment.path, { throwIfNoEntry: false }) === undefined ? archived : segment.path;
}

/** The same file in an earlier backup, by its name and size. */
export function unchangedFile(files: readonly BackupFile[], path: string, bytes: number): BackupFile | undefined {
  return files.find((file) => file.path === path && file.bytes === bytes);
}
