// Short departures to one side, that ended by themselves. Bursts of a few values are what a series does after two of them in 20 hours, for they are forgiven no longer
// than they lasted; longer ones after ten in two days.

import { HOUR_MS, MINUTE_MS } from "../../../core/time/durations.ts";

/** Over so soon, a departure has ended by itself before anybody could have looked. */
export const SHORT_MS = 20 * MINUTE_MS;
const BURST_INTERVALS = 3.01;
/** Bursts, each within this time of the one before, of a series of which a day is known, and of a younger one. */
const BURST_REMEMBERED_MS = 20 * HOUR_MS;
const BURSTS_MIN = 2;
const BURSTS_MIN_YOUNG = 1;
const WINDOW_MS = 48 * HOUR_MS;
/** Short departures within two days behind which the next one is no news. */
export const SHORTS_MIN = 10;
/** A departure is like one before up to so many times its size, in standard deviations or in values. */
const LIKE_SIZE = 2;
const LIKE_VALUE = 1.3;

/** Of bursts: when the newest was over, its size (two numbers of single precision), and how many. */
export const SHORT_LENGTH = 3;
const ENDED = 0;
const SIZES = 1;
const BURSTS = 2;
/** Of all: begin of the window of two days, end of the newest, size, and in single precision how many in the window and the longest. */
export const MORE_SHORT_LENGTH = 4;
const WINDOW = 0;
const NEWEST = 1;
const ALL_SIZES = 2;
const COUNTS = 3;

/** A departure at its first value, as it is compared with those before. */
interface Newcomer {
  readonly timeMs: number;
  readonly value: number;
  readonly expected: number;
  readonly size: number;
  readonly isYoung: boolean;
}

/** A short one that is over. */
interface EndedShort {
  readonly startedMs: number;
  readonly endedMs: number;
  readonly intervalMs: number;
  readonly peak: number;
  readonly peakValue: number;
}

/** Over caller-owned state of SHORT_LENGTH and MORE_SHORT_LENGTH numbers, all 0 at the start. */
export class ShortDepartures {
  readonly #bursts: Float64Array;
  readonly #burstSizes: Float32Array;
  readonly #all: Float64Array;
  readonly #allSizes: Float32Array;
  readonly #counts: Float32Array;

  constructor(bursts: Float64Array, all: Float64Array) {
    this.#bursts = bursts;
    this.#burstSizes = pairOf(bursts, SIZES);
    this.#all = all;
    this.#allSizes = pairOf(all, ALL_SIZES);
    this.#counts = pairOf(all, COUNTS);
  }

  /** Whether the departure is one of bursts that the series has. */
  isBurst({ timeMs, value, expected, size, isYoung }: Newcomer): boolean {
    const isKnown = (this.#bursts[BURSTS] as number) >= (isYoung ? BURSTS_MIN_YOUNG : BURSTS_MIN);
    return isKnown && timeMs - (this.#bursts[ENDED] as number) <= BURST_REMEMBERED_MS && isLike(this.#burstSizes, size, value - expected);
  }

  /** Duration of the longest of the short departures that this one may be one of, ms; 0 where there were too few. */
  longestMs({ timeMs, value, expected, size }: Newcomer): number {
    const isKnown = (this.#counts[0] as number) >= SHORTS_MIN && timeMs - (this.#all[NEWEST] as number) <= WINDOW_MS;
    return isKnown && isLike(this.#allSizes, size, value - expected) ? (this.#counts[1] as number) : 0;
  }

  /** Takes one that is over. */
  add(of: EndedShort): void {
    if (isBurstLong(of.endedMs - of.startedMs, of.intervalMs)) this.#addBurst(of);
    const { startedMs, endedMs, peak, peakValue } = of;
    const isNew = endedMs - (this.#all[WINDOW] as number) > WINDOW_MS;
    const isHabit = (this.#counts[0] as number) >= SHORTS_MIN && endedMs - (this.#all[NEWEST] as number) <= WINDOW_MS;
    if (isNew && !isHabit) {
      this.#all[WINDOW] = endedMs;
      this.#allSizes.fill(0);
      this.#counts.fill(0);
    }
    this.#all[NEWEST] = endedMs;
    this.#counts[0] = Math.min(SHORTS_MIN, (this.#counts[0] as number) + 1);
    this.#counts[1] = Math.max(this.#counts[1] as number, endedMs - startedMs);
    enlarge(this.#allSizes, peak, peakValue);
  }

  #addBurst({ endedMs, peak, peakValue }: EndedShort): void {
    const isRecent = endedMs - (this.#bursts[ENDED] as number) <= BURST_REMEMBERED_MS;
    this.#bursts[ENDED] = endedMs;
    this.#bursts[BURSTS] = isRecent ? (this.#bursts[BURSTS] as number) + 1 : 1;
    if (!isRecent) this.#burstSizes.fill(0);
    enlarge(this.#burstSizes, peak, peakValue);
  }
}

/** Whether a departure was as short as a burst of a few values. */
export function isBurstLong(lastedMs: number, intervalMs: number): boolean {
  return lastedMs <= BURST_INTERVALS * intervalMs && lastedMs <= SHORT_MS;
}

function pairOf(floats: Float64Array, at: number): Float32Array {
  return new Float32Array(floats.buffer, floats.byteOffset + 8 * at, 2);
}

function enlarge(sizes: Float32Array, peak: number, peakValue: number): void {
  sizes[0] = Math.max(sizes[0] as number, peak);
  sizes[1] = Math.max(sizes[1] as number, peakValue);
}

function isLike(sizes: Float32Array, size: number, difference: number): boolean {
  return size < LIKE_SIZE * (sizes[0] as number) || Math.abs(difference) < LIKE_VALUE * (sizes[1] as number);
}
