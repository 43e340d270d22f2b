// Native histograms of remote-write 1.0 and 2.0, which have one message between them:
// Histogram {1: count_int, 2: count_float, 3: sum, 4: sint32 schema, 5: zero_threshold, 6: zero_count_int, 7: zero_count_float, 8: negative_spans,
// 9: negative_deltas (sint64), 10: negative_counts, 11: positive_spans, 12: positive_deltas, 13: positive_counts, 14: reset_hint, 15: timestamp,
// 16: custom_values, 17: start_timestamp}, BucketSpan {1: sint32 offset, 2: uint32 length}.
// https://prometheus.io/docs/specs/native_histograms/
// Bucket i of schema s covers (base^(i-1), base^i], base = 2^(2^-s): it is bucket i - 1 of OTLP's exponential histogram of that scale.
import { readNumbers, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT, WireReader } from "../codec/wire-reader.ts";
import type { DistributionPoint, ExponentialBuckets } from "../otlp/otlp-items.ts";

/** Schema of histograms with bounds of their own. */
const CUSTOM_SCHEMA = -53;
const SCHEMA_MIN = -4;
const SCHEMA_MAX = 8;
/** Buckets from the first to the last of one side: OTLP's SDKs make 160, Prometheus limits targets to some hundreds. */
export const NATIVE_BUCKETS_MAX = 4096;
const RESET_HINT_GAUGE = 3;
/** Bits of the NaN that is Prometheus' stale marker, as two words. */
const STALE_HIGH = 0x7ff00000;
const STALE_LOW = 2;

/** A histogram as far as its message goes. */
export type NativeHistogram = Omit<DistributionPoint, "serviceId" | "environment" | "metricName" | "attributes">;

/** What cannot be taken of a histogram, in words for its sender. */
export class NativeHistogramError extends Error {}

interface Span {
  readonly offset: number;
  readonly length: number;
}

class Message {
  count = 0;
  sum = 0;
  isStale = false;
  schema = 0;
  zeroThreshold = 0;
  zeroCount = 0;
  timeMs = 0;
  startMs = 0;
  resetHint = 0;
  customValues: number[] = [];
  readonly negative = { spans: [] as Span[], deltas: [] as number[], counts: [] as number[] };
  readonly positive = { spans: [] as Span[], deltas: [] as number[], counts: [] as number[] };
}

/**
 * Decodes a Histogram message; `createdMs` is the start that its series tells, 0 for none. Throws NativeHistogramError when it is malformed, of a schema that is
 * not defined, or has more than NATIVE_BUCKETS_MAX buckets on a side.
 */
export function decodeNativeHistogram(content: Uint8Array, createdMs: number): NativeHistogram {
  const message = readMessage(content);
  const { schema, timeMs } = message;
  const startMs = message.startMs > 0 ? message.startMs : Math.max(0, createdMs);
  const isCustom = schema === CUSTOM_SCHEMA;
  if (!isCustom && (schema < SCHEMA_MIN || schema > SCHEMA_MAX))
    throw new NativeHistogramError(`its schema is ${schema}; -4 to 8 and -53 are known`);
  const none: ExponentialBuckets = { offset: 0, counts: [] };
  const common = {
    temporality: "cumulative" as const,
    timeMs,
    startMs,
    count: message.count,
    sum: Number.isFinite(message.sum) ? message.sum : null,
    min: null,
    max: null,
    quantiles: [],
    isStale: message.isStale,
  };
  const empty = { bounds: [], bucketCounts: [], scale: 0, zeroCount: 0, zeroThreshold: 0, positive: none, negative: none };
  if (common.isStale) return { ...common, ...empty, kind: isCustom ? "explicit" : "exponential" };
  if (message.resetHint === RESET_HINT_GAUGE) throw new NativeHistogramError("it is a gauge histogram, of which no increase can be taken");
  if (isCustom) return { ...common, ...empty, kind: "explicit", bounds: message.customValues, bucketCounts: customCounts(message) };
  const side = (buckets: Message["positive"]): ExponentialBuckets => {
    const { first, counts } = bucketCounts(buckets);
    return { offset: first - 1, counts };
  };
  return {
    ...common,
    ...empty,
    kind: "exponential",
    scale: schema,
    zeroCount: message.zeroCount,
    zeroThreshold: message.zeroThreshold,
    positive: side(message.positive),
    negative: side(message.negative),
  };
}

/** Counts by custom bound, the last one for what is above all. */
function customCounts(message: Message): number[] {
  const { first, counts } = bucketCounts(message.positive);
  const places = message.customValues.length + 1;
  if (places > NATIVE_BUCKETS_MAX) throw new NativeHistogramError(`it has ${places} buckets; ${NATIVE_BUCKETS_MAX} are taken`);
  if (first < 0 || first + counts.length > places) throw new NativeHistogramError(`its buckets go beyond its ${places - 1} custom values`);
  return Array.from({ length: places }, (_, place) => counts[place - first] ?? 0);
}

