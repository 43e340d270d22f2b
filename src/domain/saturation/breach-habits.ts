// Breaches of headroom that a series has had, each with its begin, its duration and how far it went, and whether one at hand comes as they did. A function of the samples
// alone: what is aggregated from the store again is the same, as far as samples are kept; those that are older are recalled. They are remembered for three weeks, so that one of
// each week is known as one.
import { DAY_MS, HOUR_MS, MINUTE_MS, WEEK_MS } from "../../core/time/durations.ts";
import { type EarlierDeparture, longer, recurringMs } from "../detection/departure/recurrence.ts";
import { SHORT_MS, SHORTS_MIN } from "../detection/departure/short-departures.ts";
import { HEADROOM_CLEAR, HEADROOM_FLOOR } from "./level-rules.ts";

/** One each hour is remembered for two days, which is what the rhythm of days needs beside it. */
const BREACHES_REMEMBERED = 48;
const BREACH_NUMBERS = 3;
/** Of the one at hand: its first minute, 0 for none, and the level that was its highest; then the place of the next. */
const OPEN_SINCE = BREACHES_REMEMBERED * BREACH_NUMBERS;
const OPEN_PEAK = OPEN_SINCE + 1;
const NEXT = OPEN_SINCE + 2;
/** How many numbers BreachHabits works on. */
export const BREACH_HABITS_NUMBERS = NEXT + 1;

/** Two that came a week and two weeks before make a habit of a week; those of full capacity need a third. */
export const BREACHES_REMEMBERED_MS = 3 * WEEK_MS + DAY_MS;
/** A breach is like one before that went no less deep by more than this share of the capacity. */
const DEEPER_MAX = 0.03;
/** Those of full capacity must have come one time more. */
const FULL = 1;
/** Short ones at random times are what a series does after so many within two days. */
const SHORTS_MS = 48 * HOUR_MS;
/** Breaches keep a beat where so much of their gaps are equal within that share, or so many intervals. */
const BEAT_MIN = 0.75;
const BEAT_SHARE = 0.02;
const BEAT_INTERVALS = 2;
/** What is full for more of the time than this is no habit: it is full. */
const FULL_TIME_MAX = 0.5;

/** One that is over: its first minute, how many it lasted, and the level that was its highest. */
export interface Breach {
  readonly minute: number;
  readonly minutes: number;
  readonly level: number;
}

/** Share of the capacity that a level of the history is. */
export type ShareOf = (level: number) => number;

/** Over caller-owned state of BREACH_HABITS_NUMBERS numbers, all 0 at the start. */
export class BreachHabits {
  readonly #numbers: Float64Array;

  constructor(numbers: Float64Array) {
    this.#numbers = numbers;
  }

  get isOpen(): boolean {
    return this.#numbers[OPEN_SINCE] !== 0;
  }

  /** Those that are over, oldest first, and began before a minute. */
  before(minute: number): Breach[] {
    return this.#all().filter((breach) => breach.minute < minute);
  }

