/**
 * The bytes of an LMDB data file as lmdb-js 3.5.6 writes them (its liblmdb, data version 2), read with pread alone: whatever they are, reading them cannot crash.
 * Little-endian; pages of 4 KiB on most machines.
 *
 *   page   0 its own number u64, 8 transaction u64, 16 pad u16, 18 flags u16, 20 lower u16, 22 upper u16 (overflow: pages u32), 24 places of nodes, u16 each
 *   meta   pages 0 and 1, of which transaction n writes n mod 2; behind the header: magic, version, address, map size, the trees of free pages and of tables,
 *          last page, transaction, boot. A copy of what was flushed last stands in the middle of page 0, without magic and version
 *   tree   pad u32, flags u16, depth u16, then u64: branch pages, leaf pages, overflow pages, entries, root
 *   node   low and high half of the value's bytes or the child's page u16 each, flags u16, key bytes u16, key, value
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { messageOf } from "../../core/text/error-text.ts";

/** Pages 0 and 1, which say where the trees are. */
export const META_PAGES = 2;

/** Name of the file in the folder of an environment. */
export const DATA_FILE = "data.mdb";

/** The file beside it: made anew by whoever opens the store. */
export const LOCK_FILE = "lock.mdb";
export const PAGE_HEADER_BYTES = 24;
export const FLAG_BRANCH = 1;
export const FLAG_LEAF = 2;
export const FLAG_OVERFLOW = 4;
const FLAG_META = 8;
/** A tree without pages. */
export const NO_PAGE = Number.POSITIVE_INFINITY;
export const TREE_BYTES = 48;
/** Flags of the tree of free pages, whose keys are numbers, and of a transaction that is not flushed yet. */
const FREE_TREE_FLAGS = 0x0008;
const FLAG_UNFLUSHED = 0x1000;

const MAGIC = 0xbeefc0de;
const VERSION = 2;
const PAGE_BYTES_MIN = 256;
const PAGE_BYTES_MAX = 65_536;
const META_BYTES = 144;
/** Pages that are being written are read whole by one of so many reads. */
const READS_MAX = 5;
/** No address space has more. */
const MAP_BYTES_MAX = 2 ** 47;

/** A tree of pages: one table, the tables, or the free pages. */
export interface PageTree {
  readonly flags: number;
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  readonly overflowPages: number;
  readonly entries: number;
  readonly root: number;
}

/** State that one transaction left. */
export interface Snapshot {
  readonly pageBytes: number;
  readonly mapBytes: number;
  /** It is on the disk: another machine, or this one after a start, takes it too. */
  readonly isFlushed: boolean;
  readonly free: PageTree;
  readonly tables: PageTree;
  readonly lastPage: number;
  readonly transaction: number;
  readonly boot: bigint;
}

/** A file that cannot be read as LMDB's at all, or a page of it. */
export class FileDamage extends Error {
  constructor(what: string) {
    super(what);
    this.name = "FileDamage";
  }
}

/** One data file, open for reading. */
export class LmdbFile {
  readonly #descriptor: number;
  #bytes: number;

  constructor(path: string) {
    this.#descriptor = openSync(path, "r");
    this.#bytes = fstatSync(this.#descriptor).size;
  }

  /** Size of the file; as of the last snapshot, where a server writes to it. */
  get bytes(): number {
    return this.#bytes;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** Fills `into` from a place; throws FileDamage where the file ends before. */
  read(into: Uint8Array, at: number): void {
    for (let done = 0; done < into.length; ) {
      const read = at + done < this.bytes ? this.#read(into.subarray(done), at + done) : 0;
      if (read === 0) throw new FileDamage(`the file ends at byte ${this.bytes}, before byte ${at + into.length}`);
      done += read;
    }
  }

  #read(into: Uint8Array, at: number): number {
    try {
      return readSync(this.#descriptor, into, 0, into.length, at);
    } catch (error) {
      throw new FileDamage(`byte ${at} cannot be read: ${messageOf(error)}`);
    }
  }

  /** The transaction that LMDB opens on this machine now. Throws FileDamage. A server may be writing these pages: what is still so a little later is damage. */
  snapshot(): Snapshot {
    for (let reads = 1; ; reads++) {
      try {
        const snapshot = this.#snapshot();
        this.#bytes = fstatSync(this.#descriptor).size;
        return snapshot;
      } catch (error) {
        if (!(error instanceof FileDamage) || reads === READS_MAX) throw error;
      }
    }
  }

  #snapshot(): Snapshot {
    const page = Buffer.alloc(2 * PAGE_BYTES_MAX);
    this.read(page.subarray(0, Math.min(page.length, this.bytes)), 0);
    const first = readMeta(page, 0);
    const second = readMeta(page.subarray(first.pageBytes), 1);
    if (second.pageBytes !== first.pageBytes) throw new FileDamage("pages 0 and 1 name different sizes of a page");
    checkOrder(first, second);
    const flushed = readSnapshot(page.subarray(first.pageBytes / 2 + PAGE_HEADER_BYTES));
    const [newer, older] = first.transaction >= second.transaction ? [first, second] : [second, first];
    checkFlushed(flushed, newer);
    if (isCertain(newer)) return { ...newer, isFlushed: newer.isFlushed || flushed.transaction === newer.transaction };
    if (older.boot !== 0n && older.boot === bootOfMachine())
      throw new FileDamage("the last transaction names an earlier start of the machine than the one before");
    return flushed.transaction > older.transaction ? flushed : older;
  }
}

