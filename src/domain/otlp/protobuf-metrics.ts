// Points of ExportMetricsServiceRequest in protobuf. The ingest's kernel stages the number points of usual bodies; here are histograms and summaries, the
// number points that it hands over one by one, and bodies that it does not read.
// Fields: opentelemetry/proto/metrics/v1/metrics.proto.
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import { readNumbers, WIRE_FIXED64, WIRE_VARINT, WireReader } from "../codec/wire-reader.ts";
import {
  type DistributionPoint,
  type ExponentialBuckets,
  type MetricItem,
  type NumberHead,
  type NumberPoint,
  numberHead,
  type OtlpSource,
} from "./otlp-items.ts";
import { BUCKETS_MAX, temporalityProblem } from "./otlp-limits.ts";
import { identityAttributes } from "./otlp-source.ts";
import { type AttributeMap, readAttribute } from "./protobuf-attributes.ts";
import { DAMAGED_RESOURCE, itemsOf, type PlacedItem, scopeNameOf } from "./protobuf-request.ts";

const FIELD_GAUGE = 5;
const FIELD_SUM = 7;
const FIELD_HISTOGRAM = 9;
const FIELD_EXPONENTIAL = 10;
const FIELD_SUMMARY = 11;
const DATA_FIELDS: ReadonlySet<number> = new Set([FIELD_GAUGE, FIELD_SUM, FIELD_HISTOGRAM, FIELD_EXPONENTIAL, FIELD_SUMMARY]);
export const DELTA = 1;
export const CUMULATIVE = 2;
export const NO_RECORDED_VALUE = 1;

/** Metrics without an item that are passed before the caller may look up: 0.1 ms. */
const SILENT_METRICS_MAX = 128;

/** A metric without its points, and its resource. */
interface SourcedMetric extends Omit<MetricData, "parts"> {
  readonly source: OtlpSource;
  readonly scope: string;
}

/** The points of a body that the kernel takes; without number points when `distributionsOnly`. Undefined as itemsOf() has it. */
export function* metricsOfProtobuf(bytes: Buffer, distributionsOnly: boolean, prefixes = false): Generator<MetricItem | undefined> {
  let silent = 0;
  let scope: PlacedItem["scope"] | undefined;
  let scopeName = "";
  for (const placed of itemsOf(bytes, prefixes)) {
    if (placed === undefined || ++silent % SILENT_METRICS_MAX === 0) yield undefined;
    if (placed === undefined) continue;
    const { source, from, to } = placed;
    const reader = new WireReader(bytes);
    const data = findData(reader, from, to);
    const isNumber = data.kind === FIELD_GAUGE || data.kind === FIELD_SUM;
    if (data.kind === 0 || (isNumber && distributionsOnly)) continue;
    if (placed.scope !== scope) scopeName = scopeNameOf(bytes, placed.scope);
    scope = placed.scope;
    for (const part of data.parts) yield* pointsOf(reader, part, { ...data, scope: scopeName }, source);
  }
}

interface MetricData {
  readonly name: string;
  readonly unit: string;
  readonly kind: number;
  /** Content of its data: several where the message is given in several fields. */
  readonly parts: ReadonlyArray<{ readonly from: number; readonly to: number }>;
  readonly temporality: number;
  readonly isMonotonic: boolean;
}

/** Returns true for a field of the data that says its temporality or whether it is monotonic. */
export function isFlagOf(kind: number, field: number): boolean {
  return (field === 2 && kind !== FIELD_GAUGE && kind !== FIELD_SUMMARY) || (field === 3 && kind === FIELD_SUM);
}

function findData(reader: WireReader, from: number, to: number): MetricData {
  let name = "";
  let unit = "";
  let kind = 0;
  let parts: Array<{ from: number; to: number }> = [];
  reader.at = from;
  while (reader.next(to)) {
    if (reader.field === 1) name = reader.name();
    else if (reader.field === 3) unit = reader.text();
    else if (DATA_FIELDS.has(reader.field)) {
      if (reader.field !== kind) parts = []; // of a oneof the last member counts
      kind = reader.field;
      parts.push({ from: reader.from, to: reader.to });
    }
  }
  let temporality = 0;
  let isMonotonic = false;
  for (const part of parts) {
    reader.at = part.from;
    while (reader.next(part.to)) {
      if (reader.field === 2 && isFlagOf(kind, 2)) temporality = reader.unsigned();
      else if (reader.field === 3 && isFlagOf(kind, 3)) isMonotonic = reader.unsigned() !== 0;
    }
  }
  return { name, unit, kind, parts, temporality, isMonotonic };
}

