// Median, median absolute deviation and the robust z-score (Iglewicz & Hoaglin 1993), always finite.
import { selectPlace } from "../../core/collections/selection.ts";

/** Median absolute deviation of a normal, in standard deviations: its 75 % quantile, 0.6745. */
const MAD_OF_NORMAL = 1 / 1.4826022185056018;
/** Standard deviation of a normal, in mean absolute deviations: sqrt(pi / 2). */
const SD_PER_MEAN_DEVIATION = 1.253314;
const SD_MIN = 1e-9;
const SD_RELATIVE_MIN = 1e-3;
const Z_MAX = 99;

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
  const upper = selectPlace(own, own.length, middle);
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

/** 0.6745 (x - median) / MAD; without MAD by the mean deviation, without that by the floors of the standard deviation. Within +-99. */
export function robustZ(value: number, statistics: RobustStatistics): number {
  const { median: center, mad, meanDeviation } = statistics;
  const floor = Math.max(SD_MIN, SD_RELATIVE_MIN * Math.abs(center));
  const sd = mad > 0 ? mad / MAD_OF_NORMAL : meanDeviation > 0 ? SD_PER_MEAN_DEVIATION * meanDeviation : floor;
  const z = (value - center) / sd;
  return Number.isNaN(z) ? 0 : Math.min(Z_MAX, Math.max(-Z_MAX, z));
}
