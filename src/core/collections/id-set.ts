// A set of 64-bit ids, such as hashes of spans: open addressing, 8 bytes a place, at most half full. About 20 ns a look-up in cache.

import type { WordPool } from "./word-pool.ts";

const PLACES_FIRST = 32;
const NOTHING = new Uint32Array(0);

/** Ids as two 32-bit halves that are well mixed: the low one is the place. */
export class IdSet {
  readonly #pool: WordPool;
  /** Pairs (high, low); both 0 where a place is free. */
  #slots: Uint32Array;
  #size = 0;

  constructor(pool: WordPool) {
    this.#pool = pool;
    this.#slots = pool.take(2 * PLACES_FIRST);
  }

  get size(): number {
    return this.#size;
  }

  /** Adds an id; false when it was there. */
  add(high: number, low: number): boolean {
    const last = (high | low) === 0 ? 1 : low >>> 0;
    const at = this.#find(high >>> 0, last);
    if ((this.#slots[at]! | this.#slots[at + 1]!) !== 0) return false;
    this.#slots[at] = high;
    this.#slots[at + 1] = last;
    this.#size++;
    if (4 * this.#size > this.#slots.length) this.#grow();
    return true;
  }

  /**
   * Loads what `add` will look at first for the low halves that stand in a list, from `from` to `end` one every so many words: loads that do not hang on each
   * other take the time of one. The answer has no meaning, but must be used.
   */
  touchAll(lows: Int32Array, from: number, end: number, every: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let sum = 0;
    for (let at = from; at < end; at += every) sum += slots[(lows[at]! << 1) & mask]!;
    return sum;
  }

  /** Gives its memory back; it must not be used any more. */
  release(): void {
    this.#pool.give(this.#slots);
    this.#slots = NOTHING;
  }

  /** All ids as pairs (high, low), in no order. */
  list(): Uint32Array {
    const slots = this.#slots;
    const pairs = new Uint32Array(2 * this.#size);
    let to = 0;
    for (let at = 0; at < slots.length; at += 2) {
      if ((slots[at]! | slots[at + 1]!) === 0) continue;
      pairs[to++] = slots[at]!;
      pairs[to++] = slots[at + 1]!;
    }
    return pairs;
  }

  /** Its place, or the free one where it would go. */
  #find(high: number, low: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = (low << 1) & mask;
    while ((slots[at]! | slots[at + 1]!) !== 0 && (slots[at] !== high || slots[at + 1] !== low)) at = (at + 2) & mask;
    return at;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = this.#pool.take(2 * before.length);
    for (let at = 0; at < before.length; at += 2) {
      const high = before[at]!;
      const low = before[at + 1]!;
      if ((high | low) === 0) continue;
      const to = this.#find(high, low);
      this.#slots[to] = high;
      this.#slots[to + 1] = low;
    }
    this.#pool.give(before);
  }
}
