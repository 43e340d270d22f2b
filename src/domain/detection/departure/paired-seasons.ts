// Two periods at once: what a value should be where the series is the sum of two courses that repeat, as of a job each 53 minutes beside the load of the day. The octaves
// of the series show their periods; what one course leaves over is the other's, and both are learned together. Where one period is all there is, others know it better.
//
// 472 bytes; a value costs 0.2 us, 0.4 where two periods are known.

import { DAY_MS } from "../../../core/time/durations.ts";
import type { RecentValues } from "../rolling/recent-values.ts";
import { isLike, OCTAVE_SINGLES, OCTAVES, Octaves } from "./octaves.ts";
import { COURSE_DOUBLES, COURSE_SINGLES, RepeatedCourse } from "./repeated-course.ts";
import type { ValueMoment } from "./value-moment.ts";

const DOUBLES = OCTAVES + 2 * COURSE_DOUBLES;
/**
 * Numbers of single precision of its own: the level, the mean error, two counts, the spread with which they began to speak (negative while they do not, 0 where they never
 * did), and the mean square of what STRETCH values together are off by.
 */
const MIDDLE = 0;
const ERROR = 1;
const COUNTS = 2;
const SPOKE = 3;
const STRETCH_VARIANCE = 4;
const OWN_SINGLES = 5;
/** The counts in one number: values without a gap before them, fewer than ROWS_MAX, and that many times the values that the mean error is of. */
const ROWS_MAX = 64;
const VALUES_MAX = 500;
const SINGLES = OCTAVE_SINGLES + 2 * COURSE_SINGLES + OWN_SINGLES;
export const PAIRED_SEASONS_DOUBLES = DOUBLES + Math.ceil(SINGLES / 2);

/** A period so near a day is the day. */
const DAY_SHARE = 0.1;
const NO_OCTAVE = -1;
const LEVEL_WEIGHT = 0.01;
const ERROR_WEIGHT = 0.003;
/** Periods of the quick course and of the slow one before they say anything, and before they say what every value should be. */
const CREDIBLE_CYCLES = [8, 1.5] as const;
const SPEAKING_CYCLES = [15, 2.2] as const;
/** Share of the smaller error of others that theirs has to be below to begin to speak, and to go on. */
const BEGIN_SHARE = 0.8;
const GO_ON_SHARE = 0.95;
/** Multiple of the error of levels up to which they are believed beside those. */
const CREDIBLE_TIMES = 1.5;
/** The error of a season of one period counts for so much: where that is not far off, there is no second one. */
const ONE_PERIOD_SHARE = 0.6;
/** Of the larger swing, what the smaller one has to be. */
const BOTH_SHARE = 0.25;
/** Shares of both swings: an error that is small, whatever levels have while nothing happens; the finest spread that parts can show; and what an error counts for at least. */
const PRECISE_SHARE = 0.05;
const FINEST_SHARE = 0.015;
const CLIP_SHARE = 0.2;
/** Multiple of the finest spread from which on noise is the larger part of it. */
const NOISE_TIMES = 2;
/** Spreads that a value moves parts by at most, once they speak. */
const PART_CLIP = 8;
/** Share of what the octaves move by that two periods may leave over. */
const OFF_SHARE = 0.75;
/** A value that comes after so many intervals comes after a gap, and begins a row. */
const GAP_INTERVALS = 1.5;
/** Values of which the mean is learned, the weight of one, and at how many standard deviations it is clipped once VALUES_MAX are known. */
const STRETCH = 5;
const STRETCH_WEIGHT = 1 / 500;
const STRETCH_CLIP = 3;
/** Values in a row to one side: how many, each by so many standard deviations at least, and by how many on the whole. */
const ROWS = [
  { values: 5, least: 1.5, mean: 3 },
  { values: 9, least: 0.5, mean: 2.4 },
] as const;
/** Values in a row that are all far off to one side: parts which meet an edge too early or late make fewer. */
const FAR_ROW = 7;

