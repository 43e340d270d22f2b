// What a series has done before and people need not hear of again: departures that come back at the same time of the hour, day or week; short ones that ended by
// themselves, while they go on coming; steps to a level that it has had. Two weeks are remembered.

const DEPARTURES_KEPT = 5;
const DEPARTURE_WORDS = 3;
const SIDES = 2;
const SHORT_WORDS = 3;
const LEVELS_KEPT = 4;
const LEVEL_WORDS = 2;
const SHORT_AT = DEPARTURES_KEPT * DEPARTURE_WORDS;
const LEVELS_AT = SHORT_AT + SIDES * SHORT_WORDS;
const NEXT = LEVELS_AT + LEVELS_KEPT * LEVEL_WORDS;
/** Numbers of state. */
export const KNOWN_DEPARTURES_WORDS = NEXT + 1;
const TIME = 0;
const FIRST_NUMBER = 2;
const FROM = 0;
const TO = 1;
const PEAK = 2;
/** Duration, ms; negative where the series has stayed at its new level. */
const LASTED = 3;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const REMEMBERED_MS = 14 * DAY_MS;
/** Over so soon, a departure has ended by itself before anybody could have looked. */
export const SHORT_MS = 20 * MINUTE_MS;
/** A series that has done so twice, each within this time of the one before, is one that does so. */
const SHORT_REMEMBERED_MS = 20 * HOUR_MS;
const SHORT_MIN = 2;
/** Minimum for a series of which no day is known. */
const SHORT_MIN_YOUNG = 1;
/** A departure is like one before up to so many times its size, in standard deviations or in values. */
const LIKE_SIZE = 2;
const LIKE_VALUE = 1.3;
/** Periods of clocks and calendars at which one departure before is enough; up to so many of them back, for series that have so many values in one. */
const CLOCK_MS = [HOUR_MS, DAY_MS, 7 * DAY_MS];
const PERIODS_BACK_MAX = 3;
const VALUES_PER_PERIOD_MIN = 50;
const PERIOD_SLACK = 0.01;
/** Duration from which on a departure was the level of its time: the way back from it is as little news as a step that comes again. */
const LONG_MS = 6 * HOUR_MS;
/** Until then it is the end of what began; later it is a step of its own. */
const BACK_MS = 3 * DAY_MS;
/** A step is one before, or the way back from a long one, if both of its levels are as near as that share of it, or three standard deviations. */
const STEP_SLACK = 0.07;
const STEP_SLACK_SDS = 3;

/** Multiple of its duration before, and intervals beyond that, for which one that comes back may last. */
const LONGER = 1.5;
const LONGER_INTERVALS = 3;

/** Why a departure is no news. */
export type KnownReason = "recurring" | "short_lived" | "known_step" | "known_level" | "expected";

/** A departure that is no news, and how long it may last before it is. */
export interface Known {
  readonly reason: KnownReason;
  readonly lastsMs: number;
}

/** A departure at its first value; `size` in standard deviations. */
export interface Departure {
  readonly timeMs: number;
  readonly value: number;
  readonly expected: number;
  readonly sd: number;
  readonly size: number;
  readonly side: number;
  readonly intervalMs: number;
  /** The series has a few levels, as the number of replicas. */
  readonly hasLevels: boolean;
  /** A season of the series' own says what the value should have been: a level that it has at other times is news at this one. */
  readonly isOfSeason: boolean;
  /** Less than a day of the series is known: what it does for the second time may be its habit. */
  readonly isYoung: boolean;
}

/** One that is over: what it went from and to, its largest size and value off, and whether the series has stayed there. */
export interface EndedDeparture {
  readonly startedMs: number;
  readonly endedMs: number;
  readonly side: number;
  readonly from: number;
  readonly to: number;
  readonly peak: number;
  readonly peakValue: number;
  readonly hasStayed: boolean;
}

/** Over caller-owned state of KNOWN_DEPARTURES_WORDS numbers, all 0 at the start. */
export class KnownDepartures {
  readonly #words: Float64Array;
  readonly #numbers: Float32Array;

  constructor(words: Float64Array) {
    this.#words = words;
    this.#numbers = new Float32Array(words.buffer, words.byteOffset, 2 * words.length);
  }

