// A season of any period that a series shows: hourly jobs, duty cycles, saw-teeth. The period is found from the series' own crossings of its long mean: where
// three in a row come equally far apart, that is the period, and each part of it gets a level and a spread of its own.
import { SD_MIN, SD_RELATIVE_MIN } from "../../../core/layout/sd-floors.ts";
import { HOUR_MS, MINUTE_MS } from "../../../core/time/durations.ts";
import { SD_PER_MEAN_DEVIATION } from "../robust.ts";
import type { RecentValues } from "../rolling/recent-values.ts";

/** Parts of a period. */
const BINS_MAX = 32;
const BINS_MIN = 2;
const HEAD_LENGTH = 10;
/** Numbers of state: the head, levels and spreads as single precision, counts as bytes. */
export const LEARNED_SEASON_LENGTH = HEAD_LENGTH + BINS_MAX + BINS_MAX / 8;

const PERIOD = 0;
/** Where a period begins; 0 for those of the clock. */
const ANCHOR = 1;
const LAST_RISE = 2;
/** The last two gaps between rises. */
const GAP = 3;
const BEFORE_GAP = 4;
/** Whether the series is up, or what its periods begin with; and four times the side and the second of an edge that may be the first of many. */
const STATE = 5;
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
/** Periods before the season speaks, and before what it misses is news; values in a row that miss it. */
const PERIODS_MIN = 3;
const MISSED_PERIODS_MIN = 6;
const MISSED_VALUES = 3;
/** Of how much the series strays on the whole the season may be off for that. */
const MISSED_ERROR_SHARE = 0.4;
/** Share of the bar that each of those values has to be off by; all of them are off by it on the whole. */
const MISSED_VALUE_SHARE = 0.5;
/** Intervals of a part from which on an edge may lie within it. */
const SHARP_INTERVALS = 2;
/** An event that did not come, or was not seen, makes a gap of two periods. */
const REGULAR_PERIODS_MAX = 2;
/** A step of so many standard deviations is an edge: a drop, or a jump, which says when a period begins to the value, where a level that noise crosses does not. */
const EDGE = 2;
/** What STATE says: of a series whose periods begin with rises whether it is up, else the side of the edges that they begin with. */
const UP = 1;
const EDGES_UP = 2;
const EDGES_DOWN = 3;
const STATES = 4;

/** Circumstances of a value: how many the series has had with it, its interval, whether an incident is on, and what an error counts for at most. */
interface SeasonLesson {
  readonly count: number;
  readonly intervalMs: number;
  readonly isIncident: boolean;
  readonly errorMax: number;
}

/** Over caller-owned state of LEARNED_SEASON_LENGTH numbers, all 0 at the start. */
export class LearnedSeason {
  readonly #floats: Float64Array;
  readonly #levels: Float32Array;
  readonly #spreads: Float32Array;
  readonly #counts: Uint8Array;
  #bin = -1;
  #bins = 0;
  /** Side of the edge that the newest value came by; 0 for none. */
  #edge = 0;

  constructor(floats: Float64Array) {
    this.#floats = floats;
    const bytes = floats.byteOffset + 8 * HEAD_LENGTH;
    this.#levels = new Float32Array(floats.buffer, bytes, BINS_MAX);
    this.#spreads = new Float32Array(floats.buffer, bytes + 4 * BINS_MAX, BINS_MAX);
    this.#counts = new Uint8Array(floats.buffer, bytes + 8 * BINS_MAX, BINS_MAX);
  }

  /** In ms; 0 where the series shows none. */
  get periodMs(): number {
    return this.#floats[PERIOD] as number;
  }

  /** Usual value of the part that was looked up, NaN where it does not know; its mean absolute deviation; and the season's mean error. */
  get expected(): number {
    return this.#bin >= 0 && (this.#counts[this.#bin] as number) >= BIN_VALUES_MIN ? (this.#levels[this.#bin] as number) : Number.NaN;
  }

  get spread(): number {
    return this.#spreads[this.#bin] ?? 0;
  }

