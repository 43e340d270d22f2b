// What is usual at this hour: drifting means of the 24 hours of a working day and of a weekend's, pooled with those of any day. Times are of the clock on the wall. Weekends differ
// from working days in most services, working days hardly from each other, and 48 means are learned in a week where 168 take a month.

const HOURS = 24;
const WORDS_PER_HOUR = 2;
const ANY_DAY = 0;
const WORKING_DAY = 1;
const WEEKEND = 2;
const KINDS = 3;
/** Numbers of state. */
export const HOUR_PROFILE_WORDS = KINDS * HOURS * WORDS_PER_HOUR;
const HOUR_MS = 3_600_000;
const DAY_MS = HOURS * HOUR_MS;
/** 1970-01-01 was the fourth day of a week that begins with Sunday. */
const EPOCH_WEEKDAY = 4;
const SUNDAY = 0;
const SATURDAY = 6;
/** Values that the mean of any day weighs as in that of a kind of day (empirical Bayes). */
const POOLED_VALUES = 12;
/** Values that an hour must have seen on any day before its mean is taken. */
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

  /** Mean of the hour of `timeMs` on such a day, drawn towards that of any day; `otherwise` stands for an hour that has hardly been seen. */
  expected(timeMs: number, otherwise: number): number {
    const any = this.#mean(place(timeMs, ANY_DAY), otherwise);
    const at = place(timeMs, kindOf(timeMs));
    const count = this.#words[at] as number;
    return (count * (this.#words[at + 1] as number) + POOLED_VALUES * any) / (count + POOLED_VALUES);
  }

  add(timeMs: number, value: number, intervalMs: number): void {
    const memory = Math.max(MEMORY_MIN, (MEMORY_DAYS * HOUR_MS) / intervalMs);
    this.#learn(place(timeMs, ANY_DAY), value, memory);
    this.#learn(place(timeMs, kindOf(timeMs)), value, memory);
  }

  #mean(at: number, otherwise: number): number {
    return (this.#words[at] as number) >= USED_FROM ? (this.#words[at + 1] as number) : otherwise;
  }

  #learn(at: number, value: number, memory: number): void {
    const count = (this.#words[at] as number) + 1;
    const mean = this.#words[at + 1] as number;
    this.#words[at] = count;
    this.#words[at + 1] = mean + Math.max(1 / count, 1 / memory) * (value - mean);
  }
}

function place(timeMs: number, kind: number): number {
  const hour = Math.floor(timeMs / HOUR_MS) % HOURS;
  return WORDS_PER_HOUR * (kind * HOURS + (hour < 0 ? hour + HOURS : hour));
}

/** Hour of the day, 0..23, and whether it is a weekend's. */
export function hourOf(timeMs: number): { readonly hour: number; readonly isWeekend: boolean } {
  return { hour: ((Math.floor(timeMs / HOUR_MS) % HOURS) + HOURS) % HOURS, isWeekend: kindOf(timeMs) === WEEKEND };
}

function kindOf(timeMs: number): number {
  const day = (Math.floor(timeMs / DAY_MS) + EPOCH_WEEKDAY) % 7;
  const weekday = day < 0 ? day + 7 : day;
  return weekday === SUNDAY || weekday === SATURDAY ? WEEKEND : WORKING_DAY;
}
