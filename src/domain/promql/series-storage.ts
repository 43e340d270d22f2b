// What queries read: series by matchers, each with its samples as typed arrays.
import type { LabelMatcher } from "./labels/label-matcher.ts";
import type { Labels } from "./labels/labels.ts";

/** Samples of a series, ascending in time, at most one a millisecond; NaN and stale markers are values. Nobody changes them. */
export interface StoredSeries {
  readonly labels: Labels;
  readonly timesMs: Float64Array;
  readonly values: Float64Array;
}

/** Where series come from. A storage that reads lazily has one series in memory at a time. */
export interface SeriesStorage {
  /**
   * Series that fulfil all matchers with their samples from `fromMs` to `toMs`, both ends included; those without samples may be left out.
   * Undefined stands where others may go on.
   */
  select(matchers: readonly LabelMatcher[], fromMs: number, toMs: number): Iterable<StoredSeries | undefined>;
}
