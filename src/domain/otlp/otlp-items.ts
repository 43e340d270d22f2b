// What decoders of OTLP and of native histograms hand on: one item each, with the names by which its stream is known.
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";

/** One point of a histogram or a summary. */
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
  readonly positive: { readonly offset: number; readonly counts: readonly number[] };
  readonly negative: { readonly offset: number; readonly counts: readonly number[] };
  /** Summary. */
  readonly quantiles: ReadonlyArray<{ readonly quantile: number; readonly value: number }>;
  /** The sender says that there is no value any more. */
  readonly isStale: boolean;
}

/** One span. Ids are lower-case hex, "" where absent. */
export interface OtlpSpan {
  readonly serviceId: string;
  readonly environment: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  /** SpanKind: 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  /** Fractional. */
  readonly startMs: number;
  readonly endMs: number;
  /** 0 unset, 1 ok, 2 error. */
  readonly statusCode: number;
  readonly attributes: Attributes;
  readonly resourceAttributes: Attributes;
}

/** One log record; a body that is no string is JSON text. */
export interface OtlpLog {
  readonly serviceId: string;
  readonly environment: string;
  /** Its own time, else when it was observed. */
  readonly timeMs: number;
  /** SeverityNumber 0..24. */
  readonly severityNumber: number;
  readonly severityText: string;
  readonly body: string;
  readonly attributes: Attributes;
  readonly resourceAttributes: Attributes;
  readonly traceId: string;
  readonly spanId: string;
}