/** Over caller-owned state of PAIRED_SEASONS_DOUBLES numbers, all 0 at the start. */
export class PairedSeasons {
  readonly #octaves: Octaves;
  readonly #quick: RepeatedCourse;
  readonly #slow: RepeatedCourse;
  readonly #own: Float32Array;
  /** Value that is expected, the nearest that both allow around its time; NaN where no two periods are known. */
  expected = Number.NaN;
  /** Mean of values in a row that lie off, and the standard deviation of such means. */
  rowMean = 0;
  rowSd = 0;
  #timeMs = 0; // of the value that was forecast
  #value = 0;
  #intervalMs = 0;

  constructor(state: Float64Array) {
    const singles = new Float32Array(state.buffer, state.byteOffset + 8 * DOUBLES, SINGLES);
    const courseOf = (nth: number): RepeatedCourse => {
      const [double, single] = [OCTAVES + nth * COURSE_DOUBLES, OCTAVE_SINGLES + nth * COURSE_SINGLES];
      return new RepeatedCourse(state.subarray(double, double + COURSE_DOUBLES), singles.subarray(single, single + COURSE_SINGLES));
    };
    this.#octaves = new Octaves(state.subarray(0, OCTAVES), singles.subarray(0, OCTAVE_SINGLES));
    this.#quick = courseOf(0);
    this.#slow = courseOf(1);
    this.#own = singles.subarray(SINGLES - OWN_SINGLES);
  }