/** After a loss of power what was not flushed does not count. */
function isCertain({ boot, isFlushed }: Snapshot): boolean {
  return isFlushed || (boot !== 0n && boot === bootOfMachine());
}

/** A transaction writes the page that the one before has not. */
function checkOrder(first: Snapshot, second: Snapshot): void {
  const isFresh = first.transaction === 0 && second.transaction === 0;
  const isEven = first.transaction % 2 === 0 && second.transaction % 2 === 1;
  const isNext = Math.abs(first.transaction - second.transaction) === 1;
  if (isFresh || (isEven && isNext)) return;
  throw new FileDamage(`pages 0 and 1 cannot both be of this file: transactions ${first.transaction} and ${second.transaction}`);
}

function checkFlushed(flushed: Snapshot, newer: Snapshot): void {
  if (flushed.transaction > newer.transaction) throw new FileDamage("what was flushed last is newer than the last transaction");
  const isSame = flushed.lastPage === newer.lastPage && sameTree(flushed.free, newer.free) && sameTree(flushed.tables, newer.tables);
  if (flushed.transaction === newer.transaction && newer.transaction > 0 && !isSame) {
    throw new FileDamage("page 0 holds two accounts of the last transaction that differ");
  }
}

function sameTree(a: PageTree, b: PageTree): boolean {
  return a.root === b.root && a.entries === b.entries && a.depth === b.depth && a.leafPages === b.leafPages;
}

function readMeta(page: Buffer, number: number): Snapshot {
  const isMeta = page.readUInt16LE(18) === FLAG_META && page.readUInt32LE(PAGE_HEADER_BYTES) === MAGIC;
  if (!isMeta || readWord(page, 0) !== number) throw new FileDamage(`page ${number} is not the one that an LMDB file has there`);
  const version = page.readUInt32LE(PAGE_HEADER_BYTES + 4);
  if (version !== VERSION) throw new FileDamage(`page ${number} names data version ${version}, not ${VERSION}`);
  const meta = readSnapshot(page.subarray(PAGE_HEADER_BYTES));
  checkMeta(meta, number, page.readUInt16LE(PAGE_HEADER_BYTES + 28));
  return meta;
}

function checkMeta({ pageBytes, mapBytes, lastPage, tables }: Snapshot, number: number, freeFlags: number): void {
  const isPage = pageBytes >= PAGE_BYTES_MIN && pageBytes <= PAGE_BYTES_MAX && (pageBytes & (pageBytes - 1)) === 0;
  const isMap = mapBytes % 512 === 0 && mapBytes <= MAP_BYTES_MAX && lastPage >= 1;
  const isFlagged = (freeFlags & ~FLAG_UNFLUSHED) === FREE_TREE_FLAGS && tables.flags === 0;
  if (!isPage || !isMap || !isFlagged) throw new FileDamage(`page ${number} holds numbers that cannot be`);
}

function readSnapshot(meta: Buffer): Snapshot {
  if (meta.length < META_BYTES) throw new FileDamage("the file ends within its first pages");
  const free = readTree(meta.subarray(24));
  return {
    pageBytes: meta.readUInt32LE(24),
    mapBytes: readWord(meta, 16),
    isFlushed: (free.flags & FLAG_UNFLUSHED) === 0,
    free,
    tables: readTree(meta.subarray(24 + TREE_BYTES)),
    lastPage: readWord(meta, 120),
    transaction: readWord(meta, 128),
    boot: meta.readBigInt64LE(136),
  };
}

/** Reads a tree's record of TREE_BYTES. */
export function readTree(bytes: Buffer): PageTree {
  return {
    flags: bytes.readUInt16LE(4),
    depth: bytes.readUInt16LE(6),
    branchPages: readWord(bytes, 8),
    leafPages: readWord(bytes, 16),
    overflowPages: readWord(bytes, 24),
    entries: readWord(bytes, 32),
    root: readWord(bytes, 40),
  };
}

/** A u64; above 2^53 it is infinite. */
export function readWord(bytes: Buffer, at: number): number {
  const high = bytes.readUInt32LE(at + 4);
  return high < 0x20_0000 ? high * 2 ** 32 + bytes.readUInt32LE(at) : Number.POSITIVE_INFINITY;
}

/** Number that liblmdb takes for the boot: the hexadecimal digits that the machine's boot id begins with. */
function bootOfMachine(): bigint {
  try {
    const [digits] = /^[0-9a-f]+/.exec(readFileSync("/proc/sys/kernel/random/boot_id", "utf8")) ?? ["0"];
    return BigInt(`0x${digits}`);
  } catch {
    return 0n;
  }
}
