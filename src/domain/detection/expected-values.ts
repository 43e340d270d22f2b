// What was expected of each value: mean and sample standard deviation of the values before it, as the detector's window has them.

import type { MetricRange } from "../series/metric-range.ts";
import { windowStatistics } from "./welford.ts";

/** Values by time, ascending. */
export interface ValueSeries {
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/** Bounds that a value was compared with; null while the window held too few values. */
export interface Expectation {
  readonly expected: number | null;
  readonly lower: number | null;
  readonly upper: number | null;
}

/** Options by which a window is judged. */
export interface ExpectationOptions {
  readonly zThreshold: number;
  readonly samplesMin: number;
  readonly window: number;
  /** Beyond which no bound lies, since no value can. */
  readonly range: MetricRange;
}

export const UNKNOWN_EXPECTATION: Expectation = { expected: null, lower: null, upper: null };

/** The expectation for the value at `place`, from the up to `window` values before it. */
export function expectationAt(values: Float64Array, index: number, options: ExpectationOptions): Expectation {
  const { zThreshold, samplesMin, window, range } = options;
  const first = Math.max(0, index - window);
  if (index - first < samplesMin) return UNKNOWN_EXPECTATION;
  const { mean, variance } = windowStatistics(values.subarray(first, index));
  const width = zThreshold * Math.sqrt(variance ?? 0);
  return { expected: mean, lower: Math.max(range.least, mean - width), upper: Math.min(range.most, mean + width) };
}

/** Means of the values in buckets of `bucketMs`, aligned to 1970; a bucket has the time of its beginning. */
export function bucketMeans({ times, values }: ValueSeries, bucketMs: number): ValueSeries {
  const starts: number[] = [];
  const means: number[] = [];
  for (let at = 0; at < times.length; ) {
    const start = Math.floor((times[at] as number) / bucketMs) * bucketMs;
    let end = at;
    let sum = 0;
    for (; end < times.length && (times[end] as number) < start + bucketMs; end++) sum += values[end] as number;
    starts.push(start);
    means.push(sum / (end - at));
    at = end;
  }
  return { times: Float64Array.from(starts), values: Float64Array.from(means) };
}
