// Native histograms of remote-write 1.0 and 2.0, which have one message between them (schemas/prometheus/native-histogram.proto); protobufjs reads it.
// https://prometheus.io/docs/specs/native_histograms/
// Bucket i of schema s covers (base^(i-1), base^i], base = 2^(2^-s): it is bucket i - 1 of OTLP's exponential histogram of that scale.
import { WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT, WireReader } from "../codec/wire-reader.ts";
import type { DistributionPoint, ExponentialBuckets } from "../otlp/otlp-items.ts";
import { prometheus } from "./generated/metric-messages.ts";

/** Schema of histograms with bounds of their own. */
const CUSTOM_SCHEMA = -53;
export const SCHEMA_MIN = -4;
export const SCHEMA_MAX = 8;
/** Buckets from the first to the last of one side: OTLP's SDKs make 160, Prometheus limits targets to some hundreds. */
export const NATIVE_BUCKETS_MAX = 4096;
/** Bytes of a message: both sides of NATIVE_BUCKETS_MAX buckets, each a span of its own of at most 18 bytes with a count of at most 10, come to 229,376. */
const MESSAGE_BYTES_MAX = 256 * 1024;
const RESET_HINT_GAUGE = 3;
/** Bits of the NaN that is Prometheus' stale marker, as two words. */
const STALE_HIGH = 0x7ff00000;
const STALE_LOW = 2;

/** A histogram as far as its message goes. */
export type NativeHistogram = Omit<DistributionPoint, "serviceId" | "environment" | "metricName" | "attributes">;

/** Error of a histogram that cannot be taken, in words for its sender. */
export class NativeHistogramError extends Error {}

/** One that has no count, as a recording rule of 0/0 makes it. */
export class NotFiniteError extends NativeHistogramError {}

/** A whole number as protobufjs reads one of 64 bits. */
interface Long {
  toNumber(): number;
}

/** prometheus.Histogram as protobufjs reads it. */
interface Message {
  readonly countInt?: Long | null;
  readonly countFloat?: number | null;
  readonly sum: number;
  readonly schema: number;
  readonly zeroThreshold: number;
  readonly zeroCountInt?: Long | null;
  readonly zeroCountFloat?: number | null;
  readonly negativeSpans: readonly Span[];
  readonly negativeDeltas: readonly Long[];
  readonly negativeCounts: readonly number[];
  readonly positiveSpans: readonly Span[];
  readonly positiveDeltas: readonly Long[];
  readonly positiveCounts: readonly number[];
  readonly resetHint: number;
  readonly timestamp: Long;
  readonly customValues: readonly number[];
  readonly startTimestamp: Long;
}

interface Span {
  readonly offset: number;
  readonly length: number;
}

/** Buckets of one side as they are sent. */
interface SentBuckets {
  readonly spans: readonly Span[];
  readonly deltas: readonly Long[];
  readonly counts: readonly number[];
}

const HISTOGRAM: { decode(bytes: Uint8Array): Message } = prometheus.Histogram;
const NO_BUCKETS: ExponentialBuckets = { offset: 0, counts: [] };

/**
 * Decodes a Histogram message; `createdMs` is the start that its series tells, 0 for none. Throws NativeHistogramError when it is malformed, of a schema that is
 * not defined, or has more than NATIVE_BUCKETS_MAX buckets on a side.
 */
export function decodeNativeHistogram(content: Uint8Array, createdMs: number): NativeHistogram {
  const { isStale } = checkFields(content);
  const message = readMessage(content);
  const { schema, sum } = message;
  const isCustom = schema === CUSTOM_SCHEMA;
  if (!isCustom && (schema < SCHEMA_MIN || schema > SCHEMA_MAX))
    throw new NativeHistogramError(`its schema is ${schema}; -4 to 8 and -53 are known`);
  const startMs = message.startTimestamp.toNumber();
  const hasBounds = isCustom && !isStale;
  const hasBuckets = !isCustom && !isStale;
  return {
    kind: isCustom ? "explicit" : "exponential",
    ...(isCustom ? { isNative: true } : {}),
    temporality: message.resetHint === RESET_HINT_GAUGE ? "delta" : "cumulative", // what a gauge histogram says stands for itself
    timeMs: message.timestamp.toNumber(),
    startMs: startMs > 0 ? startMs : Math.max(0, createdMs),
    count: countOf(message),
    sum: Number.isFinite(sum) ? sum : null,
    min: null,
    max: null,
    quantiles: [],
    isStale,
    bounds: hasBounds ? message.customValues : [],
    bucketCounts: hasBounds ? customCounts(message) : [],
    scale: hasBuckets ? schema : 0,
    zeroCount: hasBuckets ? (message.zeroCountFloat ?? message.zeroCountInt?.toNumber() ?? 0) : 0,
    zeroThreshold: hasBuckets ? message.zeroThreshold : 0,
    positive: hasBuckets ? exponentialBuckets(positiveOf(message)) : NO_BUCKETS,
    negative: hasBuckets ? exponentialBuckets(negativeOf(message)) : NO_BUCKETS,
  };
}

