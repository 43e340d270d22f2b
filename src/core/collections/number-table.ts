// A small table of whole numbers by key, cleared and filled again and again: open addressing in one typed array, no objects. About 3 ns a look-up.

/** Keys are whole numbers of 0 to 2^31 - 2, values those above 0. Half the places take an entry; what comes then is not kept. */
export class NumberTable {
  /** Pairs {key + 1, value}, 0 where a place is free. */
  readonly #slots: Int32Array;
  readonly #mask: number;
  #size = 0;
  #free = 0;

  /** `places` is a power of two. */
  constructor(places: number) {
    this.#slots = new Int32Array(2 * places);
    this.#mask = 2 * places - 1;
  }

  /** The value of a key, 0 for none. */
  find(key: number): number {
    const slots = this.#slots;
    const wanted = key + 1;
    let at = (2 * key) & this.#mask;
    for (let occupant = slots[at]!; occupant !== 0; occupant = slots[at]!) {
      if (occupant === wanted) return slots[at + 1]!;
      at = (at + 2) & this.#mask;
    }
    this.#free = at;
    return 0;
  }

  /** Enters the key that was looked for last in vain. */
  enter(key: number, value: number): void {
    if (4 * this.#size >= this.#slots.length) return;
    this.#size++;
    this.#slots[this.#free] = key + 1;
    this.#slots[this.#free + 1] = value;
  }

  clear(): void {
    if (this.#size > 0) this.#slots.fill(0);
    this.#size = 0;
  }
}
