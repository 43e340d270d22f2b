// Whether a departure of a pair holds: the newest five values against a level that follows the last half hour and a robust spread that reaches hours back. A
// lone outlier of correlated noise decays within them, an incident stays. It opens no anomaly; it says when people may be informed of one.
// Level and spread are M-estimates on the run: deviations count with at most CLIP spreads (Huber 1964), so that an incident moves neither soon.

import { SD_MIN, SD_RELATIVE_MIN } from "../../../core/layout/sd-floors.ts";
import { MINUTE_MS } from "../../../core/time/durations.ts";
import { SD_PER_MEAN_DEVIATION } from "../robust.ts";
import { RECENT_VALUES, type RecentValues } from "../rolling/recent-values.ts";

/** Age before the cycle beyond which a value confirms nothing that people are to be told about now. */
export const CONFIRMED_MS_MAX = 10 * MINUTE_MS;

/** Numbers of state. */
export const CONFIRMATION_LENGTH = 3;
const LEVEL = 0;
/** Mean absolute deviation from the level, and mean absolute step, both of clipped ones. */
const SPREAD = 1;
const STEP = 2;

/** Values that are looked at together; all but one of them must agree where one pair confirms alone. */
const WIDTH = 5;
/** The newest two and three are enough where they lie further out. */
const TWO = 2;
const THREE = 3;
const LEVEL_WEIGHT = 0.03;
const SPREAD_WEIGHT = 0.002;
const CLIP = 2.5;
const STEP_CLIP = 4;
/** Values until whose end nothing is clipped. */
const UNCLIPPED_VALUES = 20;
/** The spread is at least this share of that of the whole history: series that are mostly still have bursts which are nothing new. */
const HISTORY_SD_SHARE = 0.2;

/** Standard deviations of the least of four in five, of three and of two; of each of five that are equal to a twentieth of a step, which noise never is. */
const SHIFT_ALONE = 5;
const THREE_ALONE = 8;
const TWO_ALONE = 12;
const STILL_ALONE = 3;
const STILL_STEPS = 0.05;
/** Mean of five steps in usual ones, each counted as at most BURST_CLIP. */
const BURST_ALONE = 6;
const BURST_CLIP = 8;
/** Bars that two metrics must reach together: mean of five, each of at most MEAN_CLIP standard deviations, and the mean of steps. */
const MEAN_SHARED = 3.5;
const MEAN_CLIP = 9;
const BURST_SHARED = 3.5;

/** Values before which nothing is confirmed, and from which on the bars are as they are: until then they are higher by YOUNG_BAR. */
export const CONFIRMING_VALUES = 12;
const MATURE_VALUES = 60;
const YOUNG_BAR = 8 / SHIFT_ALONE;

/** Confirmation of one pair over caller-owned state of CONFIRMATION_LENGTH numbers, all 0 at the start. The fields report the newest value. */
export class PairConfirmation {
  readonly #floats: Float64Array;
  /** Values of the pair, with the newest one in it. */
  readonly #values: RecentValues;
  /** Standard deviations of the newest WIDTH values from the level, and of the one before them. */
  readonly #deviations = new Float64Array(WIDTH + 1);
  /** Evidence in units of its bar: from 1 on the pair confirms by itself, or together with another metric of its service. */
  alone = 0;
  shared = 0;
  /** The same of values that are all nothing, where the series has been far from it: no number of streams makes that chance. */
  nothing = 0;
  /** Side of the level that the values lie on; 0 where they scatter. */
  side: -1 | 0 | 1 = 0;

  constructor(floats: Float64Array, values: RecentValues) {
    this.#floats = floats;
    this.#values = values;
  }

  /** Judges the newest of the values, which are finite, and takes it in. `historySd` is that of the pair's whole history, `sdMin` the least that one may be. */
  observe(historySd: number, sdMin = SD_MIN): void {
    const { count, newest } = this.#values;
    if (count === 1) this.#floats[LEVEL] = newest;
    this.alone = 0;
    this.shared = 0;
    this.nothing = 0;
    this.side = 0;
    if (count > CONFIRMING_VALUES) this.#judge(historySd, count > MATURE_VALUES ? 1 : YOUNG_BAR, Math.max(SD_MIN, sdMin));
    this.#learn(count, newest);
  }

  /** Goes on from another level. */
  moveTo(level: number): void {
    this.#floats[LEVEL] = level;
  }

