// A season of any period that a series shows: hourly jobs, duty cycles, saw-teeth. The period is found from the series' own crossings of its long mean: where
// three in a row come equally far apart, that is the period, and each part of it gets a level and a spread of its own.
import { HOUR_MS, MINUTE_MS } from "../../../core/time/durations.ts";
import { SD_PER_MEAN_DEVIATION } from "./local-levels.ts";

/** Parts of a period. */
const BINS_MAX = 32;
const BINS_MIN = 2;
const HEAD_WORDS = 10;
/** Numbers of state: the head, levels and spreads as single precision, counts as bytes. */
export const LEARNED_SEASON_WORDS = HEAD_WORDS + BINS_MAX + BINS_MAX / 8;

const PERIOD = 0;
/** Where a period begins; 0 for those of the clock. */
const ANCHOR = 1;
const LAST_RISE = 2;
/** The last two gaps between rises. */
const GAP = 3;
const BEFORE_GAP = 4;
const IS_UP = 5;
const MEAN = 6;
const VARIANCE = 7;
const VALUES = 8;
const ERROR = 9;

/** Periods of the clock: what cron makes. Periods near one of these are that one, and begin with the hour. */
const CLOCK_MS = [5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 480, 720].map((minutes) => minutes * MINUTE_MS);
const CLOCK_SHARE = 0.01;
const PERIOD_MS_MAX = 12.5 * HOUR_MS;
const PERIOD_VALUES_MIN = 4;
/** Gaps are equal within a value, or this share. */
const EQUAL_SHARE = 0.02;
const NEW_PERIOD_SHARE = 0.03;
/** A rise so early or late in a period of the series' own sets its beginning anew. */
const PHASE_SHARE = 0.05;
/** A rise goes this far above the mean, in standard deviations; a fall below the mean ends it. */
const RISE = 0.5;
const MEAN_WEIGHT = 1e-3;
const BIN_WEIGHT = 1 / 25;
const ERROR_WEIGHT = 0.002;
/** Values of a part before it says anything. */
const BIN_VALUES_MIN = 3;
const BIN_UNCLIPPED = 4;
const BIN_CLIP = 3;
const COUNT_MAX = 255;
/** Periods before the season speaks. */
const PERIODS_MIN = 3;

/** Circumstances of a value: how many the series has had with it, its interval, whether an incident is on, and what an error counts for at most. */
interface SeasonLesson {
  readonly count: number;
  readonly intervalMs: number;
  readonly isIncident: boolean;
  readonly errorMax: number;
}

/** Over caller-owned state of LEARNED_SEASON_WORDS numbers, all 0 at the start. */
export class LearnedSeason {
  readonly #words: Float64Array;
  readonly #levels: Float32Array;
  readonly #spreads: Float32Array;
  readonly #counts: Uint8Array;
  #bin = -1;
  #bins = 0;

  constructor(words: Float64Array) {
    this.#words = words;
    const bytes = words.byteOffset + 8 * HEAD_WORDS;
    this.#levels = new Float32Array(words.buffer, bytes, BINS_MAX);
    this.#spreads = new Float32Array(words.buffer, bytes + 4 * BINS_MAX, BINS_MAX);
    this.#counts = new Uint8Array(words.buffer, bytes + 8 * BINS_MAX, BINS_MAX);
  }

  /** In ms; 0 where the series shows none. */
  get periodMs(): number {
    return this.#words[PERIOD] as number;
  }

  /** Usual value of the part that was looked up, NaN where it does not know; its mean absolute deviation; and the season's mean error. */
  get expected(): number {
    return this.#bin >= 0 && (this.#counts[this.#bin] as number) >= BIN_VALUES_MIN ? (this.#levels[this.#bin] as number) : Number.NaN;
  }

  get spread(): number {
    return this.#spreads[this.#bin] ?? 0;
  }

