/**
 * The key-value store on LMDB (lmdb-js 3.5.6), one environment a call. What was found out about that library and is worked around here:
 *  - a value on shared memory is stored as whatever bytes lie elsewhere: values are copied with their seals first;
 *  - the callbacks of `transaction()` and `childTransaction()` never ran here, whatever the options: commits are `batch()`, which is atomic;
 *  - with event-turn batching on, a failed commit raises an unhandled rejection, which ends the process: it is off, and commits that wait
 *    for one another are still grouped by the library;
 *  - a commit that fails leaves a flush promise that never settles, so that `close()` hangs: an empty commit before closing renews it;
 *  - a write that finds the disk full damages the heap: room is taken before (file-reservation.ts), while no commit is under way;
 *  - a full disk is reported as EIO where some bytes of a write had room: the free space distinguishes them. lmdb-js also prints such errors to stderr;
 *  - `getBinaryFast` returns a buffer that is reused: only `getBinary` is used.
 *  - the promise of a commit resolves after its fdatasync, 0.7 ms for 100 KB on an idle disk and 3 to 50 ms on a busy one; that readers see it 0.3 ms
 *    after it began the library tells only to itself, in the callback of `startWriting` (write.js), where we listen too (VisibleCommits).
 */

import { statSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import type { Database, RootDatabase } from "lmdb";
import { open } from "lmdb";
import { KEY_BYTES_MAX } from "../../core/config/key-limits.ts";
import { FULL_DISK_ROWS_PER_STEP } from "../../core/config/limits.ts";
import { freeDiskBytes } from "../platform/disk-space.ts";
import { type FilePages, FileReservation } from "./file-reservation.ts";
import type { CommitOptions, KeyValueStore, StoreEntry, StoreOperation, StoreRange, StoreStats } from "./key-value-store.ts";
import { StoreError } from "./key-value-store.ts";
import { DATA_FILE, META_PAGES } from "./lmdb-file.ts";
import { DamagedValueError, SEALED_KEY, SEALED_TABLE, SEALED_VALUE, TableSeal } from "./value-seal.ts";

/** Which environment to open. */
export interface LmdbStoreOptions {
  /** Folder of the environment, created where missing. */
  readonly path: string;
  /** Every table that will be used; new ones are created empty. */
  readonly tables: ReadonlyArray<string>;
  /** Address space mapped at first; the library maps more when it is full, with a pause to remap. Default 1 GiB; costs no memory or disk. */
  readonly mapSizeBytes?: number;
}

/** A table of the library and the seal of its values. */
interface Table {
  readonly name: string;
  readonly rows: Database<Uint8Array, Uint8Array>;
  readonly seal: TableSeal;
}

/** A StoreOperation as the library takes it. */
interface TableWrite extends Omit<StoreOperation, "table"> {
  readonly table: Database<Uint8Array, Uint8Array>;
}

/** A store that was perhaps made before values had seals. */
export interface SealedStore extends KeyValueStore {
  /** Whether every value has its seal; one without any value is so. Of another nothing can be read. */
  readonly isSealed: boolean;
  /** Pages of the file that hold nothing, in bytes. */
  readonly freeBytes: number;
}

/** Members that lmdb-js has at run time and does not declare. */
interface Environment extends WritingEnvironment {
  sync(callback: (error?: Error) => void): void;
  info(): { readonly mapSize: number; readonly lastPageNumber: number };
}

type PageCounts = Record<"pageSize" | "treeBranchPageCount" | "treeLeafPageCount" | "overflowPages", number>;

/** Result of `getStats` for a table, for the table of tables and for the free list. */
type TableStats = PageCounts & { readonly entryCount: number; readonly root: PageCounts; readonly free: PageCounts };

const MAP_BYTES = 1024 ** 3;
const FIRST_KEY = Uint8Array.of(0);
const BINARY = { keyEncoding: "binary", encoding: "binary" } as const;
/** An EIO counts as a full disk when less than this and the commit's own bytes are free; LMDB writes whole pages and some for its free list. */
const FULL_DISK_BYTES = 1024 * 1024;
const ERRNO_NAMES = new Map(Object.entries(constants.errno).map(([name, number]) => [number, name]));

/** Opens an environment with default sync; one process at a time. Throws StoreError. */
export function openLmdbStore(options: LmdbStoreOptions): SealedStore {
  try {
    const root: RootDatabase<Uint8Array, Uint8Array> = open({
      ...BINARY,
      path: options.path,
      noSubdir: false,
      maxDbs: options.tables.length + 2,
      mapSize: options.mapSizeBytes ?? MAP_BYTES,
      eventTurnBatching: false,
    });
    const reservation = new FileReservation(join(options.path, DATA_FILE));
    const openTable = (name: string) => root.openDB({ ...BINARY, name });
    const names = [SEALED_TABLE, ...options.tables];
    const tables = new Map(names.map((name) => [name, { name, rows: openTable(name), seal: new TableSeal(name) }]));
    return new LmdbStore(options.path, { root, reservation }, tables);
  } catch (error) {
    throw new StoreError("open the store", codeOf(error), error);
  }
}

class LmdbStore implements SealedStore {
  readonly #path: string;
  readonly #root: RootDatabase<Uint8Array, Uint8Array>;
  readonly #environment: Environment;
  readonly #tables: ReadonlyMap<string, Table>;
  readonly #reservation: FileReservation;
  readonly #pageBytes: number;
  #closed: Promise<void> | undefined;
  readonly #visible: VisibleCommits;
  /** Commits are made one after another: room is made between them. */
  #last: Promise<void> = Promise.resolve();
  /** Flushes of visible commits: the newest, and the one before, which the next commit waits for. Each holds a thread of the pool. */
  #flush: Promise<void> = Promise.resolve();
  #flushBefore: Promise<void> = Promise.resolve();
  #flushError: unknown;
  /** Flushes that were asked for. */
  #syncs: Promise<void> = Promise.resolve();
  /** Commits so far, and at the last call of `trim`. */
  #commits = 0;
  #commitsSeen = 0;
  readonly isSealed: boolean;
  /** Whether the store says that its values have seals: from its first commit on. */
  #saysSealed: boolean;

  constructor(
    path: string,
    { root, reservation }: { root: RootDatabase<Uint8Array, Uint8Array>; reservation: FileReservation },
    tables: ReadonlyMap<string, Table>,
  ) {
    this.#path = path;
    this.#root = root;
    this.#reservation = reservation;
    this.#pageBytes = (root.getStats() as TableStats).pageSize;
    this.#environment = (root as unknown as { env: Environment }).env;
    this.#visible = new VisibleCommits(this.#environment);
    this.#tables = tables;
    this.#saysSealed = this.get(SEALED_TABLE, SEALED_KEY) !== undefined;
    // A server that was killed before its first commit leaves tables without rows.
    this.isSealed = this.#saysSealed || [...tables.values()].every(({ rows }) => (rows.getStats() as TableStats).entryCount === 0);
  }

  get(table: string, key: Uint8Array): Uint8Array | undefined {
    assertKey(key);
    const from = this.#table(table);
    const stored = from.rows.getBinary(key);
    return stored && this.#open(from, key, stored);
  }

  range(table: string, { from, to, reverse = false, limit }: StoreRange): StoreEntry[] {
    const bounds = rangeOptions(from, to, reverse, limit);
    if (bounds === undefined) return [];
    const source = this.#table(table);
    return [...source.rows.getRange(bounds)].map(({ key, value }) => ({ key, value: this.#open(source, key, value) }));
  }

  async commit(operations: ReadonlyArray<StoreOperation>, options: CommitOptions = {}): Promise<void> {
    const writes = operations.map((operation) => this.#write(operation));
    if (writes.length === 0 && options.sync === true) return this.#syncBeside();
    this.#commits++;
    const own = this.#last.then(async () => {
      await this.#flushBefore;
      this.#throwFlushError();
      if (writes.length > 0) {
        if (!this.#saysSealed) writes.unshift(this.#write({ table: SEALED_TABLE, key: SEALED_KEY, value: SEALED_VALUE }));
        const pages = this.#pages();
        if (!this.#reservation.has(writes, pages)) await this.#reservation.take(writes, pages);
        await (options.flushLater === true ? this.#showBatch(writes) : this.#batch(writes));
        this.#saysSealed = true;
      }
      if (options.sync === true) await this.#sync();
    });
    this.#last = own.catch(() => undefined);
    return own;
  }

  async deleteRange(table: string, from: Uint8Array, to: Uint8Array, limitPerStep: number): Promise<number> {
    if (!(limitPerStep >= 1)) throw new RangeError("a step deletes at least one key");
    let deleted = 0;
    for (let limit = limitPerStep; ; ) {
      const bounds = rangeOptions(from, to, false, limit);
      const keys = bounds === undefined ? [] : [...this.#table(table).rows.getKeys(bounds)];
      try {
        if (keys.length > 0) await this.commit(keys.map((key) => ({ table, key, value: undefined })));
      } catch (error) {
        if (!(error instanceof StoreError && error.isFullDisk) || limit === 1) throw error;
        limit = Math.min(FULL_DISK_ROWS_PER_STEP, Math.floor(limit / 2));
        continue;
      }
      deleted += keys.length;
      if (keys.length < limit) return deleted;
    }
  }

  async trim(): Promise<false> {
    if (this.#closed !== undefined) throw new StoreError("use the store", "CLOSED");
    const isIdle = this.#commits === this.#commitsSeen;
    this.#commitsSeen = this.#commits;
    if (!isIdle) return false;
    const syncs = this.#syncs; // those that come later wait for this
    const own = this.#last.then(() => syncs).then(() => this.#trimFile());
    this.#last = own.catch(() => undefined);
    await own;
    return false;
  }

  stats(): StoreStats {
    return {
      mapBytes: this.#environment.info().mapSize,
      usedBytes: this.#usedPages() * this.#pageBytes,
      diskBytes: 512 * statSync(join(this.#path, DATA_FILE)).blocks,
    };
  }

  get freeBytes(): number {
    return this.#pages().free() * this.#pageBytes;
  }

  /** Pages of entries. */
  #usedPages(): number {
    return [...this.#tables.values()].reduce((sum, { rows }) => sum + pagesOf(rows.getStats() as TableStats), 0);
  }

  #pages(): FilePages {
    const end = this.#environment.info().lastPageNumber + 1;
    const free = () => {
      const { root, free: freeList } = this.#root.getStats() as TableStats;
      return end - META_PAGES - pagesOf(root) - pagesOf(freeList) - this.#usedPages();
    };
    return { pageBytes: this.#pageBytes, end, free };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Once nothing writes to the file. */
  async #trimFile(): Promise<void> {
    await this.#flushBefore;
    await this.#flush;
    try {
      this.#reservation.trim(this.#pages());
    } catch (error) {
      throw new StoreError("give room back", codeOf(error), error);
    }
  }

  async #batch(writes: ReadonlyArray<TableWrite>): Promise<void> {
    try {
      await this.#root.batch(() => {
        // Each has a promise of its own, whose failure is the batch's.
        const queue = ({ table, key, value }: TableWrite): unknown => (value === undefined ? table.remove(key) : table.put(key, value));
        writes.forEach(queue);
      });
    } catch (error) {
      const cause = await commitError(error);
      const bytes = writes.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
      throw new StoreError("commit", this.#diskCode(codeOf(cause), bytes), cause);
    }
  }

  /** Resolves when readers see the batch. */
  async #showBatch(writes: ReadonlyArray<TableWrite>): Promise<void> {
    const visible = this.#visible.next();
    let isSeen = false;
    const flushed = this.#batch(writes);
    this.#flushBefore = this.#flush;
    this.#flush = flushed.catch((error: unknown) => {
      if (isSeen) this.#flushError ??= error;
    });
    await Promise.race([visible, flushed]);
    isSeen = true;
    this.#root.resetReadTxn();
  }

  /** Flushes what was committed before; commits that come meanwhile do not wait for it. */
  #syncBeside(): Promise<void> {
    const own = this.#last.then(() => {
      this.#throwFlushError();
      return this.#sync();
    });
    const done = own.catch(() => undefined);
    this.#syncs = this.#syncs.then(() => done);
    return own;
  }

  #throwFlushError(): void {
    const error = this.#flushError;
    this.#flushError = undefined;
    if (error !== undefined) throw error;
  }

  #sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#environment.sync((error) => (error ? reject(new StoreError("flush", this.#diskCode(codeOf(error), 0), error)) : resolve()));
    });
  }

  async #close(): Promise<void> {
    await this.#last;
    await this.#flush;
    await this.#syncs;
    await this.#root.batch(() => this.#root.remove(FIRST_KEY)).catch(commitError);
    this.#reservation.close(this.#pages());
    await this.#root.close();
  }

  #table(name: string): Table {
    if (this.#closed !== undefined) throw new StoreError("use the store", "CLOSED");
    const table = this.#tables.get(name);
    if (table === undefined) throw new RangeError(`the store has no table ${name}`);
    return table;
  }

  #write({ table, key, value }: StoreOperation): TableWrite {
    assertKey(key);
    const { rows, seal } = this.#table(table);
    return { table: rows, key, value: value && seal.close(key, value) };
  }

  /** The value as it was put. Throws DamagedValueError. */
  #open({ name, seal }: Table, key: Uint8Array, stored: Uint8Array): Uint8Array {
    const value = seal.open(key, stored);
    if (value !== undefined) return value;
    throw this.#damage(name, key);
  }

  #damage(table: string, key: Uint8Array): DamagedValueError {
    return new DamagedValueError(join(this.#path, DATA_FILE), table, key, "it is not what was written");
  }

  /** Tells a disk without room for so many bytes from one that fails. */
  #diskCode(code: string, bytes: number): string {
    if (code !== "EIO") return code;
    return freeDiskBytes(this.#path) < FULL_DISK_BYTES + 2 * bytes ? "ENOSPC" : code; // twice: other commits may share the transaction
  }
}

