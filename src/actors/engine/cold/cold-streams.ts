// The streams of this engine that are in the store and not in memory: by identity hash, and by the number that stands for them in the ref map.
// 44 bytes each, outside the heap: 1,000,000 are 44 MB, where they took 2 GB in memory.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { COLD_FILTER, COLD_FILTER_BYTES } from "../../../core/layout/memory-map.ts";

const FIRST_CAPACITY = 1024;
const HASH_LENGTH = 4;
const FILTER_BITS = COLD_FILTER_BYTES * 8;

/** Without a stream. */
export const FREE = 0;
/** In the store. */
export const COLD = 1;
/** Asked for. */
export const WANTED = 2;
/** Back in memory; the store may still hold it, and refs may still name it, until the partition's next checkpoint. */
export const RETURNED = 3;
/** About to be dropped from the store: forgotten, or gone once more under another number. */
export const DROPPED = 4;

/** Data of a stream when it is entered. */
export interface ColdStream {
  /** 16 bytes. */
  readonly hash: Uint8Array;
  readonly partition: number;
  /** Its number in the partition's part of the store. */
  readonly serial: number;
  /** Time of its newest sample in ms. */
  readonly lastTimeMs: number;
}

/** Numbers are taken again once they are removed. */
export class ColdStreams {
  readonly #filter: Uint8Array;
  #capacity = FIRST_CAPACITY;
  #hashes = new Uint32Array(HASH_LENGTH * FIRST_CAPACITY);
  #serials = new Uint32Array(FIRST_CAPACITY);
  #partitions = new Uint8Array(FIRST_CAPACITY);
  #states = new Uint8Array(FIRST_CAPACITY);
  #marks = new Uint8Array(FIRST_CAPACITY);
  #slots = new Uint32Array(FIRST_CAPACITY);
  #lastTimesMs = new Float64Array(FIRST_CAPACITY);
  /** Open addressing by the first word of the hash: number + 1. At most half full. */
  #table = new Uint32Array(2 * FIRST_CAPACITY);
  /** Numbers up to this one have been in use; those that are free again form a list through #slots. */
  #used = 0;
  #free = -1;
  /** Streams that are not in memory. */
  size = 0;

  constructor(memory: Pick<EngineMemory, "bytes">) {
    this.#filter = memory.bytes.subarray(COLD_FILTER, COLD_FILTER + COLD_FILTER_BYTES);
  }

  /** Enters a stream that `find` does not know, and returns its number. */
  add({ hash, partition, serial, lastTimeMs }: ColdStream): number {
    const id = this.#take();
    const slots = hashUint32s(hash);
    this.#hashes.set(slots, HASH_LENGTH * id);
    this.#partitions[id] = partition;
    this.#serials[id] = serial;
    this.#lastTimesMs[id] = lastTimeMs;
    this.#states[id] = COLD;
    this.#marks[id] = 0;
    this.#insert(id);
    this.#mark(slots[2] as number);
    this.#mark(slots[3] as number);
    this.size++;
    return id;
  }

