// Median, median absolute deviation and mean deviation of values, and what they are of a normal (Iglewicz & Hoaglin 1993).
import { selectIndex } from "../../core/collections/selection.ts";

/** Standard deviations of a normal per median absolute deviation, and per mean absolute deviation: sqrt(pi / 2). */
export const MAD_TO_SD = 1.4826;
export const SD_PER_MEAN_DEVIATION = 1.2533;

/** Location and spreads of a sample, all 0 for an empty one. */
export interface RobustStatistics {
  readonly median: number;
  /** Median of |x - median|, not scaled. */
  readonly mad: number;
  /** Mean of |x - median|. */
  readonly meanDeviation: number;
}

/** Numbers at hand, so that a few values make no array of their own. */
const SCRATCH_VALUES = 512;
const SCRATCH = new Float64Array(SCRATCH_VALUES);

/** Median of the values between two indexes, of all unless given; the mean of the middle two for an even number of them; 0 for none. */
export function median(values: ArrayLike<number>, from = 0, end = values.length): number {
  const count = end - from;
  const own = count <= SCRATCH_VALUES ? SCRATCH : new Float64Array(count);
  for (let i = 0; i < count; i++) own[i] = values[from + i] as number;
  return middleOf(own, count);
}

/** The median of the first values of an array, whose order changes. */
function middleOf(own: Float64Array, count: number): number {
  const middle = count >> 1;
  if (count === 0) return 0;
  const upper = selectIndex(own, count, middle);
  if (count % 2 === 1) return upper;
  let lower = own[0] as number;
  for (let i = 1; i < middle; i++) lower = Math.max(lower, own[i] as number);
  return lower + (upper - lower) / 2;
}

/** Of the values between two indexes, of all unless given. */
export function robustStatistics(values: ArrayLike<number>, from = 0, end = values.length): RobustStatistics {
  const center = median(values, from, end);
  const count = end - from;
  const deviations = count <= SCRATCH_VALUES ? SCRATCH : new Float64Array(count);
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const deviation = Math.abs((values[from + i] as number) - center);
    deviations[i] = deviation;
    sum += deviation;
  }
  return { median: center, mad: middleOf(deviations, count), meanDeviation: count === 0 ? 0 : sum / count };
}