/** Counts from the first bucket to the last, gaps as 0; integers come as differences from bucket to bucket. */
function bucketCounts({ spans, deltas, counts: floats }: Message["positive"]): { first: number; counts: number[] } {
  const given = spans.reduce((sum, { length }) => sum + length, 0);
  const told = Math.max(deltas.length, floats.length);
  if (given !== told) throw new NativeHistogramError(`its spans have ${given} buckets, but ${told} counts are given`);
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
      running += deltas[next] ?? 0;
      counts.push(floats.length > 0 ? (floats[next] as number) : running);
    }
  }
  if (counts.some((count) => !(count >= 0 && Number.isFinite(count))))
    throw new NativeHistogramError("a bucket's count is not a number from 0 up");
  return { first, counts };
}

function readMessage(content: Uint8Array): Message {
  const reader = new WireReader(content);
  const message = new Message();
  while (reader.next(content.length)) takeField(message, reader);
  if (reader.failed || !Number.isFinite(message.count) || message.count < 0) throw new NativeHistogramError("it is malformed");
  return message;
}

function takeField(message: Message, reader: WireReader): void {
  const number = NUMBERS[reader.field];
  const list = LISTS[reader.field];
  const wireTypes = number?.[0] ?? list?.[0];
  if (wireTypes === undefined) return;
  if (!wireTypes.includes(reader.wire)) throw new NativeHistogramError(`its field ${reader.field} has another wire type than it should`);
  if (list !== undefined) list[1](message, reader);
  if (number === undefined) return;
  message[number[1]] = reader[number[2]]();
  if (number[1] === "sum") message.isStale = reader.high === STALE_HIGH && reader.low === STALE_LOW;
}

const VARINT = [WIRE_VARINT];
const DOUBLE = [WIRE_FIXED64];
const SPAN = [WIRE_BYTES];
const ZIGZAGS = [WIRE_BYTES, WIRE_VARINT];
const DOUBLES = [WIRE_BYTES, WIRE_FIXED64];

type NumberField = "count" | "sum" | "schema" | "zeroThreshold" | "zeroCount" | "resetHint" | "timeMs" | "startMs";
const NUMBERS: Readonly<Record<number, readonly [wireTypes: readonly number[], field: NumberField, as: "signed" | "zigzag64" | "double"]>> =
  {
    1: [VARINT, "count", "signed"],
    2: [DOUBLE, "count", "double"],
    3: [DOUBLE, "sum", "double"],
    4: [VARINT, "schema", "zigzag64"],
    5: [DOUBLE, "zeroThreshold", "double"],
    6: [VARINT, "zeroCount", "signed"],
    7: [DOUBLE, "zeroCount", "double"],
    14: [VARINT, "resetHint", "signed"],
    15: [VARINT, "timeMs", "signed"],
    17: [VARINT, "startMs", "signed"],
  };

const LISTS: Readonly<Record<number, readonly [wireTypes: readonly number[], take: (message: Message, reader: WireReader) => void]>> = {
  8: [SPAN, (message, reader) => takeSpan(message.negative.spans, reader)],
  9: [ZIGZAGS, (message, reader) => takeNumbers(message.negative.deltas, reader, WIRE_VARINT)],
  10: [DOUBLES, (message, reader) => takeNumbers(message.negative.counts, reader, WIRE_FIXED64)],
  11: [SPAN, (message, reader) => takeSpan(message.positive.spans, reader)],
  12: [ZIGZAGS, (message, reader) => takeNumbers(message.positive.deltas, reader, WIRE_VARINT)],
  13: [DOUBLES, (message, reader) => takeNumbers(message.positive.counts, reader, WIRE_FIXED64)],
  16: [DOUBLES, (message, reader) => takeNumbers(message.customValues, reader, WIRE_FIXED64)],
};

/** Differences (varints, zigzag) or doubles. Bounded here already, so that no sender decides how much is held. */
function takeNumbers(numbers: number[], reader: WireReader, wire: number): void {
  readNumbers(reader, wire, 2 * NATIVE_BUCKETS_MAX, numbers, () => (wire === WIRE_VARINT ? reader.zigzag64() : reader.double()));
  if (numbers.length > 2 * NATIVE_BUCKETS_MAX) throw new NativeHistogramError(`it has more than ${NATIVE_BUCKETS_MAX} buckets`);
}

function takeSpan(spans: Span[], reader: WireReader): void {
  const end = reader.to;
  let offset = 0;
  let length = 0;
  reader.enter();
  while (reader.next(end)) {
    if (reader.field > 2) continue;
    if (reader.wire !== WIRE_VARINT) throw new NativeHistogramError("a span of its buckets is malformed");
    if (reader.field === 1) offset = reader.zigzag64();
    else length = reader.signed();
  }
  if (reader.failed || length < 0 || spans.length >= NATIVE_BUCKETS_MAX)
    throw new NativeHistogramError("a span of its buckets is malformed");
  spans.push({ offset, length });
}