  /** Of all values of late, those of incidents too. */
  get mean(): number {
    return this.#floats[MEAN] as number;
  }

  get sd(): number {
    return Math.sqrt(this.#floats[VARIANCE] as number);
  }

  /** The period is none of the clock's. */
  get #isOwn(): boolean {
    return this.periodMs !== 0 && this.#floats[ANCHOR] !== 0;
  }

  /** Infinite until the season has been seen for some periods. */
  get error(): number {
    const isSeen = (this.#floats[VALUES] as number) > PERIODS_MIN * this.#bins;
    return isSeen ? (this.#floats[ERROR] as number) : Number.POSITIVE_INFINITY;
  }

  /** Finds the part of the period that a value of this time belongs to, which has come by such a jump, or 0: an edge at about its time begins the period. */
  lookUp(timeMs: number, intervalMs: number, jump: number): void {
    const period = this.periodMs;
    const bar = EDGE * this.sd;
    this.#edge = bar > 0 && Math.abs(jump) >= bar ? Math.sign(jump) : 0;
    this.#bin = -1;
    if (period === 0) return;
    if (this.#isOwn && this.#edge !== 0 && this.#edge === this.#edges)
      this.#keepPhase(timeMs, Math.max(PHASE_SHARE, (1.01 * intervalMs) / period));
    this.#bins = Math.max(BINS_MIN, Math.min(BINS_MAX, Math.round(period / intervalMs)));
    this.#bin = this.#binAt(timeMs);
  }

  /** Side of the edges that the series' periods begin with; 0 where they begin with rises. */
  get #edges(): number {
    const state = this.#state;
    return state === EDGES_UP ? 1 : state === EDGES_DOWN ? -1 : 0;
  }

  #binAt(timeMs: number): number {
    const period = this.periodMs;
    const elapsed = (timeMs - (this.#floats[ANCHOR] as number)) % period;
    const phase = (elapsed < 0 ? elapsed + period : elapsed) / period;
    return Math.min(this.#bins - 1, Math.floor(phase * this.#bins + 1e-6));
  }

  /**
   * Whether the newest values all lie to one side of what the season has at their times, on the whole by so many of their spreads and by more than the series strays on
   * the whole: its event did not come, or is another one. Those values together are rarer than the one that the series' own tail is asked of. A period that moves the
   * series by less than that has no such event, and one of the clock is judged by others.
   */
  isMissedBy(newest: RecentValues, timeMs: number, intervalMs: number, sds: number): boolean {
    if (this.#bin < 0 || !this.hasEvents(intervalMs) || (this.#floats[VALUES] as number) <= MISSED_PERIODS_MIN * this.#bins) return false;
    const swing = this.sd;
    if ((this.#floats[ERROR] as number) > MISSED_ERROR_SHARE * swing) return false;
    let [side, off, bar] = [0, 0, 0];
    for (let back = 0; back < MISSED_VALUES; back++) {
      const bin = this.#binAt(timeMs - back * intervalMs);
      if ((this.#counts[bin] as number) < BIN_VALUES_MIN) return false;
      const by = this.#offBy(newest.before(back), bin, intervalMs);
      const least = Math.max(sds * SD_PER_MEAN_DEVIATION * (this.#spreads[bin] as number), swing);
      if (Math.abs(by) < MISSED_VALUE_SHARE * least || by * side < 0) return false;
      side = Math.sign(by);
      off += Math.abs(by);
      bar += least;
    }
    return off >= bar && this.#swing() >= swing;
  }

  /** How far a value is off what a part has, signed; 0 where it lies between that and the next one: an edge within the period may lie within a part, and is of either. */
  #offBy(value: number, bin: number, intervalMs: number): number {
    const off = value - (this.#levels[bin] as number);
    const next = (bin + 1) % this.#bins;
    if (this.periodMs <= SHARP_INTERVALS * this.#bins * intervalMs || (this.#counts[next] as number) < BIN_VALUES_MIN) return off;
    const offNext = value - (this.#levels[next] as number);
    if (off * offNext <= 0) return 0;
    return Math.abs(offNext) < Math.abs(off) ? offNext : off;
  }

  /** Whether the period is none of the clock's, and begins with edges that came at its gaps of late, one of them perhaps not seen. */
  hasEvents(intervalMs: number): boolean {
    const period = this.periodMs;
    if (!this.#isOwn || this.#edges === 0) return false;
    const slack = Math.max(1.01 * intervalMs, EQUAL_SHARE * period);
    return [GAP, BEFORE_GAP].every((which) => {
      const gap = this.#floats[which] as number;
      const periods = Math.round(gap / period);
      return periods >= 1 && periods <= REGULAR_PERIODS_MAX && Math.abs(gap - periods * period) <= periods * slack;
    });
  }

  /** Between the highest and the lowest part that are known. */
  #swing(): number {
    let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let bin = 0; bin < this.#bins; bin++) {
      if ((this.#counts[bin] as number) < BIN_VALUES_MIN) continue;
      least = Math.min(least, this.#levels[bin] as number);
      most = Math.max(most, this.#levels[bin] as number);
    }
    return most - least;
  }

  /** Takes the value that was looked up, the `count`th of its series; nothing of an incident that is news, but its rises. `errorMax` is what an error counts for at most. */
  learn(timeMs: number, value: number, { count, intervalMs, isIncident, errorMax }: SeasonLesson): void {
    if (this.#bin >= 0 && !isIncident) this.#learnBin(value, errorMax);
    const weight = Math.max(MEAN_WEIGHT, 1 / count);
    this.#floats[MEAN] = (this.#floats[MEAN] as number) + weight * (value - (this.#floats[MEAN] as number));
    const deviation = value - (this.#floats[MEAN] as number);
    this.#floats[VARIANCE] = (this.#floats[VARIANCE] as number) + weight * (deviation * deviation - (this.#floats[VARIANCE] as number));
    this.#watchBegins(timeMs, deviation, intervalMs);
  }

  #learnBin(value: number, errorMax: number): void {
    const bin = this.#bin;
    const floats = this.#floats;
    const count = Math.min(COUNT_MAX, (this.#counts[bin] as number) + 1);
    const deviation = value - (this.#levels[bin] as number);
    const size = Math.abs(deviation);
    if (count > BIN_VALUES_MIN) {
      const values = (floats[VALUES] as number) + 1;
      floats[VALUES] = values;
      floats[ERROR] =
        (floats[ERROR] as number) + Math.max(ERROR_WEIGHT, 1 / values) * (Math.min(size, errorMax) - (floats[ERROR] as number));
    }
    this.#counts[bin] = count;
    const spread = this.#spreads[bin] as number;
    const floor = Math.max(spread, SD_RELATIVE_MIN * Math.abs(this.#levels[bin] as number), SD_MIN);
    const most = count < BIN_UNCLIPPED ? Number.POSITIVE_INFINITY : BIN_CLIP * SD_PER_MEAN_DEVIATION * floor;
    const weight = Math.max(1 / count, BIN_WEIGHT);
    this.#levels[bin] = (this.#levels[bin] as number) + weight * Math.max(-2 * most, Math.min(2 * most, deviation));
    if (count > 1) this.#spreads[bin] = spread + Math.max(1 / (count - 1), BIN_WEIGHT) * (Math.min(size, most) - spread);
  }

  get #state(): number {
    return (this.#floats[STATE] as number) % STATES;
  }

  #watchBegins(timeMs: number, deviation: number, intervalMs: number): void {
    const floats = this.#floats;
    if (this.#edges !== 0 && timeMs - (floats[LAST_RISE] as number) > PERIOD_MS_MAX) this.#beginWith(0);
    if (this.#edges === 0 && this.#edge !== 0 && this.#isEdgeAgain(timeMs, intervalMs))
      this.#beginWith(this.#edge > 0 ? EDGES_UP : EDGES_DOWN);
    if (this.#edges !== 0 ? this.#edge === this.#edges : this.#isRise(deviation)) {
      if (floats[LAST_RISE] !== 0) this.#rise(timeMs, timeMs - (floats[LAST_RISE] as number), intervalMs);
      floats[LAST_RISE] = timeMs;
    }
  }

  /**
   * Whether an edge of this side has come no longer than a period before, but not just now: else it is the first of what may come again. What has one a day begins with
   * none, and steps that follow each other are one edge.
   */
  #isEdgeAgain(timeMs: number, intervalMs: number): boolean {
    const side = this.#edge > 0 ? 1 : 0;
    const first = Math.floor((this.#floats[STATE] as number) / STATES);
    const ageMs = timeMs - Math.floor(first / 2) * 1_000;
    const isOpen = first !== 0 && ageMs <= PERIOD_MS_MAX;
    if (isOpen && first % 2 !== side) return false;
    if (isOpen && ageMs >= PERIOD_VALUES_MIN * intervalMs) return true;
    this.#floats[STATE] = this.#state + STATES * (2 * Math.floor(timeMs / 1_000) + side);
    return false;
  }

  /** Periods begin in another way: gaps between what they began with say nothing of it, nor does a season of the series' own. */
  #beginWith(state: number): void {
    if (this.#isOwn) this.forget();
    this.#floats[STATE] = state;
    this.#floats[LAST_RISE] = 0;
    this.#floats[GAP] = 0;
    this.#floats[BEFORE_GAP] = 0;
  }

  #isRise(deviation: number): boolean {
    const isUp = this.#state === UP;
    if (isUp && deviation < 0) this.#floats[STATE] = (this.#floats[STATE] as number) - UP;
    if (isUp || deviation <= RISE * this.sd) return false;
    this.#floats[STATE] = (this.#floats[STATE] as number) + UP;
    return true;
  }

  #rise(timeMs: number, gap: number, intervalMs: number): void {
    const floats = this.#floats;
    const [before, earlier] = [floats[GAP] as number, floats[BEFORE_GAP] as number];
    floats[BEFORE_GAP] = before;
    floats[GAP] = gap;
    const mean = (gap + before + earlier) / 3;
    const median = Math.max(Math.min(gap, before), Math.min(Math.max(gap, before), earlier));
    const slack = Math.max(1.01 * intervalMs, EQUAL_SHARE * median);
    const areEqual = [gap, before, earlier].every((one) => Math.abs(one - median) <= slack);
    if (areEqual && median >= PERIOD_VALUES_MIN * intervalMs && median <= PERIOD_MS_MAX) this.#adopt(timeMs, mean, intervalMs);
    else if (floats[PERIOD] !== 0 && floats[ANCHOR] !== 0) this.#keepPhase(timeMs, PHASE_SHARE);
  }

  #adopt(timeMs: number, mean: number, intervalMs: number): void {
    const floats = this.#floats;
    const clock = CLOCK_MS.find((period) => Math.abs(period - mean) <= Math.max(CLOCK_SHARE * period, intervalMs / 2));
    const period = clock ?? mean;
    const known = floats[PERIOD] as number;
    if (known !== 0 && Math.abs(period - known) <= NEW_PERIOD_SHARE * known) {
      if (floats[ANCHOR] !== 0) floats[ANCHOR] = timeMs;
      return;
    }
    this.forget();
    floats[PERIOD] = period;
    floats[ANCHOR] = clock === undefined ? timeMs : 0;
  }

  /** Begins anew, without a period. */
  forget(): void {
    this.#floats[PERIOD] = 0;
    this.#floats[VALUES] = 0;
    this.#floats[ERROR] = 0;
    this.#levels.fill(0);
    this.#spreads.fill(0);
    this.#counts.fill(0);
    this.#bin = -1;
  }

  #keepPhase(timeMs: number, slack: number): void {
    const floats = this.#floats;
    const phase = ((timeMs - (floats[ANCHOR] as number)) % (floats[PERIOD] as number)) / (floats[PERIOD] as number);
    if (phase < slack || phase > 1 - slack) floats[ANCHOR] = timeMs;
  }
}
