// What is usual at this hour of the day: 24 drifting means, each of which stands only once it has been visited often enough.

const HOURS = 24;
const WORDS_PER_HOUR = 2;
/** Numbers of state. */
export const HOUR_PROFILE_WORDS = HOURS * WORDS_PER_HOUR;
const HOUR_MS = 3_600_000;
/** Values that an hour must have seen before its mean is taken. */
const USED_FROM = 3;
/** Days that an hour's mean remembers. */
const MEMORY_DAYS = 25;
const MEMORY_MIN = 14;

/** A profile over caller-owned state of HOUR_PROFILE_WORDS numbers, all 0 at the start. */
export class HourProfile {
  readonly #words: Float64Array;

  constructor(words: Float64Array) {
    this.#words = words;
  }

  /** Mean of the hour of `timeMs` (UTC), or `otherwise` where too little is known of it. */
  expected(timeMs: number, otherwise: number): number {
    const at = place(timeMs);
    return (this.#words[at] as number) >= USED_FROM ? (this.#words[at + 1] as number) : otherwise;
  }

  add(timeMs: number, value: number, intervalMs: number): void {
    const at = place(timeMs);
    const count = (this.#words[at] as number) + 1;
    const memory = Math.max(MEMORY_MIN, (MEMORY_DAYS * HOUR_MS) / intervalMs);
    this.#words[at] = count;
    this.#words[at + 1] = (this.#words[at + 1] as number) + Math.max(1 / count, 1 / memory) * (value - (this.#words[at + 1] as number));
  }
}

function place(timeMs: number): number {
  const hour = Math.floor(timeMs / HOUR_MS) % HOURS;
  return WORDS_PER_HOUR * (hour < 0 ? hour + HOURS : hour);
}
