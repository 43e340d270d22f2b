/**
 * LMDB gives no page back: a file stays as large as it was at its largest. At a start, before anybody reads, a store of which a good part is free is written anew: its rows, in the order
 * of their keys, into a file beside it, which takes its place once it is on the disk. A start that ends before that leaves the old file, and what it has written is deleted by the next.
 * 16 MiB of rows take some 0.15 s.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { COMPACTED_BYTES_MAX, COMPACTION_FREE_BYTES_MIN } from "../../core/config/pack-limits.ts";
import type { Log } from "../../core/telemetry/log-event.ts";
import { freeDiskBytes } from "../platform/disk-space.ts";
import { type KeyValueStore, type StoreEntry, StoreError } from "./key-value-store.ts";
import { DATA_FILE, LOCK_FILE } from "./lmdb-file.ts";
import { type LmdbStoreOptions, openLmdbStore, type SealedStore } from "./lmdb-store.ts";
import { DamagedValueError } from "./value-seal.ts";

/** Within the folder of the store. */
const COPY_FOLDER = "compacted";
const ROWS_PER_COMMIT = 2_000;
/** Rows of some MiB are written by fewer. */
const BYTES_PER_COMMIT = 4 * 1024 * 1024;
/** Left on the disk by a copy: what the two files take for their commits at most. */
const FREE_BYTES_LEFT = 16 * 1024 * 1024;
const END = new Uint8Array(8).fill(0xff);

/** Opens a store as `openLmdbStore` does, in a file without its free pages where these are worth it, and logs what it gave back. Rejects with StoreError or the system's error. */
export async function openCompacted(options: LmdbStoreOptions, log: Log): Promise<SealedStore> {
  const copy = join(options.path, COPY_FOLDER);
  rmSync(copy, { recursive: true, force: true });
  const store = openLmdbStore(options);
  if (!store.isSealed || !isWorth(store)) return store;
  const warn = () =>
    log("warn", "a store keeps its free pages: the disk has no room for what it holds once more", factsOf(options, store.freeBytes));
  if (!fits(store, options.path)) {
    warn();
    return store;
  }
  try {
    await copyRows(store, { ...options, path: copy });
  } catch (error) {
    rmSync(copy, { recursive: true, force: true });
    // Served as it is where something else took the room meanwhile, and where a value is damaged, which whoever reads it says.
    const isFull = error instanceof StoreError && error.isFullDisk;
    if (isFull) warn();
    if (isFull || error instanceof DamagedValueError) return store;
    await store.close();
    throw error;
  }
  const { diskBytes } = store.stats();
  await store.close();
  replace(options.path, copy);
  const compacted = openLmdbStore(options);
  log("info", "a store has given free pages back", factsOf(options, diskBytes - compacted.stats().diskBytes));
  return compacted;
}

function factsOf({ path }: LmdbStoreOptions, bytes: number) {
  return { store: path, bytes };
}

/** LMDB ends the process where the disk is too full for its own first pages. */
function fits(store: SealedStore, folder: string): boolean {
  return freeDiskBytes(folder) >= store.stats().usedBytes + FREE_BYTES_LEFT;
}

function isWorth(store: SealedStore): boolean {
  const { usedBytes } = store.stats();
  const { freeBytes } = store;
  return usedBytes <= COMPACTED_BYTES_MAX && freeBytes >= COMPACTION_FREE_BYTES_MIN && freeBytes >= usedBytes / 2;
}

async function copyRows(store: KeyValueStore, options: LmdbStoreOptions): Promise<void> {
  const target = openLmdbStore(options);
  try {
    for (const table of options.tables) await copyTable(table, store, target);
    await target.commit([], { sync: true });
  } finally {
    await target.close();
  }
}

async function copyTable(table: string, store: KeyValueStore, target: KeyValueStore): Promise<void> {
  for (let from: Uint8Array | undefined = new Uint8Array(0), limit = 1; from !== undefined; ) {
    const rows: StoreEntry[] = store.range(table, { from, to: END, limit });
    const last = rows.at(-1);
    if (last === undefined) return;
    await target.commit(
      rows.map(({ key, value }) => ({ table, key, value })),
      { flushLater: true },
    );
    const bytes = rows.reduce((sum, { value }) => sum + value.length, 1);
    limit = Math.max(1, Math.min(ROWS_PER_COMMIT, Math.floor((BYTES_PER_COMMIT * rows.length) / bytes)));
    from = new Uint8Array([...last.key, 0]);
  }
}

/** Puts the copy in the place of the file, neither of which is open. */
function replace(folder: string, copy: string): void {
  rmSync(join(folder, LOCK_FILE), { force: true });
  renameSync(join(copy, DATA_FILE), join(folder, DATA_FILE));
  const directory = openSync(folder, "r");
  fsyncSync(directory);
  closeSync(directory);
  rmSync(copy, { recursive: true, force: true });
}
