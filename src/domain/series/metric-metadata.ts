// What senders of remote-write say of a metric: its type, unit and help; and what follows for whether its series count.
import type { MetricMetadataEnvelope } from "../../core/protocol/coordinator-frame.ts";

/** Types by their number in remote-write 1.0 and 2.0. */
export const METRIC_TYPES = [
  "unknown",
  "counter",
  "gauge",
  "histogram",
  "gaugehistogram",
  "summary",
  "info",
  "stateset",
] as const satisfies readonly MetricMetadataEnvelope["type"][];
export type MetricType = MetricMetadataEnvelope["type"];

/** Metadata of one metric of a tenant. 1.0 names the family, as in a TYPE line; 2.0 the series' own name. */
export type MetricMetadata = MetricMetadataEnvelope;

/** Whether series of this name are counters, by the metadata of this name; undefined where only the name's suffix can tell. */
export function countsByType(metricName: string, type: MetricType): boolean | undefined {
  if (type === "counter") return !metricName.endsWith("_created"); // a time, which OpenMetrics puts into the counter's family
  if (type === "gauge" || type === "gaugehistogram" || type === "info" || type === "stateset") return false;
  return undefined;
}

/** Names of series that metadata speak of, with whether they count. */
export function seriesOfMetadata({ metricName, type }: MetricMetadata): Array<readonly [seriesName: string, counts: boolean]> {
  const counts = countsByType(metricName, type);
  if (counts === undefined) return [];
  const own = [metricName, counts] as const;
  return type === "gaugehistogram" ? [own, [`${metricName}_bucket`, false]] : [own];
}

/** A tenant's metric, or series, as a key of a map. */
export function metricKey(tenant: string, name: string): string {
  return `${tenant}\0${name}`;
}

/** Whether two types say different things of how series of a metric count; what says nothing contradicts nothing. */
export function saysOtherwise(metricName: string, one: MetricType, other: MetricType): boolean {
  if (one === other || one === "unknown" || other === "unknown") return false;
  return one === "gaugehistogram" || other === "gaugehistogram" || countsByType(metricName, one) !== countsByType(metricName, other);
}

/** The type by which a series of this name counts or not: its own name's, else that of a family of gauge histograms for a bucket; undefined where its suffix tells. */
export function typeByFamily(seriesName: string, typeOf: (metricName: string) => MetricType | undefined): MetricType | undefined {
  const own = typeOf(seriesName);
  if (own !== undefined && countsByType(seriesName, own) !== undefined) return own;
  const [, family] = metadataNames(seriesName);
  return family !== undefined && typeOf(family) === "gaugehistogram" ? "gaugehistogram" : undefined;
}

/** The names under which the metadata of a series may stand: its own, then those of the family that it may be a part of, of Prometheus or derived here. */
export function metadataNames(seriesName: string): string[] {
  const base = /^(.+)(?:_(?:total|bucket|count|sum|gcount|gsum|created|info)|\.(?:p50|p95|p99|count|sum))$/.exec(seriesName)?.[1];
  return base === undefined ? [seriesName] : [seriesName, base];
}
