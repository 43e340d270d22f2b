// Points of histograms and summaries, decoded from whatever protocol they came in.
import type { ValidationReason } from "../../core/layout/counters.ts";
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";

/** Buckets of an exponential histogram: `counts[i]` lies in (base^(offset + i), base^(offset + i + 1)], base = 2^(2^-scale). */
export interface ExponentialBuckets {
  readonly offset: number;
  readonly counts: number[];
}

/** A point of a histogram or a summary. What its kind does not have is 0 or empty. */
export interface DistributionPoint {
  readonly serviceId: string;
  readonly environment: string;
  readonly metricName: string;
  readonly attributes: Attributes;
  readonly temporality: "delta" | "cumulative";
  /** Whole. */
  readonly timeMs: number;
  readonly startMs: number;
  readonly kind: "explicit" | "exponential" | "summary";
  readonly count: number;
  readonly sum: number | null;
  readonly min: number | null;
  readonly max: number | null;
  /** Upper bounds, one fewer than `bucketCounts` has; both empty when the point has no buckets. */
  readonly bounds: number[];
  readonly bucketCounts: number[];
  readonly scale: number;
  readonly zeroCount: number;
  readonly zeroThreshold: number;
  readonly positive: ExponentialBuckets;
  readonly negative: ExponentialBuckets;
  readonly quantiles: Array<{ readonly quantile: number; readonly value: number }>;
  /** NO_RECORDED_VALUE. */
  readonly isStale: boolean;
}

/** Why an item is refused; `message` says what was wrong, what was got and what to do. */
export interface ItemRefusal {
  readonly reason: ValidationReason;
  readonly field: string | null;
  readonly message: string;
}
