// A set of 32-bit words that is filled and emptied again and again: open addressing, at most half full. A look-up touches one line of memory, where a `Set`
// of numbers touches three; it says only how many there are.
const PLACES_FIRST = 128;
const GOLDEN_RATIO = 0x9e3779b1; // 2^32 / 1.618: the highest bits of the product are well mixed

/** Words; 0 and 1 are the same. */
export class WordSet {
  #places = new Uint32Array(PLACES_FIRST);
  #shift = Math.clz32(PLACES_FIRST - 1);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(word: number): void {
    const stored = word === 0 ? 1 : word >>> 0;
    const at = this.#find(stored);
    if (this.#places[at] === stored) return;
    this.#places[at] = stored;
    this.#size++;
    if (2 * this.#size > this.#places.length) this.#grow();
  }

  clear(): void {
    this.#places.fill(0);
    this.#size = 0;
  }

  /** Its place, or the free one where it would go. */
  #find(stored: number): number {
    const places = this.#places;
    const mask = places.length - 1;
    let at = Math.imul(stored, GOLDEN_RATIO) >>> this.#shift;
    while (places[at] !== 0 && places[at] !== stored) at = (at + 1) & mask;
    return at;
  }

  #grow(): void {
    const before = this.#places;
    this.#places = new Uint32Array(2 * before.length);
    this.#shift--;
    for (const stored of before) if (stored !== 0) this.#places[this.#find(stored)] = stored;
  }
}
