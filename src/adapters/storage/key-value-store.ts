/**
 * The ordered key-value store that the coordinator keeps durable state in: named tables of byte keys (domain/codec/key.ts) and byte values.
 * One writer; reads see every commit whose promise has resolved.
 */

/** One entry; both arrays are copies that the caller owns. */
export interface StoreEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** A change of one key: a value to put, or undefined to delete it (no error when it is not there). */
export interface StoreOperation {
  readonly table: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
}

/** Which entries to read: keys of [from, to), ascending unless `reverse`, at most `limit` of them (default: all). */
export interface StoreRange {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  readonly reverse?: boolean;
  readonly limit?: number;
}

/** Sizes in bytes: the address space mapped now, the pages in use by entries, and what the data file takes on disk. */
export interface StoreStats {
  readonly mapBytes: number;
  readonly usedBytes: number;
  readonly diskBytes: number;
}

/** Extent of a commit before its promise resolves. */
export interface CommitOptions {
  /** It and all before it are on the disk. */
  readonly sync?: boolean;
  /**
   * It is visible, and its flush goes on: for what the log gives again after a loss of power. A flush that fails fails the next commit. Without it
   * a store may wait for the flush.
   */
  readonly flushLater?: boolean;
}

/** A key has 1 to KEY_BYTES_MAX bytes (core/config/key-limits.ts). A table that was not opened and a key that is empty or too long throw RangeError, from `commit` and `deleteRange` as a rejection. */
export interface KeyValueStore {
  /** Returns a copy of the value, or undefined. */
  get(table: string, key: Uint8Array): Uint8Array | undefined;
  /** Returns the entries of a range as one snapshot; `from` may be empty. Nothing is held open afterwards. */
  range(table: string, range: StoreRange): StoreEntry[];
  /** Is told which entry of a range is looked at, where it wants to know. */
  noteRow?(table: string, entry: StoreEntry): void;
  /**
   * Applies all operations in order, or none. Resolves when they are committed and visible: they survive kill -9 of the process, and with
   * `sync` a loss of power too. Rejects with StoreError. Keys and values must not change before that. Commits apply in the order of the calls.
   */
  commit(operations: ReadonlyArray<StoreOperation>, options?: CommitOptions): Promise<void>;
  /**
   * Deletes the keys of [from, to) in commits of at most `limitPerStep` (at least 1), so that others get their turn, and resolves with their number.
   * On a full disk the commits may be smaller.
   */
  deleteRange(table: string, from: Uint8Array, to: Uint8Array, limitPerStep: number): Promise<number>;
  /** Returns the sizes now. */
  stats(): StoreStats;
  /** Puts in order what is due, a step a call, and resolves with whether there is more; else gives back disk that is kept for commits, unless one has come since the last call. Rejects with StoreError. */
  trim(): Promise<boolean>;
  /** Waits for the commits under way and closes; everything else fails with StoreError CLOSED from the call on. */
  close(): Promise<void>;
}

/** What reads of a store, and no more. */
export type StoreReader = Pick<KeyValueStore, "get" | "range" | "noteRow">;

/** A store operation that failed as a whole: `code` is the system's, LMDB's or CLOSED; `retryable` says whether time alone may heal it, as with a full disk. */
export class StoreError extends Error {
  readonly code: string;
  readonly retryable: boolean;

  constructor(doing: string, code: string, cause?: unknown) {
    super(`${doing}: ${code}`, { cause });
    this.name = "StoreError";
    this.code = code;
    this.retryable = RETRYABLE_CODES.has(code);
  }

  /** Whether the disk has no room, or the process may use no more of it. */
  get isFullDisk(): boolean {
    return FULL_DISK_CODES.has(this.code);
  }
}

const FULL_DISK_CODES = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);
const RETRYABLE_CODES = new Set(["ENOSPC", "EDQUOT", "EFBIG", "ENOMEM", "EAGAIN", "EINTR", "MDB_MAP_FULL", "MDB_TXN_FULL"]);