  #judge(historySd: number, bar: number, sdMin: number): void {
    const level = this.#floats[LEVEL] as number;
    const spread = this.#floats[SPREAD] as number;
    const step = this.#floats[STEP] as number;
    const sd = Math.max(SD_PER_MEAN_DEVIATION * spread, HISTORY_SD_SHARE * historySd, SD_RELATIVE_MIN * Math.abs(level), sdMin);
    let sum = 0;
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let back = 0; back <= WIDTH; back++) {
      const deviation = (this.#values.before(back) - level) / sd;
      this.#deviations[back] = deviation;
      if (back === WIDTH) break;
      low = Math.min(low, deviation);
      high = Math.max(high, deviation);
      sum += Math.max(-MEAN_CLIP, Math.min(MEAN_CLIP, deviation));
    }
    this.side = sum < 0 ? -1 : 1;
    const isStill = step > 0 && (high - low) * sd < STILL_STEPS * step;
    const alone = Math.max(
      this.#least(TWO) / TWO_ALONE,
      this.#least(THREE) / THREE_ALONE,
      isStill ? this.#least(WIDTH) / STILL_ALONE : 0,
      this.#agreed() / SHIFT_ALONE,
    );
    const shared = Math.abs(sum) / WIDTH / MEAN_SHARED;
    const burst = step > 0 ? this.#meanStep(Math.max(step, sdMin) / sd) : 0;
    if (burst / BURST_SHARED > shared && burst / BURST_ALONE > alone) this.side = 0;
    if (isStill && this.#values.newest === 0) this.nothing = (this.#rowOfNothing() * this.#least(WIDTH)) / STILL_ALONE / bar;
    this.alone = Math.max(alone, burst / BURST_ALONE) / bar;
    this.shared = Math.max(shared, burst / BURST_SHARED) / bar;
  }

  /** Times that values in a row which are all nothing say what WIDTH of them do: as independent ones, from the level that they have drawn down since. */
  #rowOfNothing(): number {
    let row = WIDTH;
    while (row < Math.min(RECENT_VALUES, this.#values.count) && this.#values.before(row) === 0) row++;
    return Math.sqrt(row / WIDTH) / (1 - LEVEL_WEIGHT) ** (row - WIDTH);
  }

  /** The nearest of the newest `width` deviations, on the side at hand. */
  #least(width: number): number {
    let least = Number.POSITIVE_INFINITY;
    for (let back = 0; back < width; back++) least = Math.min(least, this.side * (this.#deviations[back] as number));
    return least;
  }

  /** Deviation that all but one of them reach on the side at hand. */
  #agreed(): number {
    let least = Number.POSITIVE_INFINITY;
    let second = Number.POSITIVE_INFINITY;
    for (let back = 0; back < WIDTH; back++) {
      const deviation = this.side * (this.#deviations[back] as number);
      second = Math.min(second, Math.max(least, deviation));
      least = Math.min(least, deviation);
    }
    return second;
  }

  /** Mean of the newest WIDTH steps in usual ones; `usual` in standard deviations. */
  #meanStep(usual: number): number {
    let sum = 0;
    for (let back = 0; back < WIDTH; back++) {
      const step = Math.abs((this.#deviations[back] as number) - (this.#deviations[back + 1] as number));
      sum += Math.min(BURST_CLIP, step / usual);
    }
    return sum / WIDTH;
  }

  #learn(count: number, value: number): void {
    const floats = this.#floats;
    const level = floats[LEVEL] as number;
    const spread = floats[SPREAD] as number;
    const step = floats[STEP] as number;
    const isClipped = count > UNCLIPPED_VALUES;
    const floor = Math.max(SD_RELATIVE_MIN * Math.abs(level), SD_MIN);
    const most = isClipped ? CLIP * SD_PER_MEAN_DEVIATION * Math.max(spread, floor) : Number.POSITIVE_INFINITY;
    const deviation = Math.max(-most, Math.min(most, value - level));
    floats[LEVEL] = level + Math.max(LEVEL_WEIGHT, 1 / count) * deviation;
    floats[SPREAD] = spread + Math.max(SPREAD_WEIGHT, 1 / count) * (Math.abs(deviation) - spread);
    if (count === 1) return;
    const mostStep = isClipped ? STEP_CLIP * Math.max(step, floor) : Number.POSITIVE_INFINITY;
    const newest = Math.min(mostStep, Math.abs(value - this.#values.before(1)));
    floats[STEP] = step + Math.max(SPREAD_WEIGHT, 1 / count) * (newest - step);
  }
}