function countOf({ countFloat, countInt }: Message): number {
  const count = countFloat ?? countInt?.toNumber() ?? 0;
  if (!Number.isFinite(count)) throw new NotFiniteError(`its count is ${count}, which is not finite`);
  if (count < 0) throw new NativeHistogramError("it is malformed");
  return count;
}

const positiveOf = ({ positiveSpans: spans, positiveDeltas: deltas, positiveCounts: counts }: Message): SentBuckets => ({
  spans,
  deltas,
  counts,
});
const negativeOf = ({ negativeSpans: spans, negativeDeltas: deltas, negativeCounts: counts }: Message): SentBuckets => ({
  spans,
  deltas,
  counts,
});

function exponentialBuckets(buckets: SentBuckets): ExponentialBuckets {
  const { first, counts } = bucketCounts(buckets);
  return { offset: first - 1, counts };
}

/** Counts by custom bound, the last one for what is above all. */
function customCounts(message: Message): number[] {
  const { first, counts } = bucketCounts(positiveOf(message));
  const places = message.customValues.length + 1;
  if (places > NATIVE_BUCKETS_MAX) throw new NativeHistogramError(`it has ${places} buckets; ${NATIVE_BUCKETS_MAX} are taken`);
  if (first < 0 || first + counts.length > places) throw new NativeHistogramError(`its buckets go beyond its ${places - 1} custom values`);
  return Array.from({ length: places }, (_, index) => counts[index - first] ?? 0);
}

/** Counts from the first bucket to the last, gaps as 0; integers come as differences from bucket to bucket. */
function bucketCounts({ spans, deltas, counts: floats }: SentBuckets): { first: number; counts: number[] } {
  const input = spans.reduce((sum, { length }) => sum + length, 0);
  const reported = Math.max(deltas.length, floats.length);
  if (input !== reported) throw new NativeHistogramError(`its spans have ${input} buckets, but ${reported} counts are given`);
  const first = spans[0]?.offset ?? 0;
  const counts: number[] = [];
  let next = 0;
  let running = 0;
  for (const [i, { offset, length }] of spans.entries()) {
    if (i > 0 && offset < 0) throw new NativeHistogramError("its spans overlap");
    if (counts.length + (i === 0 ? 0 : offset) + length > NATIVE_BUCKETS_MAX)
      throw new NativeHistogramError(`its buckets span more than ${NATIVE_BUCKETS_MAX}`);
    if (i > 0) for (let gap = 0; gap < offset; gap++) counts.push(0);
    for (let bucket = 0; bucket < length; bucket++, next++) {
      running += deltas[next]?.toNumber() ?? 0;
      counts.push(floats.length > 0 ? (floats[next] as number) : running);
    }
  }
  if (counts.some((count) => !(count >= 0 && Number.isFinite(count))))
    throw new NativeHistogramError("a bucket's count is not a number from 0 up");
  return { first, counts };
}

function readMessage(content: Uint8Array): Message {
  let message: Message;
  try {
    message = HISTOGRAM.decode(content);
  } catch {
    throw new NativeHistogramError("it is malformed");
  }
  for (const { spans, deltas, counts } of [positiveOf(message), negativeOf(message)]) {
    if (deltas.length > 2 * NATIVE_BUCKETS_MAX || counts.length > 2 * NATIVE_BUCKETS_MAX)
      throw new NativeHistogramError(`it has more than ${NATIVE_BUCKETS_MAX} buckets`);
    if (spans.length > NATIVE_BUCKETS_MAX) throw new NativeHistogramError("a span of its buckets is malformed");
  }
  return message;
}

const VARINT = 1 << WIRE_VARINT;
const DOUBLE = 1 << WIRE_FIXED64;
const BYTES = 1 << WIRE_BYTES;
const FIELD_SUM = 3;
/** Wire types that each field may have, by its number: protobufjs passes over others, and Prometheus refuses them. */
const WIRE_TYPES = Uint8Array.of(
  0,
  ...[VARINT, DOUBLE, DOUBLE, VARINT, DOUBLE, VARINT, DOUBLE],
  ...[BYTES, BYTES | VARINT, BYTES | DOUBLE, BYTES, BYTES | VARINT, BYTES | DOUBLE],
  ...[VARINT, VARINT, BYTES | DOUBLE, VARINT],
);

/** Looks at the fields before they are read: their wire types, whether the sum is the stale marker, and that the sender does not decide how much is held. */
function checkFields(content: Uint8Array): { isStale: boolean } {
  if (content.length > MESSAGE_BYTES_MAX)
    throw new NativeHistogramError(`it has more than ${NATIVE_BUCKETS_MAX} buckets, or fields that a histogram has not`);
  const reader = new WireReader(content);
  let isStale = false;
  while (reader.next(content.length)) {
    const allowed = WIRE_TYPES[reader.field] ?? 0;
    if (allowed !== 0 && (allowed & (1 << reader.wire)) === 0)
      throw new NativeHistogramError(`its field ${reader.field} has another wire type than it should`);
    if (reader.field === FIELD_SUM) isStale = reader.high === STALE_HIGH && reader.low === STALE_LOW;
  }
  if (reader.failed) throw new NativeHistogramError("it is malformed");
  return { isStale };
}
