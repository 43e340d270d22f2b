// The usual time between the samples of a stream: a running median by small steps (Robbins-Monro), so that gaps and bursts do not move it.

/** Numbers of state. */
export const INTERVAL_LENGTH = 3;
const LAST = 0;
const USUAL = 1;
const COUNT = 2;
const STEP = 1.05;
const DEFAULT_MS = 60_000;

/** State of INTERVAL_LENGTH numbers, all 0 at the start. */
export class UsualInterval {
  readonly #floats: Float64Array;

  constructor(floats: Float64Array) {
    this.#floats = floats;
  }

  /** In ms; a minute before there are two samples. */
  get ms(): number {
    return (this.#floats[USUAL] as number) || DEFAULT_MS;
  }

  /** Time of the newest sample; 0 for none. */
  get lastMs(): number {
    return this.#floats[LAST] as number;
  }

  /** Takes the time of a sample. */
  add(timeMs: number): void {
    const elapsed = timeMs - (this.#floats[LAST] as number);
    if (this.#floats[COUNT] === 0) this.#floats[COUNT] = 1;
    else if (elapsed > 0) this.#step(elapsed);
    this.#floats[LAST] = timeMs;
  }

  #step(elapsed: number): void {
    const { ms } = this;
    if (this.#floats[COUNT] === 1) this.#floats[USUAL] = elapsed;
    else if (elapsed > ms * STEP) this.#floats[USUAL] = ms * STEP;
    else if (elapsed < ms / STEP) this.#floats[USUAL] = ms / STEP;
    else this.#floats[USUAL] = elapsed;
    this.#floats[COUNT] = 2;
  }
}