  /** Infinite until the season has been seen for some periods. */
  get error(): number {
    const isSeen = (this.#words[VALUES] as number) > PERIODS_MIN * this.#bins;
    return isSeen ? (this.#words[ERROR] as number) : Number.POSITIVE_INFINITY;
  }

  /** Finds the part of the period that a value of this time belongs to. */
  lookUp(timeMs: number, intervalMs: number): void {
    const period = this.periodMs;
    this.#bin = -1;
    if (period === 0) return;
    this.#bins = Math.max(BINS_MIN, Math.min(BINS_MAX, Math.round(period / intervalMs)));
    const elapsed = (timeMs - (this.#words[ANCHOR] as number)) % period;
    const phase = (elapsed < 0 ? elapsed + period : elapsed) / period;
    this.#bin = Math.min(this.#bins - 1, Math.floor(phase * this.#bins + 1e-6));
  }

  /** Takes the value that was looked up, the `count`th of its series; nothing of an incident, but its rises. `errorMax` is what an error counts for at most. */
  learn(timeMs: number, value: number, { count, intervalMs, isIncident, errorMax }: SeasonLesson): void {
    if (this.#bin >= 0 && !isIncident) this.#learnBin(value, errorMax);
    const weight = Math.max(MEAN_WEIGHT, 1 / count);
    this.#words[MEAN] = (this.#words[MEAN] as number) + weight * (value - (this.#words[MEAN] as number));
    const deviation = value - (this.#words[MEAN] as number);
    this.#words[VARIANCE] = (this.#words[VARIANCE] as number) + weight * (deviation * deviation - (this.#words[VARIANCE] as number));
    this.#watchRises(timeMs, deviation, intervalMs);
  }

  #learnBin(value: number, errorMax: number): void {
    const bin = this.#bin;
    const words = this.#words;
    const count = Math.min(COUNT_MAX, (this.#counts[bin] as number) + 1);
    const deviation = value - (this.#levels[bin] as number);
    const size = Math.abs(deviation);
    if (count > BIN_VALUES_MIN) {
      const values = (words[VALUES] as number) + 1;
      words[VALUES] = values;
      words[ERROR] = (words[ERROR] as number) + Math.max(ERROR_WEIGHT, 1 / values) * (Math.min(size, errorMax) - (words[ERROR] as number));
    }
    this.#counts[bin] = count;
    const spread = this.#spreads[bin] as number;
    const floor = Math.max(spread, 1e-3 * Math.abs(this.#levels[bin] as number), 1e-9);
    const most = count < BIN_UNCLIPPED ? Number.POSITIVE_INFINITY : BIN_CLIP * SD_PER_MEAN_DEVIATION * floor;
    const weight = Math.max(1 / count, BIN_WEIGHT);
    this.#levels[bin] = (this.#levels[bin] as number) + weight * Math.max(-2 * most, Math.min(2 * most, deviation));
    if (count > 1) this.#spreads[bin] = spread + Math.max(1 / (count - 1), BIN_WEIGHT) * (Math.min(size, most) - spread);
  }

  #watchRises(timeMs: number, deviation: number, intervalMs: number): void {
    const words = this.#words;
    const isUp = words[IS_UP] === 1;
    if (isUp && deviation < 0) words[IS_UP] = 0;
    if (isUp || deviation <= RISE * Math.sqrt(words[VARIANCE] as number)) return;
    words[IS_UP] = 1;
    if (words[LAST_RISE] !== 0) this.#rise(timeMs, timeMs - (words[LAST_RISE] as number), intervalMs);
    words[LAST_RISE] = timeMs;
  }

  #rise(timeMs: number, gap: number, intervalMs: number): void {
    const words = this.#words;
    const [before, earlier] = [words[GAP] as number, words[BEFORE_GAP] as number];
    words[BEFORE_GAP] = before;
    words[GAP] = gap;
    const mean = (gap + before + earlier) / 3;
    const median = Math.max(Math.min(gap, before), Math.min(Math.max(gap, before), earlier));
    const slack = Math.max(1.01 * intervalMs, EQUAL_SHARE * median);
    const areEqual = [gap, before, earlier].every((one) => Math.abs(one - median) <= slack);
    if (areEqual && median >= PERIOD_VALUES_MIN * intervalMs && median <= PERIOD_MS_MAX) this.#adopt(timeMs, mean, intervalMs);
    else if (words[PERIOD] !== 0 && words[ANCHOR] !== 0) this.#keepPhase(timeMs);
  }

  #adopt(timeMs: number, mean: number, intervalMs: number): void {
    const words = this.#words;
    const clock = CLOCK_MS.find((period) => Math.abs(period - mean) <= Math.max(CLOCK_SHARE * period, intervalMs / 2));
    const period = clock ?? mean;
    const known = words[PERIOD] as number;
    if (known !== 0 && Math.abs(period - known) <= NEW_PERIOD_SHARE * known) {
      if (words[ANCHOR] !== 0) words[ANCHOR] = timeMs;
      return;
    }
    this.forget();
    words[PERIOD] = period;
    words[ANCHOR] = clock === undefined ? timeMs : 0;
  }

  /** Begins anew, without a period. */
  forget(): void {
    this.#words[PERIOD] = 0;
    this.#words[VALUES] = 0;
    this.#words[ERROR] = 0;
    this.#levels.fill(0);
    this.#spreads.fill(0);
    this.#counts.fill(0);
    this.#bin = -1;
  }

  #keepPhase(timeMs: number): void {
    const words = this.#words;
    const phase = ((timeMs - (words[ANCHOR] as number)) % (words[PERIOD] as number)) / (words[PERIOD] as number);
    if (phase < PHASE_SHARE || phase > 1 - PHASE_SHARE) words[ANCHOR] = timeMs;
  }
}
