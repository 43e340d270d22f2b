// The newest few values of a stream, for means over a part of them.

/** Values held. */
export const RECENT_VALUES = 12;
/** Numbers of state. */
export const RECENT_LENGTH = RECENT_VALUES + 1;

/** A ring over caller-owned state of RECENT_LENGTH numbers, all 0 at the start; the last word counts the values so far. */
export class RecentValues {
  readonly #floats: Float64Array;

  constructor(floats: Float64Array) {
    this.#floats = floats;
  }

  get count(): number {
    return this.#floats[RECENT_VALUES] as number;
  }

  /** The newest value; 0 where there is none. */
  get newest(): number {
    return this.count === 0 ? 0 : (this.#floats[(this.count - 1) % RECENT_VALUES] as number);
  }

  /** The value that came so many before the newest (0 to RECENT_VALUES - 1); 0 where there was none. */
  before(back: number): number {
    return back >= this.count ? 0 : (this.#floats[(this.count - 1 - back) % RECENT_VALUES] as number);
  }

  add(value: number): void {
    const { count } = this;
    this.#floats[count % RECENT_VALUES] = value;
    this.#floats[RECENT_VALUES] = count + 1;
  }

  /** All values that are held are this one from now on. */
  fill(value: number): void {
    for (let index = 0; index < RECENT_VALUES; index++) this.#floats[index] = value;
  }

  /** Mean of the newest `width` values (1 to RECENT_VALUES), of fewer while there are no more; 0 for none. */
  mean(width: number): number {
    const { count } = this;
    const used = Math.min(width, count);
    let sum = 0;
    for (let i = 1; i <= used; i++) sum += this.#floats[(count - i) % RECENT_VALUES] as number;
    return used === 0 ? 0 : sum / used;
  }

  /** Mean absolute deviation of the newest `width` values from their mean; 0 for none. */
  spread(width: number): number {
    const used = Math.min(width, this.count);
    const mean = this.mean(width);
    let sum = 0;
    for (let back = 0; back < used; back++) sum += Math.abs(this.before(back) - mean);
    return used === 0 ? 0 : sum / used;
  }
}
