// Memory of tables that come and go, such as ids of windows: kept for the next table, since pages that the system has to give anew cost more than what is written to them.

/** Arrays of words, a power of two each, up to so many bytes. */
export class WordPool {
  readonly #bytesMax: number;
  /** By the logarithm of their length. */
  readonly #free: Uint32Array[][] = Array.from({ length: 32 }, () => []);
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** An array of zeros; `words` is a power of two. */
  take(words: number): Uint32Array {
    const kept = this.#free[31 - Math.clz32(words)]!.pop();
    if (kept === undefined) return new Uint32Array(words);
    this.#bytes -= kept.byteLength;
    kept.fill(0);
    return kept;
  }

  /** Takes an array back that nobody uses any more. */
  give(words: Uint32Array): void {
    if (this.#bytes + words.byteLength > this.#bytesMax) return;
    this.#bytes += words.byteLength;
    this.#free[31 - Math.clz32(words.length)]!.push(words);
  }
}
