/**
 * Room on the disk for the commits of an LMDB file, taken before a commit needs it: zeros behind the end of the file, which LMDB then overwrites.
 *
 * lmdb-js 3.5.6 writes a message of up to 130 bytes into a buffer of 100 when a write finds the disk full (mdb_page_flush, "Attempting to write page"):
 * the heap is damaged and the process ends soon after. So LMDB must never be the one to find out. A file system that writes elsewhere
 * even what it overwrites (btrfs, ZFS) can still surprise it.
 *
 * Deletions have a reserve of their own: they are what makes room. When the disk is full and the file has free pages, commits go on in those.
 * The reserve grows while commits come, and an idle file keeps the least of it: enough to delete a few rows at a time. A few commits of small rows for which there are free
 * pages twice over take no more: an idle file would grow by zeros, and be cut off again, for every row.
 *
 * Zeros are written by a thread of the pool: a checkpoint takes megabytes at once, which held verdicts up for 15 ms. They are written and not only allocated
 * (fallocate): a flush of pages that were never written has to write the file system's tables too.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, write as writeCallback } from "node:fs";
import { promisify } from "node:util";
import { FULL_DISK_ROWS_PER_STEP } from "../../core/config/limits.ts";
import { StoreError } from "./key-value-store.ts";

/** Pages of the file, as LMDB counts them after the last commit. */
export interface FilePages {
  readonly pageBytes: number;
  /** Behind the last page that was ever used. */
  readonly end: number;
  /** Free pages below the end; asked for only where room is missing behind it. */
  free(): number;
}

/** A change as it is stored: the bytes that are put, or undefined where it deletes. */
interface ReservedOperation {
  readonly value: Uint8Array | undefined;
}

/** Free list, branches, and the roots of the tables. */
const OVERHEAD_BYTES = 256 * 1024;
/** Kept for commits that delete: 500 pages are the leaves of 250 rows in two tables, the most that retention deletes at once, and the overhead. */
const RESERVE_BYTES_MAX = 2.25 * 1024 * 1024;
/**
 * What of it is kept while nothing is committed: the leaves of four small steps of retention. LMDB uses again what a commit has freed from the next but one on.
 * It doubles with each commit that finds no room, so that one commit now and then writes 0.5 MiB of zeros.
 */
const RESERVE_BYTES_MIN = OVERHEAD_BYTES + 4 * FULL_DISK_ROWS_PER_STEP * 2 * 4096;
/** Free pages are counted for so many commits to an idle file, 0.3 ms each; where more come it is idle no longer. */
const SPARED_COMMITS_MAX = 8;
/** Header of a page, and of a value in it. */
const PAGE_OVERHEAD_BYTES = 32;
/** Free pages may be scattered and some are held for readers: this many times the need is certain to be enough. */
const FREE_PAGES_FACTOR = 4;
/** Written at once where room is missing: a commit that takes a page or two finds it there. */
const STEP_BYTES = 256 * 1024;
const ZEROS = new Uint8Array(1024 * 1024);
const write = promisify(writeCallback);

/** The room behind one file. Nothing may be writing to the file while a method runs, or what it promises is under way. */
export class FileReservation {
  readonly #descriptor: number;
  /** Size that the file had at least when it was looked at last. */
  #size = 0;
  #reserveBytes = RESERVE_BYTES_MIN;
  /** Commits since the last trim that have found free pages instead of room. */
  #spared = 0;

  constructor(path: string) {
    this.#descriptor = openSync(path, "r+");
  }

  /** Whether there is room for a commit already. */
  has(operations: ReadonlyArray<ReservedOperation>, { end, pageBytes, free }: FilePages): boolean {
    const needBytes = bytesNeeded(operations, pageBytes);
    const behindBytes = this.#size - end * pageBytes;
    if (behindBytes >= needBytes + this.#reserveBytes) return true;
    if (this.#spared === SPARED_COMMITS_MAX) return false;
    // Values with pages of their own may find none beside each other.
    const largeBytes = pageBytes * operations.reduce((pages, { value }) => pages + ownPages(value, pageBytes), 0);
    const isSpared = behindBytes >= largeBytes + RESERVE_BYTES_MIN && free() * pageBytes >= 2 * needBytes;
    if (isSpared) this.#spared++;
    return isSpared;
  }

  /** Makes room for a commit. Rejects with StoreError ENOSPC, or what the disk says, where there is not enough. */
  async take(operations: ReadonlyArray<ReservedOperation>, pages: FilePages): Promise<void> {
    const endBytes = pages.end * pages.pageBytes;
    const needBytes = bytesNeeded(operations, pages.pageBytes);
    const reserveBytes = this.#reserveBytes;
    this.#reserveBytes = Math.min(RESERVE_BYTES_MAX, 2 * reserveBytes);
    const code = await this.#extend(endBytes + needBytes + reserveBytes + STEP_BYTES);
    if (code === undefined) return;
    const availableBytes = this.#size - endBytes;
    if (availableBytes >= needBytes + (frees(operations) ? 0 : reserveBytes)) return;
    if (availableBytes >= needBytes && pages.free() * pages.pageBytes >= FREE_PAGES_FACTOR * needBytes) return;
    throw new StoreError("make room for a commit", code);
  }

  /** Gives back what an idle file does not need. */
  trim({ end, pageBytes }: Pick<FilePages, "end" | "pageBytes">): void {
    this.#reserveBytes = RESERVE_BYTES_MIN;
    this.#spared = 0;
    this.#size = fstatSync(this.#descriptor).size;
    const retainedBytes = end * pageBytes + RESERVE_BYTES_MIN;
    if (this.#size <= retainedBytes) return;
    ftruncateSync(this.#descriptor, retainedBytes);
    this.#size = retainedBytes;
  }

  /** Gives the room back. */
  close({ end, pageBytes }: Pick<FilePages, "end" | "pageBytes">): void {
    ftruncateSync(this.#descriptor, end * pageBytes);
    closeSync(this.#descriptor);
  }

  /** Writes zeros from the end of the file up to `toBytes`; returns the system's code where the disk did not take them all. */
  async #extend(toBytes: number): Promise<string | undefined> {
    this.#size = fstatSync(this.#descriptor).size;
    while (this.#size < toBytes) {
      try {
        const { bytesWritten } = await write(this.#descriptor, ZEROS, 0, Math.min(ZEROS.length, toBytes - this.#size), this.#size);
        if (bytesWritten === 0) return "ENOSPC";
        this.#size += bytesWritten;
      } catch (error) {
        if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
        throw error;
      }
    }
    return undefined;
  }
}

/** Whether the operations leave more room than they take: they delete, and put little. */
function frees(operations: ReadonlyArray<ReservedOperation>): boolean {
  const putBytes = operations.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
  return putBytes <= OVERHEAD_BYTES / 4 && operations.some(({ value }) => value === undefined);
}

/** Most pages that the operations can take: values of their own pages, and a leaf that is copied, two where it may split. */
function bytesNeeded(operations: ReadonlyArray<ReservedOperation>, pageBytes: number): number {
  let pages = 0;
  for (const { value } of operations) {
    pages += (value === undefined ? 1 : 2) + ownPages(value, pageBytes);
  }
  return pages * pageBytes + OVERHEAD_BYTES;
}

/** Pages that a value has for itself. */
function ownPages(value: Uint8Array | undefined, pageBytes: number): number {
  const isLarge = value !== undefined && value.length > pageBytes / 2;
  return isLarge ? Math.ceil((value.length + PAGE_OVERHEAD_BYTES) / pageBytes) : 0;
}