  /** Number of the stream that is not in memory, or -1. */
  find(hash: Uint8Array): number {
    if (this.size === 0) return -1;
    const slots = hashUint32s(hash);
    const mask = this.#table.length - 1;
    for (let at = (slots[0] as number) & mask; ; at = (at + 1) & mask) {
      const id = (this.#table[at] as number) - 1;
      if (id < 0) return -1;
      if (slots.every((word, i) => this.#hashes[HASH_LENGTH * id + i] === word)) return id;
    }
  }

  state(id: number): number {
    return this.#states[id] as number;
  }

  partition(id: number): number {
    return this.#partitions[id] as number;
  }

  serial(id: number): number {
    return this.#serials[id] as number;
  }

  lastTimeMs(id: number): number {
    return this.#lastTimesMs[id] as number;
  }

  /** Slot of a stream that has returned. */
  slot(id: number): number {
    return this.#slots[id] as number;
  }

  /** The 16 bytes of its hash. */
  hash(id: number): Uint8Array {
    return new Uint8Array(this.#hashes.slice(HASH_LENGTH * id, HASH_LENGTH * (id + 1)).buffer);
  }

  /** Whether an ingest has counted it for its tenant. */
  isCounted(id: number): boolean {
    return ((this.#marks[id] as number) & 1) !== 0;
  }

  setCounted(id: number, counted: boolean): void {
    this.#marks[id] = ((this.#marks[id] as number) & ~1) | (counted ? 1 : 0);
  }

  /** Whether a ref of this start names it. */
  hasRef(id: number): boolean {
    return ((this.#marks[id] as number) & 2) !== 0;
  }

  setRef(id: number): void {
    this.#marks[id] = (this.#marks[id] as number) | 2;
  }

  setWanted(id: number, wanted: boolean): void {
    this.#states[id] = wanted ? WANTED : COLD;
  }

  /** It is in memory again: `find` does not know it any more. */
  setReturned(id: number, slot: number): void {
    this.#takeOut(id);
    this.#states[id] = RETURNED;
    this.#slots[id] = slot;
    this.size--;
  }

  /** The stream is to be as if it had never been; its number stays until `remove`. */
  forget(id: number): void {
    this.#takeOut(id);
    this.#states[id] = DROPPED;
    this.size--;
  }

  /** A stream that had returned has left again, under another number. */
  setReplaced(id: number): void {
    this.#states[id] = DROPPED;
  }

  /** Frees the number of a stream that has returned or was forgotten; nothing refers to it any more. */
  remove(id: number): void {
    this.#states[id] = FREE;
    this.#slots[id] = this.#free + 1;
    this.#free = id;
  }

  #take(): number {
    if (this.#free >= 0) {
      const id = this.#free;
      this.#free = (this.#slots[id] as number) - 1;
      return id;
    }
    if (this.#used === this.#capacity) this.#grow();
    return this.#used++;
  }

  #grow(): void {
    const capacity = 2 * this.#capacity;
    const larger = <T extends Uint8Array | Uint32Array | Float64Array>(to: T, from: T): T => {
      to.set(from);
      return to;
    };
    this.#hashes = larger(new Uint32Array(HASH_LENGTH * capacity), this.#hashes);
    this.#serials = larger(new Uint32Array(capacity), this.#serials);
    this.#partitions = larger(new Uint8Array(capacity), this.#partitions);
    this.#states = larger(new Uint8Array(capacity), this.#states);
    this.#marks = larger(new Uint8Array(capacity), this.#marks);
    this.#slots = larger(new Uint32Array(capacity), this.#slots);
    this.#lastTimesMs = larger(new Float64Array(capacity), this.#lastTimesMs);
    this.#table = new Uint32Array(2 * capacity);
    for (let id = 0; id < this.#used; id++) if (this.#states[id] === COLD || this.#states[id] === WANTED) this.#insert(id);
    this.#capacity = capacity;
  }

  #insert(id: number): void {
    const mask = this.#table.length - 1;
    let at = (this.#hashes[HASH_LENGTH * id] as number) & mask;
    while (this.#table[at] !== 0) at = (at + 1) & mask;
    this.#table[at] = id + 1;
  }

  /** Closes the gap: an entry behind it moves up when its own place is not between the gap and where it stands. */
  #takeOut(id: number): void {
    const mask = this.#table.length - 1;
    let gap = (this.#hashes[HASH_LENGTH * id] as number) & mask;
    while (this.#table[gap] !== id + 1) gap = (gap + 1) & mask;
    for (let at = (gap + 1) & mask; this.#table[at] !== 0; at = (at + 1) & mask) {
      const home = (this.#hashes[HASH_LENGTH * ((this.#table[at] as number) - 1)] as number) & mask;
      if (((at - home) & mask) < ((at - gap) & mask)) continue;
      this.#table[gap] = this.#table[at] as number;
      gap = at;
    }
    this.#table[gap] = 0;
  }

  /** Bits are never cleared: a stream that is back costs a second look when it is defined again. */
  #mark(word: number): void {
    const bit = word % FILTER_BITS;
    this.#filter[bit >>> 3] = (this.#filter[bit >>> 3] as number) | (1 << (bit & 7));
  }
}

function hashUint32s(hash: Uint8Array): Uint32Array {
  return new Uint32Array(hash.slice().buffer);
}
