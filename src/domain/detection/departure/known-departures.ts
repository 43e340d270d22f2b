// What a series has done before and people need not hear of again: departures that come back at the same time of day or week, or at equal gaps; short ones that end by
// themselves, while they go on coming; steps to a level that it has had. One departure that people were told of is no habit. Two weeks are remembered.
import { DAY_MS, HOUR_MS } from "../../../core/time/durations.ts";
import { clockMs, type EarlierDeparture, isFallToNothing, longer, mondayMs, recurringMs, weekendMs } from "./recurrence.ts";
import { MORE_SHORT_LENGTH, SHORT_LENGTH, SHORT_MS, ShortDepartures } from "./short-departures.ts";

/** Records in the first part of the state, and in the second one, which stands behind all that pairs were stored with before. */
const FIRST_RETAINED = 5;
const MORE_RETAINED = 7;
const DEPARTURES_RETAINED = FIRST_RETAINED + MORE_RETAINED;
const DEPARTURE_LENGTH = 3;
const LEVELS_RETAINED = 4;
const LEVEL_LENGTH = 2;
const SHORT_AT = FIRST_RETAINED * DEPARTURE_LENGTH;
const SIDES = 2;
const LEVELS_AT = SHORT_AT + SIDES * SHORT_LENGTH;
const NEXT = LEVELS_AT + LEVELS_RETAINED * LEVEL_LENGTH;
/** Numbers of state, and of its second part. */
export const KNOWN_DEPARTURES_LENGTH = NEXT + 1;
export const MORE_DEPARTURES_LENGTH = MORE_RETAINED * DEPARTURE_LENGTH + SIDES * MORE_SHORT_LENGTH;
const TIME = 0;
const FIRST_NUMBER = 2;
const FROM = 0;
const TO = 1;
const PEAK = 2;
/** Duration, ms; negative where the series has stayed at its new level. */
const LASTED = 3;

const REMEMBERED_MS = 14 * DAY_MS;
/** Bursts of a few values last no longer than so many values, and are forgiven as others are, but no longer than a short departure is. */
const BURST_INTERVALS = 3;
/** A departure is like one before up to so many times its size, in standard deviations or in values. */
const LIKE_SIZE = 2;
const LIKE_VALUE = 1.3;
/** Steps of a size that a series of exact levels has taken, after which the next of that size is none to hear of. */
const STEPS_KNOWN = 2;
const STEP_SIZE_SHARE = 0.01;
/** Duration from which on a departure was the level of its time: the way back from it is as little news as a step that comes again. */
const LONG_MS = 6 * HOUR_MS;
/** Until then it is the end of what began; later it is a step of its own. */
const BACK_MS = 3 * DAY_MS;
/** A step is one before, or the way back from a long one, if both of its levels are as near as that share of it, or three standard deviations. */
const STEP_SLACK = 0.07;
const STEP_SLACK_SDS = 3;

/** Why a departure is no news. */
export type KnownReason = "recurring" | "short_lived" | "known_step" | "known_level" | "expected";

/** A departure that is no news, and how long it may last before it is. */
export interface Known {
  readonly reason: KnownReason;
  readonly lastsMs: number;
}

/** A departure at its first value; `size` in standard deviations. Times are those of the clock on the wall. */
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
  /** The event of a season of the series' own is missing, or another one: what came at its gaps is in the season. */
  readonly isMissed: boolean;
  /** Less than a day of the series is known: a burst of few values that it has for the second time may be its habit. */
  readonly isYoung: boolean;
}

/** One that is over: what it went from and to, its largest size and value off, and whether the series has stayed there. */
export interface EndedDeparture {
  readonly startedMs: number;
  readonly endedMs: number;
  readonly intervalMs: number;
  readonly side: number;
  readonly from: number;
  readonly to: number;
  readonly peak: number;
  readonly peakValue: number;
  readonly hasStayed: boolean;
}

