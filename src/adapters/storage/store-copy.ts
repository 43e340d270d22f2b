// Copies a store beside the server that writes to it, page by page at a pace of its own: a transaction is held from before the first page to behind the last, so that LMDB writes over none that it needs.
// LMDB's own copy (mdb_env_copy2) is one call that cannot be paced, and compacted it writes page 0 with transaction 0, which lmdb-file.ts takes for damage.
// Holds what a store has now while a server goes on writing to it: its pages are not used again until the snapshot is closed.

import { closeSync, fsyncSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { open } from "lmdb";
import { background, task } from "../../core/faults/guard.ts";
import { systemClock } from "../platform/clock.ts";
import { DATA_FILE, LmdbFile, LOCK_FILE, META_PAGES, type Snapshot } from "./lmdb-file.ts";
import { openLmdbStore } from "./lmdb-store.ts";
import { SEALED_KEY, SEALED_TABLE, SEALED_VALUE } from "./value-seal.ts";

const STEP_BYTES = 1024 * 1024;
/** A commit may come between the look at the first pages and the transaction: then it is tried again. */
const TRIES_MAX = 1_000;
/** A pause that passes less of its time than this is not made. */
const REST_MS_MIN = 2;

/** A store as it was at one transaction, until `close`. */
export interface PinnedStore {
  /** Bytes of the copy. */
  readonly bytes: number;
  /** Writes the copy into a new folder, at most so many bytes a ms, and flushes it; `copied` is told what was. Rejects with the system's error. */
  copy(folder: string, bytesPerMs: number, copied: (bytes: number) => void): Promise<void>;
  close(): void;
}

/** Holds the newest transaction of a data file. Throws FileDamage, or LMDB's or the system's error. */
export function holdStore(dataFile: string): PinnedStore {
  const file = new LmdbFile(dataFile);
  try {
    const { snapshot, pinned, head } = holdNewest(dataFile, file);
    const bytes = (snapshot.lastPage + 1) * snapshot.pageBytes;
    return {
      bytes,
      copy: (folder, bytesPerMs, copied) => copyPages({ file, head, bytes }, { folder, bytesPerMs, copied }),
      close: () => {
        pinned.close();
        file.close();
      },
    };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** The first pages are the transaction's own where it is the newest before and behind the moment at which it was taken. */
function holdNewest(dataFile: string, file: LmdbFile): { snapshot: Snapshot; pinned: LiveSnapshot; head: Buffer } {
  for (let tries = 1; ; tries++) {
    const before = file.snapshot();
    const pinned = openLiveSnapshot(dataFile);
    const head = Buffer.alloc(META_PAGES * before.pageBytes);
    file.read(head, 0);
    const snapshot = file.snapshot();
    if (snapshot.transaction === before.transaction) return { snapshot, pinned, head };
    pinned.close();
    if (tries === TRIES_MAX) throw new Error(`${dataFile}: no moment was found between two commits in ${TRIES_MAX} tries`);
  }
}

interface PinnedPages {
  readonly file: LmdbFile;
  /** Pages 0 and 1: the only ones that the server goes on writing. */
  readonly head: Buffer;
  readonly bytes: number;
}

interface Copying {
  readonly folder: string;
  readonly bytesPerMs: number;
  readonly copied: (bytes: number) => void;
}

async function copyPages({ file, head, bytes }: PinnedPages, { folder, bytesPerMs, copied }: Copying): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, DATA_FILE);
  const target = openSync(path, "wx", 0o600);
  try {
    const piece = Buffer.alloc(STEP_BYTES);
    const began = systemClock.monotonicMs();
    write(target, head, 0);
    for (let at = head.length; at < bytes; at += STEP_BYTES) {
      const step = piece.subarray(0, Math.min(STEP_BYTES, bytes - at));
      file.read(step, at);
      write(target, step, at);
      copied(step.length);
      const aheadMs = at / bytesPerMs - (systemClock.monotonicMs() - began);
      if (aheadMs > REST_MS_MIN) await sleep(aheadMs);
    }
    fsyncSync(target);
  } finally {
    closeSync(target);
  }
  await sayFlushed(path, folder);
  rmSync(join(folder, LOCK_FILE), { force: true });
}

function write(target: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(target, bytes, done, bytes.length - done, at + done);
}

/**
 * Has the copy say that its transaction is on the disk. As it was copied it may say that it is not, and then another machine, or this one after a start, takes the transaction before,
 * whose pages were free to be written over while the copy was made.
 */
async function sayFlushed(path: string, folder: string): Promise<void> {
  const store = openLmdbStore({ path: folder, tables: [] });
  // A row that every store of a running server has, put once more: a flush without a commit changes no page.
  await store.commit([{ table: SEALED_TABLE, key: SEALED_KEY, value: SEALED_VALUE }], { sync: true });
  await store.close();
  const copy = new LmdbFile(path);
  try {
    if (!copy.snapshot().isFlushed) throw new Error(`${path}: the copy does not say that it is on the disk`);
  } finally {
    copy.close();
  }
}

/** A snapshot that is held. */
interface LiveSnapshot {
  close(): void;
}

/** Holds the newest transaction of a data file, as a reader beside its server. Throws LMDB's error. */
export function openLiveSnapshot(file: string): LiveSnapshot {
  const root = open({ path: dirname(file), noSubdir: false, readOnly: true, keyEncoding: "binary", encoding: "binary" });
  const transaction = root.useReadTransaction();
  return {
    close: () => {
      transaction.done();
      background(task("the end of a snapshot"), root.close());
    },
  };
}
