// What an OTLP body holds, decoded from either encoding (protobuf, JSON), and who takes it. Times are milliseconds since 1970, 0 where the sender told
// none; `attributes` of points are identity attributes: the point's own, the instance, the environment.
// https://github.com/open-telemetry/opentelemetry-proto
import type { ValidationReason } from "../../core/layout/counters.ts";
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import type { AttributeLoss } from "../series/retained-attributes.ts";

/** Source of a request's items, as they describe it. */
export interface OtlpSource {
  readonly serviceId: string;
  readonly environment: string;
  /** Resource attributes that belong to a stream's identity: the instance and the environment, under the names they came with. */
  readonly identity: Attributes;
  /** As they are kept. */
  readonly resourceAttributes: Attributes;
  /** What was lost of those. */
  readonly loss: AttributeLoss;
  /** Why nothing of the source may be taken: a name that is none. */
  readonly resourceRefusal: ItemRefusal | undefined;
}

/** Metric data that holds for all its points. */
export interface MetricHead {
  readonly source: OtlpSource;
  readonly metricName: string;
  /** As Prometheus has it: a monotonic sum is a counter, of either temporality. */
  readonly type: "counter" | "gauge" | "histogram" | "summary";
  /** "" where the sender gave none. */
  readonly unit: string;
  /** Name of the scope that sent it; "" for one without a name. */
  readonly scope: string;
}

/** A metric of number points. */
export interface NumberHead extends MetricHead {
  /** A cumulative monotonic sum. */
  readonly isCounter: boolean;
}

/** The head of a gauge or a sum. */
export function numberHead(of: Omit<MetricHead, "type">, isMonotonicSum: boolean, isCumulative: boolean): NumberHead {
  return { ...of, type: isMonotonicSum ? "counter" : "gauge", isCounter: isMonotonicSum && isCumulative };
}

/** A point of a gauge or a sum. */
export interface NumberPoint extends NumberHead {
  /** NaN when the sender gave none, and where it gave NaN. */
  readonly value: number;
  readonly hasValue: boolean;
  readonly isStale: boolean;
  readonly timeMs: number;
  readonly startMs: number;
  /** The point's own attributes as they were sent; the same text means the same attributes. */
  readonly spelling: string;
  /** Identity attributes. */
  readonly attributes: () => Attributes;
}

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
  /** Explicit buckets of a native histogram of Prometheus: no series of their own. */
  readonly isNative?: boolean;
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
  /** As they are kept, and what was lost of them and of those of its resource. */
  readonly attributes: Attributes;
  readonly resourceAttributes: Attributes;
  readonly loss: AttributeLoss;
  /** That of its source. */
  readonly resourceRefusal?: ItemRefusal | undefined;
}

/** One log record; a body that is no string is JSON text. */
export interface OtlpLog {
  readonly serviceId: string;
  readonly environment: string;
  /** Its own time, else when it was observed. */
  readonly timeMs: number;
  /** Nanoseconds of that time behind its millisecond. */
  readonly nanoseconds: number;
  /** SeverityNumber 0..24. */
  readonly severityNumber: number;
  readonly severityText: string;
  readonly body: string;
  /** As they are kept, and what was lost of them and of those of its resource. */
  readonly attributes: Attributes;
  readonly resourceAttributes: Attributes;
  /** That of its source. */
  readonly resourceRefusal?: ItemRefusal | undefined;
  readonly loss: AttributeLoss;
  /** Ids in lower-case hex, "" where absent and where they are none. */
  readonly traceId: string;
  readonly spanId: string;
  /** "" for a log that is no event. */
  readonly eventName: string;
}

/** An item that could not be decoded; its neighbours were. */
export interface DamagedItem {
  readonly message: string;
}

/** Items that a decoder finds, in the order of the body. */
export type MetricItem =
  | { readonly type: "number"; readonly point: NumberPoint }
  | { readonly type: "distribution"; readonly point: DistributionPoint; readonly head: MetricHead }
  | { readonly type: "damaged"; readonly item: DamagedItem };
export type SpanItem = { readonly type: "span"; readonly span: OtlpSpan } | { readonly type: "damaged"; readonly item: DamagedItem };
export type LogItem = { readonly type: "log"; readonly log: OtlpLog } | { readonly type: "damaged"; readonly item: DamagedItem };

/** Why an item is refused; `message` says what was wrong, what was got and what to do. */
export interface ItemRefusal {
  readonly reason: ValidationReason;
  readonly field: string | null;
  readonly message: string;
  /** The item is kept out and counted without a failure of its request: a value that is NaN or infinite. */
  readonly isExcluded?: boolean;
}

/** Takes decoded items, one at a time; undefined when it took the item. */
export interface OtlpConsumer {
  distribution(point: DistributionPoint): ItemRefusal | undefined;
  span(span: OtlpSpan): ItemRefusal | undefined;
  log(log: OtlpLog): ItemRefusal | undefined;
}
