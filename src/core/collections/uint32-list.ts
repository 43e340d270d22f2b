// Numbers in order of arrival, four bytes each and outside the heap that the collector walks: a million streams have a few of each.

const FIRST_CAPACITY = 16;

/** A list of unsigned 32-bit numbers that only grows; memory is doubled. */
export class Uint32List {
  #slots = new Uint32Array(FIRST_CAPACITY);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(word: number): void {
    if (this.#length === this.#slots.length) {
      const slots = new Uint32Array(2 * this.#slots.length);
      slots.set(this.#slots);
      this.#slots = slots;
    }
    this.#slots[this.#length++] = word;
  }

  /** Puts another number at `index`, which must be below `length`. */
  set(index: number, word: number): void {
    this.#slots[index] = word;
  }

  /** The number at `index`, which must be below `length`. */
  at(index: number): number {
    return this.#slots[index] as number;
  }

  /** All numbers; valid until the next push. */
  get uint32s(): Uint32Array {
    return this.#slots.subarray(0, this.#length);
  }
}
