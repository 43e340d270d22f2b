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
  take(length: number): Uint32Array {
    const retained = this.#free[31 - Math.clz32(length)]!.pop();
    if (retained === undefined) return new Uint32Array(length);
    this.#bytes -= retained.byteLength;
    retained.fill(0);
    return retained;
  }

  /** Takes an array back that nobody uses any more. */
  give(slots: Uint32Array): void {
    if (this.#bytes + slots.byteLength > this.#bytesMax) return;
    this.#bytes += slots.byteLength;
    this.#free[31 - Math.clz32(slots.length)]!.push(slots);
  }
}
