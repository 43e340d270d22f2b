// Silences that a service has shown, and how long one that begins at a time is usual by them: at the same hours of the day or of the week, over a weekend, at equal gaps
// of its own, or at random where it is silent so often. One silence is no habit, and none may be longer than those before (decisions, section 2).
import { SILENCES_REMEMBERED_MAX } from "../../../core/config/limits.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, WEEK_MS } from "../../../core/time/durations.ts";
import { type EarlierDeparture, equalGapsMs, weekendMs } from "../departure/recurrence.ts";
import type { OffsetMs } from "../seasonal/time-zone-hours.ts";

/** Periods of the calendar and how many of them are looked back; a silence at its time must have been there in so many, and in more than half of them. */
const CLOCKS = [
  { periodMs: DAY_MS, periods: 7, times: 3 },
  { periodMs: WEEK_MS, periods: 3, times: 3 },
];
/** One that begins so much earlier than those before is one of them. */
const EARLY_MS = 20 * MINUTE_MS;
/** One may last longer than is usual by this share of it, or by a multiple of how far those before differ, but by no more than an hour. */
const LONGER_SHARE = 0.1;
const LONGER_SPREADS = 3;
const LONGER_MS_MAX = HOUR_MS;
/** A silence of a weekend lasts no shorter. */
const WEEKEND_MS_MIN = DAY_MS;
/** Silences at equal gaps, and what one at the next gap may last beyond them, as a share and in intervals. */
const EQUAL_TIMES = 4;
const EQUAL_LONGER_SHARE = 0.5;
const EQUAL_LONGER_INTERVALS = 3;
/** So many silences within two days are what a service does, wherever they fall; of a service of which less than a day is known, fewer; or so many among its newest gaps. */
const RANDOM_TIMES = 11;
const RANDOM_TIMES_YOUNG = 2;
const RANDOM_TIMES_RECENT = 3;
const RANDOM_MS = 2 * DAY_MS;
const RANDOM_LONGER = 1.5;

/** A silence that goes on, and the rhythm of its service. */
export interface OngoingSilence {
  readonly sinceMs: number;
  /** First arrival of the service. */
  readonly knownSinceMs: number;
  readonly usualIntervalMs: number;
  /** Silence that is none of its ordinary gaps. */
  readonly limitMs: number;
  /** Longer gaps among its newest. */
  readonly recent: number;
}

/** The silences of one service, the newest SILENCES_REMEMBERED_MAX. */
export class SilenceHabits {
  readonly #offsetMs: OffsetMs;
  /** Begin and end, in turns, oldest first. */
  #times: number[] = [];

  /** `offsetMs` is that of the clock on the wall. */
  constructor(offsetMs: OffsetMs) {
    this.#offsetMs = offsetMs;
  }

  /** Begin and end of each, in turns, oldest first. */
  get times(): readonly number[] {
    return this.#times;
  }

