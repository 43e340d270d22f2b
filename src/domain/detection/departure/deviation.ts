// How far the newest value lies from what is expected of it, in standard deviations: each forecast says what it expects and how far such values stray, and the one that
// knows best speaks. What another forecast that may be believed expects as well is no deviation.
import { SD_MIN, SD_RELATIVE_MIN } from "../../../core/layout/sd-floors.ts";
import { SD_PER_MEAN_DEVIATION } from "../robust.ts";
import { countSd, NOTHING, ONE_EVENT_SD } from "./counted-values.ts";
import type { LearnedSeason } from "./learned-season.ts";
import type { LocalLevels } from "./local-levels.ts";
import type { OwnTails } from "./own-tails.ts";
import { barOfOne } from "./page-budget.ts";
import type { PairedSeasons } from "./paired-seasons.ts";
import type { ValueMoment } from "./value-moment.ts";
import type { ValueSteps } from "./value-steps.ts";

export const DEPARTURE_MIN = 5.5; // standard deviations below which nothing is a departure, whatever the tail
const MEASURED_VALUES = 5; // before which nothing lies anywhere
const SEASON_SHARE = 0.5; // of what other forecasts are off by, below which a learned season speaks
const SEASON_SPREAD_SHARE = 0.25;
const SHARP_SEASON_SHARE = 0.1; // below which it knows better than a step that the series has taken before
const FAR_ROW_SHARE = 0.25; // below which rows of two periods are told beside the tail of single values
const CREDIBLE_SHARE = 1.5; // up to which it is heard beside them
const LONG_SD_SHARE = 0.2; // of that of all errors the sd is at least: series that are mostly still have bursts which are nothing new
const SMALL_MOVE_SHARE = 0.05; // of what was expected: less is too small to matter, of a series that hardly strays

/** Of the head of a departure's state: values taken in, and the variance of all errors. */
export const COUNT = 0;
export const LONG_VARIANCE = 5;

/** What values are expected by. */
export interface Forecasts {
  readonly steps: ValueSteps;
  readonly levels: LocalLevels;
  readonly season: LearnedSeason;
  readonly paired: PairedSeasons;
  readonly tails: OwnTails;
}

/** Over the head of a departure's state, of which it reads COUNT and LONG_VARIANCE. The fields report the newest value. */
export class Deviation {
  readonly #head: Float64Array;
  readonly #steps: ValueSteps;
  readonly #levels: LocalLevels;
  readonly #season: LearnedSeason;
  readonly #paired: PairedSeasons;
  readonly #tails: OwnTails;
  /** Value that was expected, the standard deviation of such values, and how many of these the value lies from it, signed. */
  expected = 0;
  sd = 0;
  size = 0;
  /** A season that is far better than the level says so; what the season has at this time has not come. */
  isOfSeason = false;
  isMissed = false;
  /** Of a few values that speak together, how many times the bar they are asked for; 0 where one speaks for itself. */
  together = 0;
  #isStill = false; // the series strays by less than the least that its sd is taken for
  #newestCounts = 0;

  constructor(head: Float64Array, { steps, levels, season, paired, tails }: Forecasts) {
    this.#head = head;
    this.#steps = steps;
    this.#levels = levels;
    this.#season = season;
    this.#paired = paired;
    this.#tails = tails;
  }

