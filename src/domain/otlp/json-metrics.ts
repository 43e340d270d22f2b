// Points of ExportMetricsServiceRequest in JSON.
import { isObject } from "../../core/collections/own-member.ts";
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import {
  addAttributes,
  attempt,
  countOf,
  enumOf,
  itemsOfJson,
  JsonItemError,
  type JsonObject,
  listOf,
  millisecondsOf,
  numberOf,
  objectOf,
  type RequestNames,
  scopeNameOfJson,
  textOf,
} from "./json-values.ts";
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
import type { AttributeMap } from "./protobuf-attributes.ts";
import { CUMULATIVE, DELTA, NO_RECORDED_VALUE } from "./protobuf-metrics.ts";

/** Names of the levels of a request of metrics. */
export const METRIC_NAMES: RequestNames = { resources: "resourceMetrics", scopes: "scopeMetrics", items: "metrics" };
const TEMPORALITIES = ["UNSPECIFIED", "DELTA", "CUMULATIVE"] as const;
const KINDS = ["gauge", "sum", "histogram", "exponentialHistogram", "summary"] as const;
/** Members of a metric that hold its points. */
export const METRIC_KINDS: ReadonlySet<string> = new Set(KINDS);

interface SourcedMetric {
  readonly source: OtlpSource;
  readonly name: string;
  readonly unit: string;
  readonly scope: string;
  readonly kind: (typeof KINDS)[number];
  readonly data: JsonObject;
  readonly temporality: number;
}

/** The points of a body that requestProblem() found nothing wrong with; without number points when `distributionsOnly`. */
export function* metricsOfJson(body: unknown, distributionsOnly = false, prefixes = false): Generator<MetricItem> {
  for (const { source, scope, item } of itemsOfJson(body, METRIC_NAMES, prefixes)) {
    const metric = typeof source === "string" ? source : attempt(() => readMetric(item, source, scopeNameOfJson(scope)));
    if (typeof metric === "string") {
      const points = pointsIn(item);
      for (let i = 0; i < points; i++) yield { type: "damaged", item: { message: metric } };
    } else if (metric !== undefined && !(distributionsOnly && isNumeric(metric))) yield* pointsOf(metric);
  }
}

/** Number of points that are lost with a metric that cannot be read: one at least. */
function pointsIn(item: unknown): number {
  if (!isObject(item)) return 1;
  const lists = KINDS.map((kind) => item[kind]).map((data) => (isObject(data) ? data.dataPoints : undefined));
  return lists.reduce<number>((sum, points) => sum + (Array.isArray(points) ? points.length : 0), 0) || 1;
}

/** Undefined for a metric without points. */
function readMetric(
  item: unknown,
  source: OtlpSource,
  scope: string,
): (SourcedMetric & { readonly points: readonly unknown[] }) | undefined {
  const input = objectOf(item, "a metric");
  const kind = KINDS.find((each) => input[each] !== undefined && input[each] !== null);
  if (kind === undefined) return undefined;
  const data = objectOf(input[kind], kind);
  const temporality = enumOf(data.aggregationTemporality, "aggregationTemporality", "AGGREGATION_TEMPORALITY_", TEMPORALITIES);
  const unit = typeof input.unit === "string" ? input.unit : "";
  const [name, points] = [textOf(input.name, "name"), listOf(data.dataPoints, "dataPoints")];
  return { source, name, unit, scope, kind, data, temporality, points };
}

function isNumeric({ kind }: SourcedMetric): boolean {
  return kind === "gauge" || kind === "sum";
}

/** A point of a gauge or a sum by itself; what is wrong with it when it cannot be read. */
export function readJsonPoint(item: unknown, head: NumberHead): NumberPoint | string {
  return attempt(() => readNumberPoint(item, head));
}

function* pointsOf(metric: SourcedMetric & { readonly points: readonly unknown[] }): Generator<MetricItem> {
  const isNumber = isNumeric(metric);
  const { source, name: metricName, unit, scope, kind } = metric;
  const of = { source, metricName, unit, scope };
  const head = numberHead(of, kind === "sum" && metric.data.isMonotonic === true, metric.temporality === CUMULATIVE);
  for (const input of metric.points) {
    if (isNumber) {
      const point = attempt(() => readNumberPoint(input, head));
      yield typeof point === "string" ? { type: "damaged", item: { message: point } } : { type: "number", point };
    } else {
      const point = attempt(() => readDistribution(input, metric));
      yield typeof point === "string"
        ? { type: "damaged", item: { message: point } }
        : { type: "distribution", point, head: { ...of, type: kind === "summary" ? "summary" : "histogram" } };
    }
  }
}