  add(fromMs: number, toMs: number): void {
    this.#times.push(fromMs, toMs);
    if (this.#times.length > 2 * SILENCES_REMEMBERED_MAX) this.#times = this.#times.slice(2);
  }

  /** Duration up to which the silence is usual, ms; 0 where it is not. It hangs on its begin alone. */
  usualMs(of: OngoingSilence): number {
    if (this.#times.length === 0) return 0;
    // Of the first sample that is missing: where the clock leaps, it may do so between the two.
    const localMs = this.#local(of.sinceMs + of.usualIntervalMs) - of.usualIntervalMs;
    const weekends = this.#earlier(localMs, (timeMs) => this.#local(timeMs)).filter(({ lastedMs }) => lastedMs >= WEEKEND_MS_MIN);
    const equalMs = equal(
      this.#earlier(of.sinceMs, (timeMs) => timeMs),
      of.usualIntervalMs,
    );
    return Math.max(this.#byClocks(localMs, of), weekendMs(localMs, weekends), equalMs, this.#atRandom(of));
  }

  #local(timeMs: number): number {
    return timeMs + this.#offsetMs(timeMs);
  }

  /** Those before a time, by the clock that `read` reads. */
  #earlier(timeMs: number, read: (timeMs: number) => number): EarlierDeparture[] {
    const found: EarlierDeparture[] = [];
    for (let at = this.#times.length - 2; at >= 0; at -= 2) {
      const fromMs = read(this.#times[at] as number);
      found.push({ ageMs: timeMs - fromMs, lastedMs: read(this.#times[at + 1] as number) - fromMs });
    }
    return found;
  }

  #byClocks(localMs: number, of: OngoingSilence): number {
    const isFull = this.#times.length === 2 * SILENCES_REMEMBERED_MAX;
    const knownSinceMs = this.#local(isFull ? Math.max(of.knownSinceMs, this.#times[0] as number) : of.knownSinceMs);
    return CLOCKS.reduce((most, clock) => Math.max(most, this.#byClock(localMs, knownSinceMs, clock, of.limitMs)), 0);
  }

  /** What the silences of the periods before had left at this time: their median is usual. */
  #byClock(localMs: number, knownSinceMs: number, { periodMs, periods, times }: (typeof CLOCKS)[number], limitMs: number): number {
    const rests: number[] = [];
    const ends = new Set<number>();
    for (let back = 1; back <= periods && localMs - back * periodMs >= knownSinceMs; back++) {
      const atMs = localMs - back * periodMs;
      const restMs = this.#restAt(atMs, Math.max(EARLY_MS, limitMs));
      rests.push(restMs);
      if (restMs > 0) ends.add(atMs + restMs);
    }
    rests.sort((a, b) => b - a);
    const usualMs = rests[rests.length >> 1] ?? 0;
    // One that went on for days is one.
    if (usualMs === 0 || ends.size < times) return 0;
    const shortMs = rests[Math.floor((3 * rests.length) / 4)] || usualMs;
    const longerMs = Math.max(LONGER_SHARE * usualMs, LONGER_SPREADS * (usualMs - shortMs));
    return usualMs + Math.max(limitMs, Math.min(LONGER_MS_MAX, longerMs));
  }

  /** Time from a moment on that a silence lasted which was on, or began up to `earlyMs` later; 0 where there was none. */
  #restAt(localMs: number, earlyMs: number): number {
    let mostMs = 0;
    for (let at = 0; at < this.#times.length; at += 2) {
      if (this.#local(this.#times[at] as number) - earlyMs > localMs) continue;
      mostMs = Math.max(mostMs, this.#local(this.#times[at + 1] as number) - localMs);
    }
    return mostMs;
  }

  #atRandom({ sinceMs, knownSinceMs, recent }: OngoingSilence): number {
    const isYoung = sinceMs - knownSinceMs < DAY_MS;
    let [count, longestMs] = [0, 0];
    for (let at = this.#times.length - 2; at >= 0; at -= 2) {
      const [fromMs, toMs] = [this.#times[at] as number, this.#times[at + 1] as number];
      if (sinceMs - toMs > RANDOM_MS && count >= recent) break;
      count++;
      longestMs = Math.max(longestMs, toMs - fromMs);
    }
    const isHabit = count >= RANDOM_TIMES || (isYoung && count >= RANDOM_TIMES_YOUNG) || recent >= RANDOM_TIMES_RECENT;
    return isHabit ? RANDOM_LONGER * longestMs : 0;
  }
}

/** How long one may last that comes at the next of equal gaps; 0 where those before had none. */
function equal(earlier: readonly EarlierDeparture[], intervalMs: number): number {
  const longestMs = equalGapsMs(earlier, intervalMs, EQUAL_TIMES);
  if (longestMs === 0) return 0;
  return longestMs + Math.min(LONGER_MS_MAX, EQUAL_LONGER_SHARE * longestMs) + EQUAL_LONGER_INTERVALS * intervalMs;
}