function* pointsOf(
  reader: WireReader,
  { from, to }: { readonly from: number; readonly to: number },
  data: MetricData & { readonly scope: string },
  source: OtlpSource | undefined,
): Generator<MetricItem> {
  reader.at = from;
  while (reader.next(to)) {
    if (reader.field !== 1) continue;
    const pointFrom = reader.from;
    const pointTo = reader.to;
    if (source === undefined) yield { type: "damaged", item: { message: DAMAGED_RESOURCE } };
    else yield readPoint(reader, pointFrom, pointTo, { ...data, source });
    reader.at = pointTo;
    reader.failed = false;
  }
}

function readPoint(reader: WireReader, from: number, to: number, metric: SourcedMetric): MetricItem {
  reader.at = from;
  const { source, name: metricName, unit, scope, kind, temporality, isMonotonic } = metric;
  if (kind === FIELD_GAUGE || kind === FIELD_SUM) {
    const head = numberHead({ source, metricName, unit, scope }, kind === FIELD_SUM && isMonotonic, temporality === CUMULATIVE);
    const point = readNumberPoint(reader, to, head);
    return point === undefined ? damaged("a number point") : { type: "number", point };
  }
  if (kind !== FIELD_SUMMARY && temporality !== DELTA && temporality !== CUMULATIVE) {
    return { type: "damaged", item: { message: temporalityProblem(temporality) } };
  }
  const draft = new DistributionDraft(metric);
  if (!draft.read(reader, to)) return damaged("a point of a histogram or summary");
  const head = { source, metricName, unit, scope, type: kind === FIELD_SUMMARY ? "summary" : "histogram" } as const;
  return { type: "distribution", point: draft.point(), head };
}

function damaged(what: string): MetricItem {
  return {
    type: "damaged",
    item: { message: `the attributes or buckets of ${what} are not valid protobuf, or more than a point may have` },
  };
}

/** Reads the NumberDataPoint at the reader, which ends at `to`; undefined when its attributes cannot be read. */
export function readNumberPoint(reader: WireReader, to: number, head: NumberHead): NumberPoint | undefined {
  let startMs = 0;
  let timeMs = 0;
  let value = Number.NaN;
  let hasValue = false;
  let flags = 0;
  const own: AttributeMap = {};
  while (reader.next(to)) {
    if (reader.field === 2) startMs = reader.milliseconds();
    else if (reader.field === 3) timeMs = reader.milliseconds();
    else if (reader.field === 4 || reader.field === 6) {
      value = reader.field === 4 ? reader.double() : reader.signed();
      hasValue = true;
    } else if (reader.field === 7) readAttribute(reader, own);
    else if (reader.field === 8) flags = reader.unsigned();
  }
  if (reader.failed) return undefined;
  const isStale = (flags & NO_RECORDED_VALUE) !== 0;
  return {
    source: head.source,
    metricName: head.metricName,
    type: head.type,
    unit: head.unit,
    scope: head.scope,
    isCounter: head.isCounter,
    value,
    hasValue,
    isStale,
    timeMs,
    startMs,
    spelling: JSON.stringify(own),
    attributes: () => identityAttributes(head.source, own),
  };
}

/** Fields of a distribution point, whose numbers differ between the three kinds. */
const EXPLICIT = { attributes: 9, start: 2, time: 3, count: 4, sum: 5, flags: 10, min: 11, max: 12 } as const;
const EXPONENTIAL = { attributes: 1, start: 2, time: 3, count: 4, sum: 5, flags: 10, min: 12, max: 13 } as const;
const SUMMARY = { attributes: 7, start: 2, time: 3, count: 4, sum: 5, flags: 8, min: 0, max: 0 } as const;
const NO_BUCKETS = (): ExponentialBuckets => ({ offset: 0, counts: [] });

/** A distribution point as it is read. */
class DistributionDraft {
  readonly #metric: SourcedMetric;
  readonly #own: AttributeMap = {};
  #startMs = 0;
  #timeMs = 0;
  #count = 0;
  #sum: number | null = null;
  #min: number | null = null;
  #max: number | null = null;
  #flags = 0;
  #bounds: number[] = [];
  #bucketCounts: number[] = [];
  #scale = 0;
  #zeroCount = 0;
  #zeroThreshold = 0;
  #positive = NO_BUCKETS();
  #negative = NO_BUCKETS();
  #quantiles: Array<{ quantile: number; value: number }> = [];

