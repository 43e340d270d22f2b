// The long baselines of an engine's pairs: states in pages of one partition each, so that a page is stored and found again as it is, by any number of
// engines. A detector is one object that states are copied into and out of: an object and its views for each pair would take as much as its state.
import { LONG_BASELINE_PAGE_PAIRS } from "../../../core/config/limits.ts";
import { PARTITIONS } from "../../../core/layout/memory-map.ts";
import { packedSizeMax, packNonZero, unpackNonZero } from "../../codec/non-zero-packing.ts";
import { FORMER_PAIR_STATES_BYTES, PAIR_STATE_BYTES } from "./pair-state.ts";

/** Before the state of each pair: hash of its stream (16 bytes), then these, by their place among f64. */
const HEAD_LENGTH = 7;
const LAST_TIME = 2;
const OPENED = 3;
const PEAK = 4;
const COUNT = 5;
/** u32. */
const FLAGS = 12;
const IN_USE = 1;
const STATE_DOUBLES = PAIR_STATE_BYTES / 8;
const PAIR_LENGTH = HEAD_LENGTH + STATE_DOUBLES;
/** Size of a pair, but for four bytes by slot. */
export const PAIR_BYTES = 8 * PAIR_LENGTH;
const PAGE_BYTES = LONG_BASELINE_PAGE_PAIRS * PAIR_BYTES;
/** Sizes of pairs whose state was shorter; the words behind are 0 then. */
const FORMER_PAIR_BYTES = FORMER_PAIR_STATES_BYTES.map((bytes) => 8 * HEAD_LENGTH + bytes);
/** A stored page begins with its layout and PAIR_BYTES: pages of other layouts or pairs are left out, and their pairs learn anew. */
const PAGE_HEAD_BYTES = 8;
/** The page as it lies here; read, and written no more. */
const LAYOUT_PLAIN = 1;
/** The words that are not zero. After one value of each pair a page takes 5 KB, after 40 24, after a day 46 to 52, of 73.6. */
const LAYOUT_PACKED = 2;
export const STORED_PAGE_BYTES_MAX = PAGE_HEAD_BYTES + 4 * packedSizeMax(PAGE_BYTES / 4);

interface Page {
  readonly partition: number;
  /** Within its partition. */
  readonly number: number;
  readonly doubles: Float64Array;
  readonly uint32s: Uint32Array;
  used: number;
  /** Other than as it was stored last. */
  isDirty: boolean;
}

/** Pages and free places of one partition. */
interface PartitionPages {
  nextNumber: number;
  readonly free: number[];
}

/** A page as it is stored. */
export interface StoredPage {
  readonly partition: number;
  readonly number: number;
  /** None where the page holds no pair: nothing is to be kept of it. */
  readonly bytes: Uint8Array;
}

/** Pairs by number, from 1 on; a number is taken again after free(). */
export class PairArena {
  /** The state at hand; belongs to a detector. */
  readonly #state: Float64Array;
  readonly #pages: Page[] = [];
  readonly #partitions: PartitionPages[] = Array.from({ length: PARTITIONS }, () => ({ nextNumber: 0, free: [] }));
  /** What takePage() writes into. */
  readonly #packed = new Uint32Array(STORED_PAGE_BYTES_MAX / 4);
  #size = 0;
  #dirtyPages = 0;

  constructor(state: ArrayBuffer) {
    this.#state = new Float64Array(state);
  }

  get size(): number {
    return this.#size;
  }

  /** Pages by their order here, 0 to pages - 1. */
  get pages(): number {
    return this.#pages.length;
  }

  /** A new pair of a partition; `words` from `at` on are the hash of its stream. */
  take(partition: number, slots: Uint32Array, at: number): number {
    const { free } = this.#partitions[partition] as PartitionPages;
    if (free.length === 0) this.#addPage(partition, (this.#partitions[partition] as PartitionPages).nextNumber);
    const pair = free.pop() as number;
    const page = this.#page(pair);
    const index = this.#index(pair);
    page.doubles.fill(0, index, index + PAIR_LENGTH);
    for (let i = 0; i < 4; i++) page.uint32s[2 * index + i] = slots[at + i] as number;
    page.uint32s[2 * index + FLAGS] = IN_USE;
    page.used++;
    this.#touch(page);
    this.#size++;
    return pair;
  }

