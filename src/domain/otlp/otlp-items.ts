// What decoders of OTLP and of native histograms hand on: one item each, with the names by which its stream is known.
import type { ValidationReason } from "../../core/layout/counters.ts";
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";

/** Buckets of an exponential histogram: `counts[i]` lies in (base^(offset + i), base^(offset + i + 1)], base = 2^(2^-scale). */
export interface ExponentialBuckets {
  readonly offset: number;
  readonly counts: readonly number[];
}

/** One point of a histogram or a summary. What its kind does not have is 0 or empty. */
export interface DistributionPoint {
  readonly serviceId: string;
  readonly environment: string;
  readonly metricName: string;
  /** Those that identify the stream. */
  readonly attributes: Attributes;
  readonly temporality: "delta" | "cumulative";
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  /** When counting began; 0 = unknown. */
  readonly startMs: number;
  readonly kind: "explicit" | "exponential" | "summary";
  readonly count: number;
  readonly sum: number | null;
  readonly min: number | null;
  readonly max: number | null;
  /** Explicit: upper bounds, rising; bucketCounts has one more, for what lies above the last. */
  readonly bounds: readonly number[];
  readonly bucketCounts: readonly number[];
  /** Exponential: bucket i covers (base^i, base^(i+1)], base = 2^(2^-scale); i = offset + place in counts. */
  readonly scale: number;
  readonly zeroCount: number;
  readonly zeroThreshold: number;
  readonly positive: ExponentialBuckets;
  readonly negative: ExponentialBuckets;
  /** Summary. */
  readonly quantiles: ReadonlyArray<{ readonly quantile: number; readonly value: number }>;
  /** The sender says that there is no value any more. */
  readonly isStale: boolean;
}

/** Why an item is refused; `message` says what was wrong, what was got and what to do. */
export interface ItemRefusal {
  readonly reason: ValidationReason;
  readonly field: string | null;
  readonly message: string;
}