function pagesOf({ treeBranchPageCount, treeLeafPageCount, overflowPages }: PageCounts): number {
  return treeBranchPageCount + treeLeafPageCount + overflowPages;
}

function rangeOptions(from: Uint8Array, to: Uint8Array, reverse: boolean, limit: number | undefined) {
  if (from.length > KEY_BYTES_MAX) throw new RangeError(`a key has at most ${KEY_BYTES_MAX} bytes`);
  assertKey(to);
  if (limit === 0) return undefined;
  const first = from.length === 0 ? FIRST_KEY : from; // LMDB has no empty key; [0] is the lowest there can be
  const bounds = reverse ? { start: to, end: first, exclusiveStart: true, inclusiveEnd: true, reverse } : { start: first, end: to };
  return { ...bounds, ...(limit === undefined ? {} : { limit }) };
}

function assertKey(key: Uint8Array): void {
  if (key.length === 0 || key.length > KEY_BYTES_MAX) throw new RangeError(`a key has 1 to ${KEY_BYTES_MAX} bytes, not ${key.length}`);
}

/** lmdb-js rejects with an error that carries a promise, which rejects with the reason. */
async function commitError(error: unknown): Promise<unknown> {
  if (!(error instanceof Error && "commitError" in error)) return error;
  return Promise.resolve(error.commitError).catch((cause: unknown) => cause);
}