  free(pair: number): void {
    const page = this.#page(pair);
    page.uint32s[2 * this.#index(pair) + FLAGS] = 0;
    page.used--;
    this.#touch(page);
    (this.#partitions[page.partition] as PartitionPages).free.push(pair);
    this.#size--;
  }

  /** Begins anew with a pair, whose stream has other values now. */
  reset(pair: number): void {
    const index = this.#index(pair);
    this.#page(pair).doubles.fill(0, index + LAST_TIME, index + LAST_TIME + 4);
    this.#page(pair).doubles.fill(0, index + HEAD_LENGTH, index + PAIR_LENGTH);
    this.#touch(this.#page(pair));
  }

  /** Begins a pair with the state of another, as if it had seen its values. */
  inherit(pair: number, from: number): void {
    const source = this.#index(from) + HEAD_LENGTH;
    const page = this.#page(pair);
    const index = this.#index(pair);
    page.doubles.set(this.#page(from).doubles.subarray(source, source + STATE_DOUBLES), index + HEAD_LENGTH);
    page.doubles[index + COUNT] = this.count(from);
    this.#touch(page);
  }

  /** Brings the pair's state to the detector. */
  load(pair: number): void {
    const from = this.#index(pair) + HEAD_LENGTH;
    this.#state.set(this.#page(pair).doubles.subarray(from, from + STATE_DOUBLES));
  }

  /** Takes the detector's state over, with what is known of it without loading it: its newest time and its number of values. */
  save(pair: number, lastTimeMs: number, count: number): void {
    const page = this.#page(pair);
    const index = this.#index(pair);
    page.doubles.set(this.#state, index + HEAD_LENGTH);
    page.doubles[index + LAST_TIME] = lastTimeMs;
    page.doubles[index + COUNT] = count;
    this.#touch(page);
  }

  lastTimeMs(pair: number): number {
    return this.#page(pair).doubles[this.#index(pair) + LAST_TIME] as number;
  }

  /** Values that the pair has taken in. */
  count(pair: number): number {
    return this.#page(pair).doubles[this.#index(pair) + COUNT] as number;
  }

  /** When the episode that was reported and is open began; 0 for none. */
  openedMs(pair: number): number {
    return this.#page(pair).doubles[this.#index(pair) + OPENED] as number;
  }

  /** Signed z of its peak. */
  peak(pair: number): number {
    return this.#page(pair).doubles[this.#index(pair) + PEAK] as number;
  }

  setEpisode(pair: number, openedMs: number, peak: number): void {
    const page = this.#page(pair);
    page.doubles[this.#index(pair) + OPENED] = openedMs;
    page.doubles[this.#index(pair) + PEAK] = peak;
    this.#touch(page);
  }

  /** Other flags than IN_USE, for whoever owns the pairs. */
  marks(pair: number): number {
    return (this.#page(pair).uint32s[2 * this.#index(pair) + FLAGS] as number) >>> 1;
  }

  setMarks(pair: number, marks: number): void {
    this.#page(pair).uint32s[2 * this.#index(pair) + FLAGS] = IN_USE | (marks << 1);
  }

  /** Identity hash of the pair's stream, 32 hex digits. */
  hash(pair: number): string {
    return Buffer.from(this.#page(pair).uint32s.buffer as ArrayBuffer, 8 * this.#index(pair), 16).toString("hex");
  }

  /** Whether the pair's stream has this hash. */
  isOf(pair: number, slots: Uint32Array, at: number): boolean {
    const page = this.#page(pair);
    const from = 2 * this.#index(pair);
    for (let i = 0; i < 4; i++) if (page.uint32s[from + i] !== slots[at + i]) return false;
    return true;
  }

  /** Pages that have changed since they were taken last. */
  get dirtyPages(): number {
    return this.#dirtyPages;
  }

  #touch(page: Page): void {
    if (page.isDirty) return;
    page.isDirty = true;
    this.#dirtyPages++;
  }

  /** Contents to be stored of a page that has changed since it was taken last, valid until the next call; undefined for none. */
  takePage(index: number): StoredPage | undefined {
    const page = this.#pages[index] as Page;
    if (!page.isDirty) return undefined;
    page.isDirty = false;
    this.#dirtyPages--;
    const { partition, number } = page;
    if (page.used === 0) return { partition, number, bytes: new Uint8Array(0) };
    const packed = this.#packed;
    [packed[0], packed[1]] = [LAYOUT_PACKED, PAIR_BYTES];
    const end = packNonZero(page.uint32s, packed, PAGE_HEAD_BYTES / 4);
    return { partition, number, bytes: new Uint8Array(packed.buffer, 0, 4 * end) };
  }

  /** Takes a stored page back and tells its pairs, each with a number made of its stream's hash (hashNumber); false for a page of another layout. */
  restore({ partition, number, bytes }: StoredPage, visit: (pair: number, hash: number) => void): boolean {
    const stored = readPage(bytes);
    if (stored === undefined) return false;
    const page = this.#addPage(partition, number, stored);
    const pages = this.#partitions[partition] as PartitionPages;
    pages.free.length -= LONG_BASELINE_PAGE_PAIRS;
    const first = (this.#pages.length - 1) * LONG_BASELINE_PAGE_PAIRS + 1;
    for (let i = LONG_BASELINE_PAGE_PAIRS - 1; i >= 0; i--) {
      const at = 2 * i * PAIR_LENGTH;
      if (((page.uint32s[at + FLAGS] as number) & IN_USE) === 0) pages.free.push(first + i);
      else {
        page.used++;
        this.#size++;
        visit(first + i, hashNumber(page.uint32s, at));
      }
    }
    return true;
  }

  /** Its places are free, the first of them on top. */
  #addPage(partition: number, number: number, buffer = new ArrayBuffer(PAGE_BYTES)): Page {
    const page = { partition, number, doubles: new Float64Array(buffer), uint32s: new Uint32Array(buffer), used: 0, isDirty: false };
    const first = this.#pages.length * LONG_BASELINE_PAGE_PAIRS + 1;
    this.#pages.push(page);
    const pages = this.#partitions[partition] as PartitionPages;
    pages.nextNumber = Math.max(pages.nextNumber, number + 1);
    for (let i = LONG_BASELINE_PAGE_PAIRS - 1; i >= 0; i--) pages.free.push(first + i);
    return page;
  }

  #page(pair: number): Page {
    return this.#pages[Math.floor((pair - 1) / LONG_BASELINE_PAGE_PAIRS)] as Page;
  }

  #index(pair: number): number {
    return ((pair - 1) % LONG_BASELINE_PAGE_PAIRS) * PAIR_LENGTH;
  }
}

/** A stored page as it lies here; undefined where it is of another layout, or of other pairs. */
function readPage(bytes: Uint8Array): ArrayBuffer | undefined {
  if (bytes.length < PAGE_HEAD_BYTES) return undefined;
  const head = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [layout, pairBytes] = [head.getUint32(0, true), head.getUint32(4, true)];
  if (pairBytes !== PAIR_BYTES && !FORMER_PAIR_BYTES.includes(pairBytes)) return undefined;
  const page = readPairs(Uint8Array.from(bytes.subarray(PAGE_HEAD_BYTES)), layout, LONG_BASELINE_PAGE_PAIRS * pairBytes);
  return page === undefined || pairBytes === PAIR_BYTES ? page : widened(page, pairBytes);
}

function readPairs(body: Uint8Array<ArrayBuffer>, layout: number, pageBytes: number): ArrayBuffer | undefined {
  if (layout === LAYOUT_PLAIN) return body.length === pageBytes ? body.buffer : undefined;
  const page = new Uint32Array(pageBytes / 4);
  return layout === LAYOUT_PACKED && unpackNonZero(body, page) ? page.buffer : undefined;
}

/** A page of pairs of a former size, with what came later behind each. */
function widened(former: ArrayBuffer, pairBytes: number): ArrayBuffer {
  const page = new Uint8Array(PAGE_BYTES);
  for (let i = 0; i < LONG_BASELINE_PAGE_PAIRS; i++) page.set(new Uint8Array(former, i * pairBytes, pairBytes), i * PAIR_BYTES);
  return page.buffer;
}

/** 53 bits of a hash: a key of maps. */
export function hashNumber(slots: Uint32Array, at: number): number {
  return (slots[at] as number) * 2 ** 21 + ((slots[at + 1] as number) >>> 11);
}
