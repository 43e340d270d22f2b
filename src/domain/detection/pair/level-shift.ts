// How far the mean of the newest values of a pair is from its history.
import type { DriftingMoments } from "../rolling/drifting-moments.ts";

/**
 * Scatter of a short mean relative to that of its values: as if of four independent ones. Means of white noise scatter less, and a shift of one
 * standard deviation would be an alert; such a shift is seldom worth a page.
 */
const MEAN_SCATTER_MIN = 0.5;

/** Standard deviations of a short mean from its own history, which is taken to scatter at least by `floor`, and by MEAN_SCATTER_MIN of what its values do. */
export function shiftOf(mean: number, history: DriftingMoments, values: DriftingMoments, floor: number): number {
  const sd = Math.max(history.sd, floor);
  return history.isScored ? ((mean - history.mean) / sd) * Math.min(1, sd / (MEAN_SCATTER_MIN * Math.max(values.sd, floor))) : 0;
}

/** Size of one of these standard deviations in the unit of the values. */
export function scaleOf(history: DriftingMoments, values: DriftingMoments, floor: number): number {
  return Math.max(history.sd, floor, MEAN_SCATTER_MIN * values.sd);
}