  /** Why the departure is no news; null where it is. */
  find(of: Departure): Known | null {
    if (this.#isShortLived(of)) return { reason: "short_lived", lastsMs: SHORT_MS };
    if (of.hasLevels && !of.isOfSeason && of.value !== 0 && this.#isKnownLevel(of)) return { reason: "known_level", lastsMs: 0 };
    for (let i = 0; i < DEPARTURES_KEPT; i++) {
      const age = of.timeMs - (this.#words[i * DEPARTURE_WORDS + TIME] as number);
      if (age > REMEMBERED_MS || age < 0) continue;
      if (of.value !== 0 && !of.isOfSeason && this.#isSameStep(i, of, age)) return { reason: "known_step", lastsMs: 0 };
      const lastedMs = Math.abs(this.#numbers[2 * i * DEPARTURE_WORDS + FIRST_NUMBER + LASTED] as number);
      if (!this.#isLike(i, of) || !(of.isYoung || comesBack(age, lastedMs, of.intervalMs))) continue;
      return { reason: "recurring", lastsMs: LONGER * lastedMs + LONGER_INTERVALS * of.intervalMs };
    }
    return null;
  }

  /** Takes one that is over. */
  add(of: EndedDeparture): void {
    const at = (this.#words[NEXT] as number) % DEPARTURES_KEPT;
    this.#words[NEXT] = (this.#words[NEXT] as number) + 1;
    this.#words[at * DEPARTURE_WORDS + TIME] = of.startedMs;
    const number = 2 * at * DEPARTURE_WORDS + FIRST_NUMBER;
    this.#numbers[number + FROM] = of.from;
    this.#numbers[number + TO] = of.to;
    this.#numbers[number + PEAK] = of.side * of.peak;
    const lastedMs = Math.max(1, of.endedMs - of.startedMs);
    this.#numbers[number + LASTED] = of.hasStayed ? -lastedMs : lastedMs;
    if (!of.hasStayed && of.endedMs - of.startedMs <= SHORT_MS) this.#addShort(of);
  }

  /** The series has a level for a while. */
  holdsLevel(value: number, timeMs: number): void {
    let oldest = LEVELS_AT;
    for (let at = LEVELS_AT; at < NEXT; at += LEVEL_WORDS) {
      if (this.#words[at] === value && this.#words[at + 1] !== 0) {
        this.#words[at + 1] = timeMs;
        return;
      }
      if ((this.#words[at + 1] as number) < (this.#words[oldest + 1] as number)) oldest = at;
    }
    this.#words[oldest] = value;
    this.#words[oldest + 1] = timeMs;
  }

  #addShort({ endedMs, side, peak, peakValue }: EndedDeparture): void {
    const at = shortAt(side);
    const isRecent = endedMs - (this.#words[at] as number) <= SHORT_REMEMBERED_MS;
    this.#words[at] = endedMs;
    this.#words[at + 2] = isRecent ? (this.#words[at + 2] as number) + 1 : 1;
    const number = 2 * (at + 1);
    this.#numbers[number] = Math.max(peak, isRecent ? (this.#numbers[number] as number) : 0);
    this.#numbers[number + 1] = Math.max(peakValue, isRecent ? (this.#numbers[number + 1] as number) : 0);
  }

  #isShortLived({ timeMs, side, size, value, expected, isYoung }: Departure): boolean {
    const at = shortAt(side);
    const endedMs = this.#words[at] as number;
    if ((this.#words[at + 2] as number) < (isYoung ? SHORT_MIN_YOUNG : SHORT_MIN) || timeMs - endedMs > SHORT_REMEMBERED_MS) return false;
    const [peak, peakValue] = [this.#numbers[2 * (at + 1)] as number, this.#numbers[2 * (at + 1) + 1] as number];
    return size < LIKE_SIZE * peak || Math.abs(value - expected) < LIKE_VALUE * peakValue;
  }

  #isKnownLevel({ value, timeMs }: Departure): boolean {
    for (let at = LEVELS_AT; at < NEXT; at += LEVEL_WORDS) {
      const seenMs = this.#words[at + 1] as number;
      if (seenMs !== 0 && this.#words[at] === value && timeMs - seenMs <= REMEMBERED_MS) return true;
    }
    return false;
  }

  #isSameStep(i: number, { value, expected, sd }: Departure, ageMs: number): boolean {
    const number = 2 * i * DEPARTURE_WORDS + FIRST_NUMBER;
    if ((this.#numbers[number + LASTED] as number) >= 0) return false;
    const [from, to] = [this.#numbers[number + FROM] as number, this.#numbers[number + TO] as number];
    const slack = Math.max(STEP_SLACK_SDS * sd, STEP_SLACK * Math.abs(to - from));
    const isThere = Math.abs(value - to) <= slack && Math.abs(expected - from) <= slack;
    const isBack = Math.abs(value - from) <= slack && Math.abs(expected - to) <= slack;
    return isThere || (isBack && ageMs <= BACK_MS && (this.#numbers[number + LASTED] as number) <= -LONG_MS);
  }

  #isLike(i: number, { side, size }: Departure): boolean {
    const peak = this.#numbers[2 * i * DEPARTURE_WORDS + FIRST_NUMBER + PEAK] as number;
    return peak * side > 0 && size < LIKE_SIZE * Math.abs(peak);
  }
}

function shortAt(side: number): number {
  return SHORT_AT + (side < 0 ? SHORT_WORDS : 0);
}

/** Whether it is one, two or three periods of a clock or calendar since a departure went on that began so long ago. */
function comesBack(ageMs: number, lastedMs: number, intervalMs: number): boolean {
  return CLOCK_MS.some((period) => {
    if (period < VALUES_PER_PERIOD_MIN * intervalMs) return false;
    const slack = Math.max(1.01 * intervalMs, PERIOD_SLACK * period);
    const periods = Math.floor((ageMs + slack) / period);
    const off = ageMs - periods * period;
    return periods >= 1 && periods <= PERIODS_BACK_MAX && off <= Math.min(lastedMs, SHORT_MS) + slack;
  });
}
