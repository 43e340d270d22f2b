// Seeded random numbers for the fuzzer: xorshift128 (Marsaglia 2003), about 2 ns a number, started anew for each input, so that an input depends on
// its seed and number and not on how much chance the ones before it used.

export class Random {
  #a = 0;
  #b = 0;
  #c = 0;
  #d = 0;

  /** Starts the sequence of (seed, stream, number). */
  start(seed: number, stream: number, number: number): void {
    this.#a = mix(seed ^ 0x9e3779b9);
    this.#b = mix(stream ^ this.#a);
    this.#c = mix(number ^ this.#b);
    this.#d = mix((number / 0x1_0000_0000) ^ this.#c) | 1;
  }

  /** A number of 32 bits. */
  next(): number {
    let t = this.#d;
    const s = this.#a;
    this.#d = this.#c;
    this.#c = this.#b;
    this.#b = s;
    t ^= t << 11;
    t ^= t >>> 8;
    this.#a = t ^ s ^ (s >>> 19);
    return this.#a >>> 0;
  }

  /** A whole number of [0, limit), limit up to 2^32. */
  below(limit: number): number {
    return Math.floor((this.next() / 0x1_0000_0000) * limit);
  }

  /** A whole number of [least, most]. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** True once in `n` times. */
  oneIn(n: number): boolean {
    return this.below(n) === 0;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }
}

/** splitmix32. */
function mix(word: number): number {
  let z = (word + 0x9e3779b9) | 0;
  z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return z ^ (z >>> 15);
}

/** A number of 32 bits for a name (FNV-1a). */
export function hashName(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
