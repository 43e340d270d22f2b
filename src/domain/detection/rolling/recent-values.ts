// The newest few values of a stream, for means over a part of them.

/** Values held. */
export const RECENT_VALUES = 12;
/** Numbers of state. */
export const RECENT_WORDS = RECENT_VALUES + 1;

/** A ring over caller-owned state of RECENT_WORDS numbers, all 0 at the start; the last word counts the values so far. */
export class RecentValues {
  readonly #words: Float64Array;

  constructor(words: Float64Array) {
    this.#words = words;
  }

  get count(): number {
    return this.#words[RECENT_VALUES] as number;
  }

  /** The newest value; 0 where there is none. */
  get newest(): number {
    return this.count === 0 ? 0 : (this.#words[(this.count - 1) % RECENT_VALUES] as number);
  }

  /** The value that came so many before the newest (0 to RECENT_VALUES - 1); 0 where there was none. */
  before(back: number): number {
    return back >= this.count ? 0 : (this.#words[(this.count - 1 - back) % RECENT_VALUES] as number);
  }

  add(value: number): void {
    const { count } = this;
    this.#words[count % RECENT_VALUES] = value;
    this.#words[RECENT_VALUES] = count + 1;
  }

  /** All values that are held are this one from now on. */
  fill(value: number): void {
    for (let place = 0; place < RECENT_VALUES; place++) this.#words[place] = value;
  }

  /** Mean of the newest `width` values (1 to RECENT_VALUES), of fewer while there are no more; 0 for none. */
  mean(width: number): number {
    const { count } = this;
    const used = Math.min(width, count);
    let sum = 0;
    for (let i = 1; i <= used; i++) sum += this.#words[(count - i) % RECENT_VALUES] as number;
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