  /** The quick one first; 0 for none. */
  get periodsMs(): readonly [number, number] {
    return [this.#quick.periodMs, this.#slow.periodMs];
  }

  get #values(): number {
    return Math.floor((this.#own[COUNTS] as number) / ROWS_MAX);
  }

  get #row(): number {
    return (this.#own[COUNTS] as number) % ROWS_MAX;
  }

  /** Mean error; infinite until both courses have been seen for some periods. */
  get error(): number {
    return this.#values > 0 && this.#haveSeen(CREDIBLE_CYCLES) ? (this.#own[ERROR] as number) : Number.POSITIVE_INFINITY;
  }

  /** Mean absolute deviation of values: no finer than parts can say. */
  get spread(): number {
    return Math.max(this.error, FINEST_SHARE * this.#swing);
  }

  /** Whether they say what values should be. */
  get speak(): boolean {
    return (this.#own[SPOKE] as number) > 0;
  }

  /** Whether both have been seen for so long that nothing of an incident is learned any more. */
  get isFormed(): boolean {
    return this.speak || this.#haveSeen(SPEAKING_CYCLES);
  }

  /** Whether they say something of a value, though levels with this error may know better. */
  isCredible(ofLevels: number): boolean {
    return this.#values > 0 && this.#areTwo && this.error < CREDIBLE_TIMES * Math.max(ofLevels, PRECISE_SHARE * this.#swing);
  }

  /**
   * Compares them with the errors of levels and of a season of one period; whether they begin to speak now, or with half the spread that they began with. Where they only
   * speak again, what is known of how far values stray holds: it would be forgotten each time that two forecasts are about as good as each other.
   */
  compete(ofLevels: number, ofSeason: number): boolean {
    if (this.#values === 0) return false;
    const spoke = this.#own[SPOKE] as number;
    const share = spoke > 0 ? GO_ON_SHARE : BEGIN_SHARE;
    const bar = share * Math.min(ONE_PERIOD_SHARE * ofSeason, Math.max(ofLevels, PRECISE_SHARE * this.#swing));
    if (!(this.error < bar) || !this.#areTwo || !this.#haveSeen(SPEAKING_CYCLES)) {
      this.#own[SPOKE] = -Math.abs(spoke);
      return false;
    }
    const { spread } = this;
    const isFiner = spoke === 0 || spread <= Math.abs(spoke) / 2;
    this.#own[SPOKE] = isFiner ? spread : Math.abs(spoke);
    return isFiner && this.speak;
  }

  #haveSeen([quick, slow]: readonly [number, number]): boolean {
    return this.#quick.cycles >= quick && this.#slow.cycles >= slow;
  }

  /** Whether both courses move the series. */
  get #areTwo(): boolean {
    const [quick, slow] = [this.#quick.swing, this.#slow.swing];
    const least = BOTH_SHARE * Math.max(quick, slow);
    return least > 0 && Number.isFinite(quick + slow) && Math.min(quick, slow) >= least;
  }

  get #swing(): number {
    return this.#quick.swing + this.#slow.swing;
  }

  /** Finds what a value of this time should be. */
  forecast(timeMs: number, value: number, { localMs, stepMs, intervalMs }: Pick<ValueMoment, "localMs" | "stepMs" | "intervalMs">): void {
    const row = stepMs > GAP_INTERVALS * intervalMs ? 1 : Math.min(ROWS_MAX - 1, this.#row + 1);
    this.#own[COUNTS] = (this.#own[COUNTS] as number) + row - this.#row;
    this.#timeMs = timeMs;
    this.#value = value;
    this.#intervalMs = intervalMs;
    this.expected = Number.NaN;
    if (this.#quick.periodMs === 0) return;
    this.#slow.clockOffsetMs = localMs - timeMs;
    const nearest = this.#nearest(timeMs, value);
    // Single precision holds no sum of the largest values.
    if (Number.isFinite(nearest)) this.expected = nearest;
    else this.forget();
  }

  #nearest(timeMs: number, value: number): number {
    this.#quick.forecast(timeMs);
    this.#slow.forecast(timeMs);
    const level = this.#own[MIDDLE] as number;
    return Math.max(level + this.#quick.low + this.#slow.low, Math.min(level + this.#quick.high + this.#slow.high, value));
  }

  /**
   * Whether the newest values in a row lie off to one side, and how far: `rowMean` and `rowSd`. Where what values are off by is more than noise they do not. `sd` is that of
   * one value; where values stray together as a rule, each counts as one that strays as much further as they do.
   */
  isRowOff({ newest, intervalMs }: Pick<ValueMoment, "newest" | "intervalMs">, timeMs: number, sd: number): boolean {
    if (!(this.error > NOISE_TIMES * FINEST_SHARE * this.#swing)) return false;
    const own = Math.max(sd, Math.sqrt(STRETCH * (this.#own[STRETCH_VARIANCE] as number)));
    for (const { values, least, mean } of ROWS) {
      if (this.#row < values) return false;
      this.rowSd = own / Math.sqrt(values);
      this.rowMean = this.#meanOff(newest, timeMs, intervalMs, values, least * own);
      if (Math.abs(this.rowMean) >= mean * own) return true;
    }
    return false;
  }

  /** Whether the newest values in a row are all off by so much to one side: they say together what the tail of single values, which edges have made, says of none. */
  isRowFar({ newest, intervalMs }: Pick<ValueMoment, "newest" | "intervalMs">, timeMs: number, far: number): boolean {
    return this.#row >= FAR_ROW && this.#meanOff(newest, timeMs, intervalMs, FAR_ROW, far) !== 0;
  }

  /** Mean of the newest so many values off what was to be expected; 0 where they do not all lie to one side, each by `least`. */
  #meanOff(newest: RecentValues, timeMs: number, intervalMs: number, values: number, least: number): number {
    let [side, sum] = [0, 0];
    for (let back = 0; back < values; back++) {
      const value = newest.before(back);
      const off = value - this.#nearest(timeMs - back * intervalMs, value);
      if (Math.abs(off) < least || off * side < 0) return 0;
      side = Math.sign(off);
      sum += off;
    }
    return sum / values;
  }

  /** Takes the value that was forecast, the `count`th of its series and the newest of `newest`; of an incident its octaves alone. An error counts for at most `errorMax`. */
  learn(count: number, isIncident: boolean, errorMax: number, newest?: RecentValues): void {
    const isKnown = this.#quick.periodMs !== 0;
    if (isKnown && !isIncident) {
      this.#learnError(this.#value, Math.max(errorMax, CLIP_SHARE * this.#swing));
      if (newest !== undefined && count % STRETCH === 0 && this.#row >= STRETCH) this.#learnStretch(newest);
      this.#learnParts(this.#timeMs, this.#value, this.#intervalMs);
    }
    const risen = this.#octaves.take(this.#timeMs, this.#value, count);
    if (risen === 0 || isIncident) return;
    if (isKnown) this.#follow(risen, this.#timeMs);
    this.#choose(this.#intervalMs);
  }

  /** Learns how far the newest values are off together. */
  #learnStretch(newest: RecentValues): void {
    let sum = 0;
    for (let back = 0; back < STRETCH; back++) {
      const value = newest.before(back);
      sum += value - this.#nearest(this.#timeMs - back * this.#intervalMs, value);
    }
    const values = this.#values;
    const variance = this.#own[STRETCH_VARIANCE] as number;
    const most = values < VALUES_MAX || variance === 0 ? Number.POSITIVE_INFINITY : STRETCH_CLIP ** 2 * variance;
    const square = Math.min(most, (sum / STRETCH) ** 2);
    this.#own[STRETCH_VARIANCE] = variance + Math.max(STRETCH_WEIGHT, STRETCH / Math.max(STRETCH, values)) * (square - variance);
  }

  #learnError(value: number, errorMax: number): void {
    const own = this.#own;
    const values = Math.min(VALUES_MAX, this.#values + 1);
    const error = Math.min(errorMax, Math.abs(value - this.expected));
    own[COUNTS] = values * ROWS_MAX + this.#row;
    own[ERROR] = (own[ERROR] as number) + Math.max(ERROR_WEIGHT, 1 / values) * (error - (own[ERROR] as number));
  }

  /** One course after the other takes its share of what both leave over. */
  #learnParts(timeMs: number, value: number, intervalMs: number): void {
    const own = this.#own;
    const most = this.speak ? PART_CLIP * this.spread : Number.POSITIVE_INFINITY;
    const left = value - (own[MIDDLE] as number) - this.#quick.heightAt(timeMs) - this.#slow.heightAt(timeMs);
    const ofSlow = this.#quick.learn(timeMs, Math.max(-most, Math.min(most, left)), intervalMs);
    own[MIDDLE] = (own[MIDDLE] as number) + LEVEL_WEIGHT * this.#slow.learn(timeMs, ofSlow, intervalMs);
  }

  #follow(risen: number, timeMs: number): void {
    for (const course of [this.#quick, this.#slow]) {
      if (course.octave !== NO_OCTAVE && (risen & (1 << course.octave)) !== 0) course.follow(timeMs);
      course.learnSwing();
    }
  }

  /** Takes the periods that the octaves show: where none is known the strongest and the day's, and in place of that another one. */
  #choose(intervalMs: number): void {
    const octaves = this.#octaves;
    if (Number.isFinite(this.error) && this.error > OFF_SHARE * octaves.move) this.forget();
    if (this.#quick.periodMs === 0) {
      const first = octaves.strongest(intervalMs, 0);
      if (first < 0 || isLike(octaves.gapMs(first), DAY_MS)) return;
      this.#begin(this.#quick, first);
      this.#begin(this.#slow, NO_OCTAVE);
    }
    if (this.#slow.octave !== NO_OCTAVE) return;
    const second = octaves.strongest(intervalMs, this.#quick.periodMs);
    const gap = second < 0 ? DAY_MS : octaves.gapMs(second);
    if (Math.abs(gap - DAY_MS) <= DAY_SHARE * DAY_MS) return;
    if (gap > this.#quick.periodMs) return this.#begin(this.#slow, second);
    this.#slow.copy(this.#quick);
    this.#begin(this.#quick, second);
  }

  #begin(course: RepeatedCourse, octave: number): void {
    course.begin(octave, this.#octaves.gapMs(octave), this.#octaves.roseMs(octave));
    this.#own.fill(0, ERROR);
  }

  /** The series has moved to another level, which so many of its newest values are of. */
  settle(newest: RecentValues, levelValues: number): void {
    if (Number.isNaN(this.expected)) return;
    const values = Math.min(levelValues, this.#row);
    this.#own[MIDDLE] = (this.#own[MIDDLE] as number) + this.#meanOff(newest, this.#timeMs, this.#intervalMs, values, 0);
  }

  /** Begins anew, without periods; what the octaves have shown stays. */
  forget(): void {
    this.#quick.clear();
    this.#slow.clear();
    this.#own.fill(0);
  }
}
