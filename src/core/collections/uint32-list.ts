// Numbers in order of arrival, four bytes each and outside the heap that the collector walks: a million streams have a few of each.

const FIRST_CAPACITY = 16;

/** A list of unsigned 32-bit numbers that only grows; memory is doubled. */
export class Uint32List {
  #words = new Uint32Array(FIRST_CAPACITY);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(word: number): void {
    if (this.#length === this.#words.length) {
      const words = new Uint32Array(2 * this.#words.length);
      words.set(this.#words);
      this.#words = words;
    }
    this.#words[this.#length++] = word;
  }

  /** Puts another number at `index`, which must be below `length`. */
  set(index: number, word: number): void {
    this.#words[index] = word;
  }

  /** The number at `index`, which must be below `length`. */
  at(index: number): number {
    return this.#words[index] as number;
  }

  /** All numbers; valid until the next push. */
  get words(): Uint32Array {
    return this.#words.subarray(0, this.#length);
  }
}