  /** Remembers breaches of before that none of those which it has seen is a part of: samples no longer show them. */
  recall(breaches: readonly Breach[]): void {
    const seen = this.#all();
    const openSince = this.isOpen ? (this.#numbers[OPEN_SINCE] as number) : Number.POSITIVE_INFINITY;
    const isSeen = (old: Breach) => endOf(old) > openSince || seen.some((one) => old.minute < endOf(one) && one.minute < endOf(old));
    const all = [...breaches.filter((old) => !isSeen(old)), ...seen].sort((a, b) => a.minute - b.minute);
    this.#numbers.fill(0, 0, OPEN_SINCE);
    this.#numbers[NEXT] = 0;
    for (const breach of all.slice(-BREACHES_REMEMBERED)) this.#add(breach);
  }

  /** Takes the level at the end of a minute. */
  take(minute: number, level: number, shareOf: ShareOf): void {
    const numbers = this.#numbers;
    const share = shareOf(level);
    if (!this.isOpen && share >= HEADROOM_FLOOR) numbers.set([Math.max(1, minute), level], OPEN_SINCE);
    else if (this.isOpen && share < HEADROOM_CLEAR) this.#close(minute);
    else if (this.isOpen) numbers[OPEN_PEAK] = Math.max(numbers[OPEN_PEAK] as number, level);
  }

  /** Whether a breach that has this level at this minute comes as those before: at its time, no longer and no deeper. */
  isKnown(minute: number, level: number, shareOf: ShareOf, intervalMs: number): boolean {
    const since = this.isOpen ? (this.#numbers[OPEN_SINCE] as number) : minute;
    const deepest = shareOf(this.isOpen ? Math.max(level, this.#numbers[OPEN_PEAK] as number) : level);
    const all = this.#before(since, shareOf);
    const oldestMs = Math.max(0, ...all.map(({ ageMs }) => ageMs));
    if (all.reduce((sum, { lastedMs }) => sum + lastedMs, 0) > FULL_TIME_MAX * oldestMs) return false;
    const like = all.filter(({ peak }) => deepest <= peak + DEEPER_MAX);
    const extra = deepest >= FULL ? 1 : 0;
    const lastedMs = Math.max(recurringMs(like, intervalMs, extra), shortsMs(like, intervalMs, SHORTS_MIN + extra));
    return lastedMs > 0 && (minute - since) * MINUTE_MS <= longer(lastedMs, intervalMs);
  }

  /** Those that a series with this capacity has had, by how long before the minute they began. */
  #before(minute: number, shareOf: ShareOf): Array<EarlierDeparture & { readonly peak: number }> {
    return this.#all()
      .map((breach) => ({
        ageMs: (minute - breach.minute) * MINUTE_MS,
        lastedMs: breach.minutes * MINUTE_MS,
        peak: shareOf(breach.level),
      }))
      .filter(({ ageMs, peak }) => ageMs > 0 && ageMs <= BREACHES_REMEMBERED_MS && peak >= HEADROOM_FLOOR);
  }

  /** All that are over, oldest first. */
  #all(): Breach[] {
    const next = this.#numbers[NEXT] as number;
    const count = Math.min(next, BREACHES_REMEMBERED);
    return Array.from({ length: count }, (_, i) => {
      const at = ((next - count + i) % BREACHES_REMEMBERED) * BREACH_NUMBERS;
      const [minute, minutes, level] = this.#numbers.subarray(at, at + BREACH_NUMBERS) as unknown as [number, number, number];
      return { minute, minutes, level };
    });
  }

  #close(minute: number): void {
    const numbers = this.#numbers;
    const [since, level] = [numbers[OPEN_SINCE] as number, numbers[OPEN_PEAK] as number];
    this.#add({ minute: since, minutes: Math.max(1, minute - since), level });
    numbers[OPEN_SINCE] = 0;
  }

  #add({ minute, minutes, level }: Breach): void {
    const next = this.#numbers[NEXT] as number;
    this.#numbers.set([minute, minutes, level], (next % BREACHES_REMEMBERED) * BREACH_NUMBERS);
    this.#numbers[NEXT] = next + 1;
  }
}

function endOf({ minute, minutes }: Breach): number {
  return minute + minutes;
}

/** Duration of the longest of short ones at random times, ms; 0 where there were fewer than so many in the days before, or where they keep a beat that this one misses. */
function shortsMs(earlier: readonly EarlierDeparture[], intervalMs: number, times: number): number {
  const shorts = earlier.filter(({ ageMs, lastedMs }) => ageMs <= SHORTS_MS && lastedMs <= SHORT_MS);
  return shorts.length < times || keepBeat(shorts, intervalMs) ? 0 : Math.max(...shorts.map(({ lastedMs }) => lastedMs));
}

/** Whether most lie as far from one another as the middle of them. */
function keepBeat(breaches: readonly EarlierDeparture[], intervalMs: number): boolean {
  const ages = breaches.map(({ ageMs }) => ageMs).sort((a, b) => a - b);
  const gaps = ages.slice(1).map((ageMs, i) => ageMs - (ages[i] as number));
  const middle = [...gaps].sort((a, b) => a - b)[gaps.length >> 1] as number;
  const slack = Math.max(BEAT_INTERVALS * intervalMs, BEAT_SHARE * middle);
  return gaps.filter((gap) => Math.abs(gap - middle) <= slack).length >= BEAT_MIN * gaps.length;
}