  /** Measures a value once all forecasts are made; `isAtRest` while no departure is on. */
  measure(timeMs: number, value: number, moment: ValueMoment, isAtRest: boolean): void {
    this.#newestCounts = moment.counts;
    const season = this.#season.expected;
    this.isMissed = this.#season.isMissedBy(moment.newest, timeMs, moment.intervalMs, DEPARTURE_MIN);
    this.together = this.isMissed ? barOfOne(moment.streams) : 0;
    if (this.isMissed) return this.#compare(value, season, this.#season.spread, 0);
    if (this.#paired.compete(this.#levels.error, this.#season.error)) this.#tails.restart();
    if (this.#paired.speak) return this.#comparePaired(timeMs, value, moment);
    const isSeason = !Number.isNaN(season) && this.#season.error < SEASON_SHARE * this.#levels.error;
    const spread = isSeason ? Math.max(this.#season.spread, SEASON_SPREAD_SHARE * this.#season.error) : this.#levels.spread;
    this.isOfSeason = isSeason && this.#season.error < SHARP_SEASON_SHARE * this.#levels.error;
    this.#compare(value, isSeason ? season : this.#levels.expected, spread);
    if (!isSeason && isAtRest) this.#widenAtEdge(value);
    if (!isSeason && this.#paired.isCredible(this.#levels.error)) this.#allow(value, this.#paired.expected, this.#paired.spread);
    // A season that is no better than the level on the whole may still know of a rise that the level cannot: what either of them expects is no departure.
    if (isSeason || Number.isNaN(season) || this.#season.error > CREDIBLE_SHARE * this.#levels.error) return;
    this.#allow(value, season, Math.max(this.#season.spread, SEASON_SPREAD_SHARE * this.#season.error));
  }

  /** Takes the place of what was measured, as by what values together say. */
  set(expected: number, sd: number, size: number): void {
    this.expected = expected;
    this.sd = sd;
    this.size = size;
  }

  /** Whether the newest value is so far out as single values depart where no tail asks for more. */
  get isFar(): boolean {
    return Math.abs(this.size) >= DEPARTURE_MIN;
  }

  /** Whether the newest value is a move too small to matter, of a series whose own noise is below what its sd is taken for. */
  get isSmallMove(): boolean {
    return this.#isStill && Math.abs(this.size) * this.sd < SMALL_MOVE_SHARE * Math.abs(this.expected);
  }

  /** Whether the newest value is a count where hardly any is usual. */
  get isOfNothing(): boolean {
    return Math.abs(this.#levels.expected) * this.counts < NOTHING && this.#steps.areIntegers;
  }

  /** The sd that values which are looked at together have at least: of whole numbers about nothing; 0 for others. */
  get leastSd(): number {
    return this.isOfNothing ? ONE_EVENT_SD / this.counts : 0;
  }

  /** Counts that the newest value is the mean of; 1 of a series of any other kind. */
  get counts(): number {
    return Math.max(1, this.#newestCounts);
  }

  /** The sd that values above `expected` have by chance, of a series of counts; 0 for others. */
  countSd(expected: number): number {
    return this.#newestCounts > 0 && this.#steps.areIntegers ? countSd(expected, this.counts) : 0;
  }

  #compare(value: number, expected: number, spread: number, finest = this.#steps.finest): void {
    const head = this.#head;
    this.expected = expected;
    const floor = Math.max(SD_RELATIVE_MIN * Math.abs(expected), SD_MIN, value > expected ? this.countSd(expected) : 0);
    const own = Math.max(SD_PER_MEAN_DEVIATION * spread, LONG_SD_SHARE * Math.sqrt(head[LONG_VARIANCE] as number));
    this.sd = Math.max(own, floor);
    this.#isStill = own <= floor;
    if (this.#steps.areWhole) this.sd = Math.max(this.sd, finest);
    this.size = (head[COUNT] as number) < MEASURED_VALUES ? 0 : (value - expected) / this.sd;
  }

  /** What another forecast expects as well is no departure: the nearer of the two counts. */
  #allow(value: number, other: number, spread: number): void {
    const { expected, sd, size } = this;
    this.#compare(value, other, spread);
    if (Math.abs(this.size) > Math.abs(size)) this.set(expected, sd, size);
  }

  /** By two periods at once; values in a row that lie to one side say together what none of them does. */
  #comparePaired(timeMs: number, value: number, moment: ValueMoment): void {
    const paired = this.#paired;
    this.isOfSeason = paired.error < SHARP_SEASON_SHARE * this.#levels.error;
    this.#compare(value, paired.expected, paired.spread);
    const { isFar } = this;
    const far = paired.error < FAR_ROW_SHARE * this.#levels.error ? DEPARTURE_MIN * this.sd : Number.POSITIVE_INFINITY;
    if (isFar) this.together = paired.isRowFar(moment, timeMs, far) ? 1 : 0;
    if (isFar || !paired.isRowOff(moment, timeMs, this.sd)) return;
    this.set(this.expected, paired.rowSd, paired.rowMean / paired.rowSd);
    this.together = this.#tails.to(this.size).reaches(DEPARTURE_MIN) ? 0 : barOfOne(moment.streams);
  }

  /** Counts stray more at a level that the hour has brought, and the value has come to, than their noise before has shown. */
  #widenAtEdge(value: number): void {
    const edge = Math.abs(this.#levels.edge);
    const spread = this.countSd(this.expected) / SD_PER_MEAN_DEVIATION;
    if (spread === 0 || edge < DEPARTURE_MIN * this.sd || Math.abs(value - this.expected) > edge / 2) return;
    this.#levels.widen(spread);
    this.#compare(value, this.expected, this.#levels.spread);
  }
}
