// History as Prometheus answers `query` and `query_range`: series by their labels, with samples ("values", "value"), native histograms ("histograms",
// "histogram"), or both.
import { getOrMake } from "../../core/collections/get-or-make.ts";
import { isObject, ownMember } from "../../core/collections/own-member.ts";
import { FLAG_COUNTER } from "../../core/layout/stream-record.ts";
import type { JsonObject } from "../otlp/json-values.ts";
import { flagsOfSeries } from "../series/classification.ts";
import { canonicalAttributes, nameOfLabels, serviceLabelNumber } from "../series/stream-identity.ts";
import { COUNTER, type HistoryCollector, type HistoryName } from "./history-collector.ts";
import { readSamples, sampleTimeMs } from "./history-samples.ts";
import { type AnsweredHistogram, answeredHistogram, distributionsOf } from "./native-history.ts";
import { addDistributions } from "./otlp-history.ts";

/** A histogram, when it was, and where it stood. */
interface PlacedHistogram {
  readonly timeMs: number;
  readonly histogram: AnsweredHistogram;
  readonly at: () => string;
}

interface HistogramSeries {
  readonly name: HistoryName;
  readonly placed: PlacedHistogram[];
}

const NO_SERIES = "must be an object with metric and values; ask for a matrix or a vector";
const NO_HISTOGRAM = 'must be [time, {"count", "sum", "buckets"}]';
const TOO_MANY_BUCKETS = "the histograms of this series have more buckets than are read";

/** Reads the list `result`. Throws HistoryError where it has more samples, or histograms, than the collector takes. */
export function readPrometheusHistory(result: readonly unknown[], collector: HistoryCollector): void {
  const histograms = new Map<string, HistogramSeries>();
  let points = 0;
  result.forEach((one, index) => {
    const key = `result ${index}`;
    if (!isObject(one) || !isObject(one.metric)) return collector.refuse(() => key, "invalid_record", NO_SERIES);
    const samples = listOf(one, "values", "value");
    const answered = listOf(one, "histograms", "histogram");
    if (samples === undefined && answered === undefined) return collector.refuse(() => key, "invalid_record", NO_SERIES);
    const labels = Object.entries(one.metric);
    if (!labels.every(isTextLabel)) {
      const lost = (samples?.length ?? 0) + (answered?.length ?? 0);
      return collector.refuse(() => key, "invalid_attributes", "a label's value is no text", lost);
    }
    points += answered?.length ?? 0;
    if (points > collector.samplesMax) throw collector.tooMany();
    const name = { ...nameOfLabels("", labels), serviceLabel: serviceLabelNumber(labels) };
    if (samples !== undefined) readSamples(counted(name), samples, { unitMs: 1000, key }, collector);
    if (answered !== undefined) collectHistograms(seriesOf(histograms, name).placed, answered, key, collector);
  });
  for (const series of histograms.values()) addHistograms(series, collector);
}

/** The list of a matrix, or the one item of a vector; undefined where the series has neither. */
function listOf(series: JsonObject, many: string, one: string): readonly unknown[] | undefined {
  const [list, item] = [ownMember(series, many), ownMember(series, one)];
  if (Array.isArray(list)) return list;
  return Array.isArray(item) ? [item] : undefined;
}

function isTextLabel(label: [string, unknown]): label is [string, string] {
  return typeof label[1] === "string";
}

/** Counters are known by their names. */
function counted({ serviceId, metricName, attributes, serviceLabel }: HistoryName): HistoryName {
  const isCounter = (flagsOfSeries(metricName) & FLAG_COUNTER) !== 0;
  return { serviceId, metricName, serviceLabel, attributes: isCounter ? { ...attributes, ...COUNTER } : attributes };
}

function seriesOf(histograms: Map<string, HistogramSeries>, { serviceId, metricName, attributes }: HistoryName): HistogramSeries {
  const key = JSON.stringify([serviceId, metricName]) + canonicalAttributes(attributes);
  return getOrMake(histograms, key, () => ({ name: { serviceId, metricName, attributes }, placed: [] }));
}

function collectHistograms(placed: PlacedHistogram[], answered: readonly unknown[], key: string, collector: HistoryCollector): void {
  answered.forEach((item, index) => {
    const at = () => `${key}, histogram ${index}`;
    const [time, content] = Array.isArray(item) ? (item as unknown[]) : [];
    const histogram = answeredHistogram(content);
    if (typeof time !== "number" || histogram === undefined) collector.refuse(at, "invalid_record", NO_HISTOGRAM);
    else placed.push({ timeMs: sampleTimeMs(time, 1000), histogram, at });
  });
}

/** Histograms become the series that they give live. */
function addHistograms({ name, placed }: HistogramSeries, collector: HistoryCollector): void {
  const ordered = [...placed].sort((a, b) => a.timeMs - b.timeMs);
  const distributions = distributionsOf(ordered.map(({ histogram }) => histogram));
  const [first] = ordered;
  if (first === undefined) return;
  if (distributions === undefined) return collector.refuse(first.at, "invalid_value", TOO_MANY_BUCKETS, ordered.length);
  const points = ordered.map(({ timeMs, at }, i) => {
    const distribution = distributions[i] as (typeof distributions)[number];
    return { point: { ...distribution, ...name, environment: "", timeMs }, at };
  });
  addDistributions(points, collector);
}