  constructor(metric: SourcedMetric) {
    this.#metric = metric;
  }

  /** False when the point cannot be read. */
  read(reader: WireReader, to: number): boolean {
    const { kind } = this.#metric;
    const fields = kind === FIELD_HISTOGRAM ? EXPLICIT : kind === FIELD_EXPONENTIAL ? EXPONENTIAL : SUMMARY;
    while (reader.next(to)) {
      if (reader.field === fields.attributes) readAttribute(reader, this.#own);
      else if (reader.field === fields.start) this.#startMs = reader.milliseconds();
      else if (reader.field === fields.time) this.#timeMs = reader.milliseconds();
      else if (reader.field === fields.count) this.#count = reader.unsigned();
      else if (reader.field === fields.sum) this.#sum = reader.double();
      else if (reader.field === fields.flags) this.#flags = reader.unsigned();
      else if (reader.field === fields.min) this.#min = reader.double();
      else if (reader.field === fields.max) this.#max = reader.double();
      else if (kind === FIELD_HISTOGRAM) this.#readExplicit(reader);
      else if (kind === FIELD_EXPONENTIAL) this.#readExponential(reader);
      else this.#readSummary(reader);
    }
    const buckets = [this.#bounds, this.#bucketCounts, this.#positive.counts, this.#negative.counts, this.#quantiles];
    return !reader.failed && buckets.every(({ length }) => length <= BUCKETS_MAX);
  }

  #readExplicit(reader: WireReader): void {
    if (reader.field === 6) readNumbers(reader, WIRE_FIXED64, BUCKETS_MAX, this.#bucketCounts, () => reader.unsigned());
    else if (reader.field === 7) readNumbers(reader, WIRE_FIXED64, BUCKETS_MAX, this.#bounds, () => reader.double());
  }

  #readExponential(reader: WireReader): void {
    if (reader.field === 6) this.#scale = reader.zigzag();
    else if (reader.field === 7) this.#zeroCount = reader.unsigned();
    else if (reader.field === 8) this.#positive = readBuckets(reader);
    else if (reader.field === 9) this.#negative = readBuckets(reader);
    else if (reader.field === 14) this.#zeroThreshold = reader.double();
  }

  #readSummary(reader: WireReader): void {
    if (reader.field !== 6) return;
    const quantile = readQuantile(reader);
    if (this.#quantiles.length <= BUCKETS_MAX) this.#quantiles.push(quantile);
  }

  point(): DistributionPoint {
    const { source, name, kind, temporality } = this.#metric;
    return {
      serviceId: source.serviceId,
      environment: source.environment,
      metricName: name,
      attributes: identityAttributes(source, this.#own) as Attributes,
      temporality: temporality === DELTA ? "delta" : "cumulative",
      timeMs: this.#timeMs,
      startMs: this.#startMs,
      kind: kind === FIELD_HISTOGRAM ? "explicit" : kind === FIELD_EXPONENTIAL ? "exponential" : "summary",
      count: this.#count,
      sum: this.#sum,
      min: this.#min,
      max: this.#max,
      bounds: this.#bounds,
      bucketCounts: this.#bucketCounts,
      scale: this.#scale,
      zeroCount: this.#zeroCount,
      zeroThreshold: this.#zeroThreshold,
      positive: this.#positive,
      negative: this.#negative,
      quantiles: this.#quantiles,
      isStale: (this.#flags & NO_RECORDED_VALUE) !== 0,
    };
  }
}

/** ValueAtQuantile {1: quantile, 2: value}. */
function readQuantile(reader: WireReader): { quantile: number; value: number } {
  const end = reader.to;
  const result = { quantile: 0, value: 0 };
  if (!reader.enter()) return result;
  while (reader.next(end)) {
    if (reader.field === 1) result.quantile = reader.double();
    else if (reader.field === 2) result.value = reader.double();
  }
  return result;
}

/** Buckets {1: sint32 offset, 2: uint64 counts}. */
function readBuckets(reader: WireReader): ExponentialBuckets {
  const end = reader.to;
  let offset = 0;
  const counts: number[] = [];
  if (!reader.enter()) return { offset, counts };
  while (reader.next(end)) {
    if (reader.field === 1) offset = reader.zigzag();
    else if (reader.field === 2) readNumbers(reader, WIRE_VARINT, BUCKETS_MAX, counts, () => reader.unsigned());
  }
  return { offset, counts };
}
