// Numbers by small dense numbers, which only grow in how many there are: a typed array that is doubled.

/** Numbers of 0 to 2^32 - 2, such as slots by refs. Four bytes for each key up to the highest. */
export class NumberMap {
  /** The number and one; 0 for none. */
  #numbers = new Uint32Array(1024);

  /** -1 for none. */
  get(key: number): number {
    return (this.#numbers[key] ?? 0) - 1;
  }

  /** A number below 0 says that there is none. */
  set(key: number, number: number): void {
    if (key >= this.#numbers.length) {
      const larger = new Uint32Array(2 * key);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[key] = number + 1;
  }
}
