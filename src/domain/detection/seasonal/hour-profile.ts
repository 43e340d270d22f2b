// What is usual at this hour: drifting means of the 24 hours of a working day and of a weekend's, pooled with those of any day. Times are of the clock on the wall. Weekends differ
// from working days in most services, working days hardly from each other, and 48 means are learned in a week where 168 take a month.
import { DAY_MS, HOUR_MS } from "../../../core/time/durations.ts";

export const HOURS = 24;
const ANY_DAY = 0;
const WORKING_DAY = 1;
const WEEKEND = 2;
const KINDS = 3;
const CELLS = KINDS * HOURS;
/** Numbers of state: means and counts as single precision, beside an sd that is never less than a thousandth of its mean. */
export const HOUR_PROFILE_LENGTH = CELLS;
/** 1970-01-01 was the fourth day of a week that begins with Sunday. */
const EPOCH_WEEKDAY = 4;
export const SUNDAY = 0;
export const SATURDAY = 6;
/** Values that the mean of any day weighs as in that of a kind of day (empirical Bayes). */
const POOLED_VALUES = 12;
/** Values that an hour must have seen on any day before its mean is taken. */
const USED_FROM = 3;
/** Days after which what is between hours is known. */
const DAYS_MIN = 2;
/** Beyond it single precision does not count; no memory is as long. */
const COUNT_MAX = 2 ** 24 - 1;
/** Days that an hour's mean remembers. */
const MEMORY_DAYS = 25;
const MEMORY_MIN = 14;

/** Values by which an hour has been seen on enough days. */
function valuesOfHour(intervalMs: number): number {
  return DAYS_MIN * Math.max(1, HOUR_MS / intervalMs);
}

/** Whether so few values, in whichever hours, say nothing of what is between any two: `between` gives NaN. */
export function knowsNoHour(values: number, intervalMs: number): boolean {
  return values < valuesOfHour(intervalMs);
}

/** A profile over caller-owned state of HOUR_PROFILE_LENGTH numbers, all 0 at the start. */
export class HourProfile {
  readonly #means: Float32Array;
  readonly #counts: Float32Array;

  constructor(floats: Float64Array) {
    this.#means = new Float32Array(floats.buffer, floats.byteOffset, CELLS);
    this.#counts = new Float32Array(floats.buffer, floats.byteOffset + 4 * CELLS, CELLS);
  }

  /** Mean of the hour of `timeMs` on such a day, drawn towards that of any day; `otherwise` stands for an hour that has hardly been seen. A holiday is as a weekend. */
  expected(timeMs: number, otherwise: number, isHoliday = false): number {
    const any = this.#mean(cellOf(timeMs, ANY_DAY), otherwise);
    const at = cellOf(timeMs, isHoliday ? WEEKEND : kindOf(timeMs));
    const count = this.#counts[at] as number;
    return (count * (this.#means[at] as number) + POOLED_VALUES * any) / (count + POOLED_VALUES);
  }

  /** Usual value at this time, between the middles of two hours; NaN where one of these has been seen on fewer than two days. */
  between(timeMs: number, intervalMs: number, isHoliday = false): number {
    const from = timeMs - HOUR_MS / 2;
    const to = timeMs + HOUR_MS / 2;
    const enough = valuesOfHour(intervalMs);
    if ((this.#counts[cellOf(from, ANY_DAY)] as number) < enough || (this.#counts[cellOf(to, ANY_DAY)] as number) < enough)
      return Number.NaN;
    const share = from / HOUR_MS - Math.floor(from / HOUR_MS);
    const kind = isHoliday ? WEEKEND : kindOf(timeMs);
    return (1 - share) * this.#between(from, kind) + share * this.#between(to, kind);
  }

  /** Usual values of the two hours that `between` looks between, each on its own kind of day; of hours that are not known they say nothing. */
  sides(timeMs: number, isHolidayAt: (timeMs: number) => boolean = () => false): readonly [before: number, after: number] {
    const [from, to] = [timeMs - HOUR_MS / 2, timeMs + HOUR_MS / 2];
    return [this.#between(from, isHolidayAt(from) ? WEEKEND : kindOf(from)), this.#between(to, isHolidayAt(to) ? WEEKEND : kindOf(to))];
  }

  /** Whether the hour has been seen on two days of the time's kind: only then it has something that is usual on such a day. */
  knowsKindOfDay(timeMs: number, intervalMs: number, isHoliday = false): boolean {
    const count = this.#counts[cellOf(timeMs, isHoliday ? WEEKEND : kindOf(timeMs))] as number;
    return count >= valuesOfHour(intervalMs);
  }

  /** Mean of the hour, on a day of this kind, drawn towards that of any day. */
  #between(timeMs: number, kind: number): number {
    const any = this.#means[cellOf(timeMs, ANY_DAY)] as number;
    const at = cellOf(timeMs, kind);
    const count = this.#counts[at] as number;
    return (count * (this.#means[at] as number) + POOLED_VALUES * any) / (count + POOLED_VALUES);
  }

  add(timeMs: number, value: number, intervalMs: number, isHoliday = false): void {
    const memory = Math.max(MEMORY_MIN, (MEMORY_DAYS * HOUR_MS) / intervalMs);
    this.#learn(cellOf(timeMs, ANY_DAY), value, memory);
    this.#learn(cellOf(timeMs, isHoliday ? WEEKEND : kindOf(timeMs)), value, memory);
  }

  #mean(at: number, otherwise: number): number {
    return (this.#counts[at] as number) >= USED_FROM ? (this.#means[at] as number) : otherwise;
  }

  #learn(at: number, value: number, memory: number): void {
    const count = Math.min(COUNT_MAX, (this.#counts[at] as number) + 1);
    const mean = this.#means[at] as number;
    this.#counts[at] = count;
    this.#means[at] = mean + Math.max(1 / count, 1 / memory) * (value - mean);
  }
}

function cellOf(timeMs: number, kind: number): number {
  const hour = Math.floor(timeMs / HOUR_MS) % HOURS;
  return kind * HOURS + (hour < 0 ? hour + HOURS : hour);
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
