// The departure of a series with a short history: how far the median of what came since has shifted from that of what was before, in robust standard deviations.
// No outlier moves it, and no bound makes two large ones equal; but a short peak is not seen, so where history is long the largest deviation counts (departure.ts).
// About 3 us for 60 values.
import { median, robustStatistics } from "../detection/robust.ts";
import type { Departure } from "./departure.ts";

/** Fewer values before say nothing of what is usual. */
const PAST_VALUES_MIN = 6;
/** Windows of the past that are compared with all of it. */
const PAST_WINDOWS = 12;
/** Shift and spread of ln(1 + |z|) that medians of a few values have by chance, somewhat more than of normal ones. */
const USUAL_SHIFT = 0.5;
const USUAL_SPREAD = 0.3;
const MAD_OF_NORMAL = 1.4826;
const SD_PER_MEAN_DEVIATION = 1.2533;
const SD_MIN = 1e-9;
const SD_RELATIVE_MIN = 5e-3;
/** Standard deviations by which a value that leaves a constant is away. */
const Z_OF_CONSTANT = 20;
const SHIFT_MAX = 100;

/** The departure; undefined where there is too little before or nothing since. */
export function medianShift(past: Float64Array, now: Float64Array): Departure | undefined {
  const before = past.filter((value) => !Number.isNaN(value));
  const since = now.filter((value) => !Number.isNaN(value));
  if (before.length < PAST_VALUES_MIN || since.length === 0) return undefined;
  const { median: centre, mad, meanDeviation } = robustStatistics(before);
  const isConstant = meanDeviation <= SD_MIN;
  const spread = Math.max(MAD_OF_NORMAL * mad, mad === 0 ? SD_PER_MEAN_DEVIATION * meanDeviation : 0);
  const scale = Math.max(spread, SD_MIN, SD_RELATIVE_MIN * Math.abs(centre));
  const noveltyOf = (middle: number) => {
    const z = Math.abs(middle - centre) / scale;
    return Math.max(0, (Math.log1p(isConstant ? Math.min(Z_OF_CONSTANT, z) : z) - USUAL_SHIFT) / USUAL_SPREAD);
  };
  // What grows is further on in the later half.
  const later = median(since.subarray(since.length >> 1));
  const shift = Math.max(-SHIFT_MAX, Math.min(SHIFT_MAX, (later - centre) / scale));
  const novelty = noveltyOf(later);
  return { mean: centre, sd: scale, peak: later, ...placesOf(now, centre, later), novelty, shift, past: usualNovelties(before, noveltyOf) };
}

/** The same of windows of the past, one value each or more. */
function usualNovelties(before: Float64Array, noveltyOf: (middle: number) => number): Float32Array {
  const windows = Math.min(PAST_WINDOWS, before.length);
  return Float32Array.from({ length: windows }, (_, i) => {
    const [from, to] = [Math.floor((i * before.length) / windows), Math.floor(((i + 1) * before.length) / windows)];
    return noveltyOf(median(before.subarray(from, to)));
  });
}

/** Places of the value nearest to the later median, and of the first that is half of the way there. */
function placesOf(now: Float64Array, centre: number, later: number): { peakAt: number; onsetAt: number } {
  let [peakAt, off] = [0, Number.POSITIVE_INFINITY];
  for (let i = 0; i < now.length; i++) {
    const away = Math.abs(now[i]! - later);
    if (away < off) [peakAt, off] = [i, away];
  }
  const half = Math.abs(later - centre) / 2;
  let onsetAt = 0;
  while (onsetAt < peakAt && !(Math.abs(now[onsetAt]! - centre) >= half)) onsetAt++;
  return { peakAt, onsetAt };
}
