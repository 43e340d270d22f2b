// The usual time between the samples of a stream: a running median by small steps (Robbins-Monro), so that gaps and bursts do not move it.

/** Numbers of state. */
export const INTERVAL_WORDS = 3;
const LAST = 0;
const USUAL = 1;
const COUNT = 2;
const STEP = 1.05;
const DEFAULT_MS = 60_000;

/** State of INTERVAL_WORDS numbers, all 0 at the start. */
export class UsualInterval {
  readonly #words: Float64Array;

  constructor(words: Float64Array) {
    this.#words = words;
  }

  /** In ms; a minute before there are two samples. */
  get ms(): number {
    return (this.#words[USUAL] as number) || DEFAULT_MS;
  }

  /** Time of the newest sample; 0 for none. */
  get lastMs(): number {
    return this.#words[LAST] as number;
  }

  /** Takes the time of a sample. */
  add(timeMs: number): void {
    const elapsed = timeMs - (this.#words[LAST] as number);
    if (this.#words[COUNT] === 0) this.#words[COUNT] = 1;
    else if (elapsed > 0) this.#step(elapsed);
    this.#words[LAST] = timeMs;
  }

  #step(elapsed: number): void {
    const { ms } = this;
    if (this.#words[COUNT] === 1) this.#words[USUAL] = elapsed;
    else if (elapsed > ms * STEP) this.#words[USUAL] = ms * STEP;
    else if (elapsed < ms / STEP) this.#words[USUAL] = ms / STEP;
    else this.#words[USUAL] = elapsed;
    this.#words[COUNT] = 2;
  }
}