function readNumberPoint(item: unknown, head: NumberHead): NumberPoint {
  const input = objectOf(item, "a data point");
  const spelling = input.attributes === undefined ? "[]" : JSON.stringify(input.attributes);
  // Not by spreading: that takes as long as all else here.
  return {
    source: head.source,
    metricName: head.metricName,
    type: head.type,
    unit: head.unit,
    scope: head.scope,
    isCounter: head.isCounter,
    value: pointValue(input),
    hasValue: (input.asDouble ?? input.asInt ?? null) !== null,
    isStale: isNoRecordedValue(input),
    timeMs: millisecondsOf(input.timeUnixNano, "timeUnixNano"),
    startMs: millisecondsOf(input.startTimeUnixNano, "startTimeUnixNano"),
    spelling,
    attributes: () => identityAttributes(head.source, ownAttributes(input)),
  };
}

function pointValue(input: JsonObject): number {
  if (input.asDouble !== undefined && input.asDouble !== null) return numberOf(input.asDouble, "asDouble");
  if (input.asInt !== undefined && input.asInt !== null) return numberOf(input.asInt, "asInt");
  return Number.NaN;
}

function isNoRecordedValue(input: JsonObject): boolean {
  return (countOf(input.flags, "flags") & NO_RECORDED_VALUE) !== 0;
}

function ownAttributes(input: JsonObject): AttributeMap {
  const attributes: AttributeMap = {};
  addAttributes(input.attributes, attributes);
  return attributes;
}

function optionalOf(value: unknown, field: string): number | null {
  return value === undefined || value === null ? null : numberOf(value, field);
}

function numbersOf(value: unknown, field: string): number[] {
  const list = listOf(value, field);
  if (list.length > BUCKETS_MAX) throw new JsonItemError(`${field} may have ${BUCKETS_MAX} entries, got ${list.length}`);
  return list.map((each) => numberOf(each, field));
}

function bucketsOf(value: unknown, field: string): ExponentialBuckets {
  if (value === undefined || value === null) return { offset: 0, counts: [] };
  const input = objectOf(value, field);
  return { offset: countOf(input.offset, "offset"), counts: numbersOf(input.bucketCounts, "bucketCounts") };
}

function quantilesOf(value: unknown): Array<{ quantile: number; value: number }> {
  const list = listOf(value, "quantileValues");
  if (list.length > BUCKETS_MAX) throw new JsonItemError(`quantileValues may have ${BUCKETS_MAX} entries, got ${list.length}`);
  return list.map((each) => {
    const input = objectOf(each, "a quantile");
    return { quantile: countOf(input.quantile, "quantile"), value: countOf(input.value, "value") };
  });
}

function readDistribution(item: unknown, { source, name, kind, temporality }: SourcedMetric): DistributionPoint {
  const input = objectOf(item, "a data point");
  if (kind !== "summary" && temporality !== DELTA && temporality !== CUMULATIVE) throw new JsonItemError(temporalityProblem(temporality));
  const isExplicit = kind === "histogram";
  const isExponential = kind === "exponentialHistogram";
  return {
    serviceId: source.serviceId,
    environment: source.environment,
    metricName: name,
    attributes: identityAttributes(source, ownAttributes(input)) as Attributes,
    temporality: temporality === DELTA ? "delta" : "cumulative",
    timeMs: millisecondsOf(input.timeUnixNano, "timeUnixNano"),
    startMs: millisecondsOf(input.startTimeUnixNano, "startTimeUnixNano"),
    kind: isExplicit ? "explicit" : isExponential ? "exponential" : "summary",
    count: countOf(input.count, "count"),
    sum: optionalOf(input.sum, "sum"),
    min: optionalOf(input.min, "min"),
    max: optionalOf(input.max, "max"),
    bounds: isExplicit ? numbersOf(input.explicitBounds, "explicitBounds") : [],
    bucketCounts: isExplicit ? numbersOf(input.bucketCounts, "bucketCounts") : [],
    scale: isExponential ? countOf(input.scale, "scale") : 0,
    zeroCount: isExponential ? countOf(input.zeroCount, "zeroCount") : 0,
    zeroThreshold: isExponential ? countOf(input.zeroThreshold, "zeroThreshold") : 0,
    positive: bucketsOf(isExponential ? input.positive : undefined, "positive"),
    negative: bucketsOf(isExponential ? input.negative : undefined, "negative"),
    quantiles: kind === "summary" ? quantilesOf(input.quantileValues) : [],
    isStale: isNoRecordedValue(input),
  };
}