/** Over caller-owned state of KNOWN_DEPARTURES_LENGTH and MORE_DEPARTURES_LENGTH numbers, all 0 at the start. */
export class KnownDepartures {
  readonly #floats: Float64Array;
  readonly #numbers: Float32Array;
  readonly #more: Float64Array;
  readonly #moreNumbers: Float32Array;
  readonly #shorts: readonly [ShortDepartures, ShortDepartures];

  constructor(floats: Float64Array, more: Float64Array) {
    this.#floats = floats;
    this.#numbers = numbersOf(floats);
    this.#more = more;
    this.#moreNumbers = numbersOf(more);
    const shortsOf = (side: number): ShortDepartures => {
      const [at, moreAt] = [SHORT_AT + side * SHORT_LENGTH, MORE_RETAINED * DEPARTURE_LENGTH + side * MORE_SHORT_LENGTH];
      return new ShortDepartures(floats.subarray(at, at + SHORT_LENGTH), more.subarray(moreAt, moreAt + MORE_SHORT_LENGTH));
    };
    this.#shorts = [shortsOf(0), shortsOf(1)];
  }

  /** Why the departure is no news; null where it is. */
  find(of: Departure): Known | null {
    const shorts = this.#shortsTo(of.side);
    const burstMs = Math.min(SHORT_MS, longer(BURST_INTERVALS * of.intervalMs, of.intervalMs));
    if (!of.isMissed && shorts.isBurst(of)) return { reason: "short_lived", lastsMs: burstMs };
    const isFall = isFallToNothing(of.value, of.expected);
    if (!isFall && !of.isOfSeason && this.#isKnownStep(of)) return { reason: of.hasLevels ? "known_level" : "known_step", lastsMs: 0 };
    const earlier = this.#like(of);
    const habitMs = of.isMissed ? clockMs : recurringMs;
    const weekMs = isFall ? 0 : mondayMs(of.timeMs, earlier, of.intervalMs);
    const lastedMs = Math.max(habitMs(earlier, of.intervalMs, isFall ? 1 : 0), of.isMissed ? 0 : shorts.longestMs(of), weekMs);
    // What comes each evening is over a weekend as long as that is.
    const lastsMs = Math.max(lastedMs > 0 ? longer(lastedMs, of.intervalMs) : 0, weekendMs(of.timeMs, earlier));
    return lastsMs > 0 ? { reason: "recurring", lastsMs } : null;
  }

  /** Takes one that is over. */
  add(of: EndedDeparture): void {
    const at = (this.#floats[NEXT] as number) % DEPARTURES_RETAINED;
    this.#floats[NEXT] = (this.#floats[NEXT] as number) + 1;
    const lastedMs = Math.max(1, of.endedMs - of.startedMs);
    this.#setTime(at, of.startedMs);
    this.#setNumber(at, FROM, of.from);
    this.#setNumber(at, TO, of.to);
    this.#setNumber(at, PEAK, of.side * of.peak);
    this.#setNumber(at, LASTED, of.hasStayed ? -lastedMs : lastedMs);
    if (!of.hasStayed && lastedMs <= SHORT_MS) this.#shortsTo(of.side).add(of);
  }

  /** The series has a level for a while. */
  holdsLevel(value: number, timeMs: number): void {
    let oldest = LEVELS_AT;
    for (let at = LEVELS_AT; at < NEXT; at += LEVEL_LENGTH) {
      if (this.#floats[at] === value && this.#floats[at + 1] !== 0) {
        this.#floats[at + 1] = timeMs;
        return;
      }
      if ((this.#floats[at + 1] as number) < (this.#floats[oldest + 1] as number)) oldest = at;
    }
    this.#floats[oldest] = value;
    this.#floats[oldest + 1] = timeMs;
  }

  #shortsTo(side: number): ShortDepartures {
    return this.#shorts[side < 0 ? 1 : 0];
  }

  /** Departures before to the same side, no less than half as far. */
  #like({ timeMs, side, size, value, expected, hasLevels, isMissed }: Departure): EarlierDeparture[] {
    const found: EarlierDeparture[] = [];
    for (let i = 0; i < DEPARTURES_RETAINED; i++) {
      const ageMs = timeMs - this.#time(i);
      const peak = side * this.#number(i, PEAK);
      if (this.#time(i) === 0 || ageMs <= 0 || peak <= 0) continue;
      const step = Math.abs(this.#number(i, TO) - this.#number(i, FROM));
      if ((isMissed || hasLevels || size >= LIKE_SIZE * peak) && Math.abs(value - expected) >= LIKE_VALUE * step) continue;
      found.push({ ageMs, lastedMs: Math.abs(this.#number(i, LASTED)) });
    }
    return found;
  }

  /** Whether the series comes to a level that it has had, by a step that it has taken, or, where its levels are exact, by one of a size that it has taken often enough. */
  #isKnownStep(of: Departure): boolean {
    if (of.hasLevels && this.#isKnownLevel(of)) return true;
    let steps = 0;
    for (let i = 0; i < DEPARTURES_RETAINED; i++) {
      const ageMs = of.timeMs - this.#time(i);
      if (this.#time(i) === 0 || ageMs < 0 || ageMs > REMEMBERED_MS || this.#number(i, LASTED) >= 0) continue;
      if (this.#isSameStep(i, of, ageMs)) return true;
      const size = Math.abs(this.#number(i, TO) - this.#number(i, FROM));
      if (Math.abs(of.value - of.expected) <= (1 + STEP_SIZE_SHARE) * size) steps++;
    }
    return of.hasLevels && steps >= STEPS_KNOWN;
  }

  #isKnownLevel({ value, timeMs }: Departure): boolean {
    for (let at = LEVELS_AT; at < NEXT; at += LEVEL_LENGTH) {
      const seenMs = this.#floats[at + 1] as number;
      if (seenMs !== 0 && this.#floats[at] === value && timeMs - seenMs <= REMEMBERED_MS) return true;
    }
    return false;
  }

  #isSameStep(i: number, { value, expected, sd }: Departure, ageMs: number): boolean {
    const [from, to] = [this.#number(i, FROM), this.#number(i, TO)];
    const slack = Math.max(STEP_SLACK_SDS * sd, STEP_SLACK * Math.abs(to - from));
    const isThere = Math.abs(value - to) <= slack && Math.abs(expected - from) <= slack;
    const isBack = Math.abs(value - from) <= slack && Math.abs(expected - to) <= slack;
    return isThere || (isBack && ageMs <= BACK_MS && this.#number(i, LASTED) <= -LONG_MS);
  }

  #time(i: number): number {
    return (
      i < FIRST_RETAINED ? this.#floats[i * DEPARTURE_LENGTH + TIME] : this.#more[(i - FIRST_RETAINED) * DEPARTURE_LENGTH + TIME]
    ) as number;
  }

  #setTime(i: number, timeMs: number): void {
    if (i < FIRST_RETAINED) this.#floats[i * DEPARTURE_LENGTH + TIME] = timeMs;
    else this.#more[(i - FIRST_RETAINED) * DEPARTURE_LENGTH + TIME] = timeMs;
  }

  #number(i: number, which: number): number {
    return (i < FIRST_RETAINED ? this.#numbers[numberAt(i, which)] : this.#moreNumbers[numberAt(i - FIRST_RETAINED, which)]) as number;
  }

  #setNumber(i: number, which: number, value: number): void {
    if (i < FIRST_RETAINED) this.#numbers[numberAt(i, which)] = value;
    else this.#moreNumbers[numberAt(i - FIRST_RETAINED, which)] = value;
  }
}

function numberAt(i: number, which: number): number {
  return 2 * i * DEPARTURE_LENGTH + FIRST_NUMBER + which;
}

function numbersOf(floats: Float64Array): Float32Array {
  return new Float32Array(floats.buffer, floats.byteOffset, 2 * floats.length);
}
