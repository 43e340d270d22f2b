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

/** Median; the mean of the middle two for an even number of values; 0 for none. */
export function median(values: ArrayLike<number>): number {
  const own = new Float64Array(values);
  const middle = own.length >> 1;
  if (own.length === 0) return 0;
  const upper = selectIndex(own, own.length, middle);
  if (own.length % 2 === 1) return upper;
  let lower = own[0] as number;
  for (let i = 1; i < middle; i++) lower = Math.max(lower, own[i] as number);
  return lower + (upper - lower) / 2;
}

export function robustStatistics(values: ArrayLike<number>): RobustStatistics {
  const center = median(values);
  const deviations = Float64Array.from(values, (value) => Math.abs(value - center));
  const meanDeviation = deviations.length === 0 ? 0 : deviations.reduce((sum, deviation) => sum + deviation, 0) / deviations.length;
  return { median: center, mad: median(deviations), meanDeviation };
}