/** Returns the name of an error: of its errno, of LMDB ("MDB_MAP_FULL: ..."), or EUNKNOWN. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "EUNKNOWN";
  const lmdbName = /^MDB_[A-Z_]+/.exec(error.message)?.[0];
  const code = "code" in error ? error.code : undefined;
  return lmdbName ?? (typeof code === "string" ? code : (ERRNO_NAMES.get(code as number) ?? codeOfMessage(error.message)));
}

/** A failed flush carries the text of strerror only. */
function codeOfMessage(message: string): string {
  if (message.includes("Input/output error")) return "EIO";
  return message.includes("No space left") ? "ENOSPC" : "EUNKNOWN";
}

/** Events that are listened to; not declared by the library. */
export interface WritingEnvironment {
  startWriting(address: number, callback: (status: number) => unknown): unknown;
}

const VISIBLE = 1;

/**
 * The commits of one environment, of which one is written at a time: when readers see one, which is before it has been flushed.
 * The library writes in a thread of the pool: it begins with `startWriting` of the environment, whose callback gets 1 as soon as the transaction is visible (where the environment flushes beside the next transaction, which is the default
 * but on Windows), and 0 or an error when it has been flushed; promises are settled by the latter. A library that tells otherwise is only slower: nothing is
 * ever visible early.
 */
export class VisibleCommits {
  #report: () => void = () => undefined;

  constructor(environment: WritingEnvironment) {
    const { startWriting } = environment;
    const listening = (address: number, callback: (status: number) => unknown) => {
      const report = this.#report;
      return startWriting.call(environment, address, (status) => {
        if (status === VISIBLE) report();
        return callback(status);
      });
    };
    Object.defineProperty(environment, "startWriting", { value: listening });
  }

  /** Resolves when the commit that is begun next is visible, or never; to be called just before it begins. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#report = resolve;
    });
  }
}
