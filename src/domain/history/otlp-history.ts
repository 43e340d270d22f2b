// History from an OTLP metrics file in JSON, by the decoder of live requests: gauges and sums as they stand, histograms and summaries as the series that
// they give live, so that what is imported goes on where live data begins.

import { getOrMake } from "../../core/collections/get-or-make.ts";
import { POINTS_RETAINED_MAX } from "../../core/config/limits.ts";
import { startAfter } from "../distribution/counting-start.ts";
import { type DerivedConsumer, deriveQuantiles, deriveValues } from "../distribution/derived-values.ts";
import { distributionProblem } from "../distribution/distribution.ts";
import { countedInterval, firstInterval, intervalBetween } from "../distribution/interval.ts";
import { METRIC_NAMES, metricsOfJson } from "../otlp/json-metrics.ts";
import { attempt, requestProblem } from "../otlp/json-values.ts";
import type { DistributionPoint, MetricHead, NumberPoint } from "../otlp/otlp-items.ts";
import type { MetricScope } from "../series/metric-scope.ts";
import { canonicalAttributes } from "../series/stream-identity.ts";
import { type HistoryCollector, HistoryError } from "./history-collector.ts";

/** A point of a histogram, and where it stood. */
export interface PlacedPoint {
  readonly point: DistributionPoint;
  /** Of OpenTelemetry's. */
  readonly scope?: MetricScope | undefined;
  readonly at: () => string;
}

const ALONE = "a cumulative histogram tells what was added since the one before it; import it together with that";

/** What is known of a series when its next point comes. */
interface Counting {
  previous: DistributionPoint | undefined;
  /** When counting began; 0 for not known. */
  startMs: number;
  /** What the newest intervals brought. */
  readonly counts: number[];
}

/** Reads a document with resourceMetrics. Throws HistoryError where it is no such document, or has more samples than the collector takes. */
export function readOtlpHistory(document: object, collector: HistoryCollector): void {
  const problem = requestProblem(document, METRIC_NAMES);
  if (problem !== undefined) throw new HistoryError("unprocessable", problem);
  const distributions = new Map<string, PlacedPoint[]>();
  let index = 0;
  let points = 0;
  for (const item of metricsOfJson(document)) {
    const number = index++;
    if (item.type === "damaged") collector.refuse(() => `point ${number}`, "invalid_record", item.item.message);
    else if (item.type === "number") addNumber(item.point, () => `point ${number} (${item.point.metricName})`, collector);
    else if (++points > collector.samplesMax) throw collector.tooMany();
    else {
      const scope = scopeOf(item.head);
      groupOf(distributions, item.point, scope).push({ point: item.point, scope, at: () => `point ${number} (${item.point.metricName})` });
    }
  }
  for (const placed of distributions.values()) addDistributions(placed, collector);
}

function addNumber(point: NumberPoint, at: () => string, collector: HistoryCollector): void {
  if (point.isStale) return;
  const own = attempt(point.attributes);
  if (typeof own === "string") {
    collector.refuse(at, "invalid_record", own);
    return;
  }
  const attributes = { ...own, ...(point.isCounter && { metric_type: "counter" }) };
  const { metricName, source } = point;
  const series = collector.find({ serviceId: source.serviceId, metricName, attributes, scope: scopeOf(point) }, at, 1);
  if (series === undefined) return;
  if (Number.isNaN(point.value)) collector.refuse(at, "missing_value", "the point has neither asDouble nor asInt");
  else if (point.timeMs === 0) collector.refuse(at, "invalid_timestamp", "the point has no timeUnixNano");
  else collector.add(series, point.timeMs, point.value, at, point.isCounter ? point.startMs : 0);
}

function scopeOf({ scope, metricName }: MetricHead): MetricScope {
  return { name: scope, metricName };
}

function groupOf(distributions: Map<string, PlacedPoint[]>, point: DistributionPoint, scope: MetricScope): PlacedPoint[] {
  const { serviceId, metricName, kind, temporality, attributes } = point;
  const key = JSON.stringify([serviceId, metricName, kind, temporality, scope.name]) + canonicalAttributes(attributes);
  return getOrMake(distributions, key, () => []);
}

/** The points of one series: cumulative ones become what was added from each to the next. One alone, of which nothing follows, is refused. */
export function addDistributions(placed: readonly PlacedPoint[], collector: HistoryCollector): void {
  const [first] = placed;
  // The names of the derived series are longer, so that one without a name would seem to have one.
  if (first === undefined || collector.find({ ...first.point, scope: first.scope }, first.at, placed.length) === undefined) return;
  const counting: Counting = { previous: undefined, startMs: 0, counts: [] };
  let previous: DistributionPoint | undefined;
  let alone: PlacedPoint | undefined;
  for (const { point, scope, at } of [...placed].sort((a, b) => a.point.timeMs - b.point.timeMs)) {
    const problem =
      point.timeMs === 0 ? { reason: "invalid_timestamp", message: "the point has no timeUnixNano" } : distributionProblem(point);
    if (problem !== undefined) collector.refuse(at, problem.reason, problem.message);
    if (problem !== undefined || point.isStale) continue;
    const consume = consumerOf(point, scope, at, collector);
    const isRepeated = previous?.timeMs === point.timeMs;
    if (point.temporality === "delta") deriveValues(point, consume);
    else if (!isRepeated) alone = addCumulative(counting, point, consume) || previous !== undefined ? undefined : { point, scope, at };
    previous = isRepeated ? previous : point;
  }
  if (alone !== undefined) collector.refuse(alone.at, "invalid_record", ALONE);
}

/** Whether the point says anything by itself or with the one before. */
function addCumulative(counting: Counting, point: DistributionPoint, consume: DerivedConsumer): boolean {
  const { previous, startMs, counts } = counting;
  const interval = previous === undefined ? firstInterval(point) : intervalBetween(previous, point, startMs);
  const counted = interval === undefined ? undefined : countedInterval(interval, counts);
  if (counted !== undefined) deriveValues(counted.added, consume);
  // What a summary says of itself needs no point before.
  else if (interval === undefined && point.kind === "summary") deriveQuantiles(point, consume);
  if (previous !== undefined && interval?.restart === "none") counts.push(interval.added.count);
  if (counts.length > POINTS_RETAINED_MAX) counts.shift();
  counting.previous = point;
  counting.startMs = startAfter(startMs, point);
  return interval !== undefined || point.kind === "summary";
}

function consumerOf(
  { serviceId, metricName, attributes, timeMs }: DistributionPoint,
  scope: MetricScope | undefined,
  at: () => string,
  collector: HistoryCollector,
): DerivedConsumer {
  return (suffix, value) => {
    if (!Number.isFinite(value)) return;
    const series = collector.find({ serviceId, metricName: metricName + suffix, attributes, scope }, at, 1);
    if (series !== undefined) collector.add(series, timeMs, value, at);
  };
}
