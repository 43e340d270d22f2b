// One value by its rank, in linear time and without memory.
// The least items of many, in order, without sorting them all.

/**
 * The value that sorting the first `count` values, none of them NaN, would put at `place` (0 to count - 1). Reorders them: those before it become no
 * larger, those behind no smaller (Hoare's FIND, 1961).
 */
export function selectIndex(values: Float64Array, count: number, index: number): number {
  let first = 0;
  let last = count - 1;
  while (first < last) {
    const pivot = values[index] as number;
    let i = first;
    let j = last;
    while (i <= j) {
      while ((values[i] as number) < pivot) i++;
      while (pivot < (values[j] as number)) j--;
      if (i > j) break;
      const swapped = values[i] as number;
      values[i++] = values[j] as number;
      values[j--] = swapped;
    }
    if (j < index) first = i;
    if (index < i) last = j;
  }
  return values[index] as number;
}

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
