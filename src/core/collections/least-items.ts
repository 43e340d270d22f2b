// The least items of many, in order, without sorting them all.

export class LeastItems<T> {
  readonly #most: number;
  readonly #compare: (a: T, b: T) => number;
  #items: T[] = [];

  /** Keeps `most` items. */
  constructor(most: number, compare: (a: T, b: T) => number) {
    this.#most = most;
    this.#compare = compare;
  }

  add(item: T): void {
    if (this.#items.push(item) >= 2 * this.#most + 64) this.#cut();
  }

  /** Ascending. */
  get sorted(): readonly T[] {
    this.#cut();
    return this.#items;
  }

  #cut(): void {
    this.#items = this.#items.sort(this.#compare).slice(0, this.#most);
  }
}
