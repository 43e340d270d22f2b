// History as JSON, known by its shape: what Prometheus answers to query and query_range, an OTLP metrics file, or plain series.
//
//   {"series": [{"service_id", "metric_name", "attributes": {}, "kind": "gauge" | "counter", "scope": {"name", "metric_name"}, "samples": [[ms, value], ...]}]}
//
// `scope`, and a third member of a counter's sample, the ms at which counting began, are what `vedette import` says of a series that it has read from an OTLP file.
import { isObject } from "../../core/collections/own-member.ts";
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import type { JsonObject } from "../otlp/json-values.ts";
import type { MetricScope } from "../series/metric-scope.ts";
import { isName } from "../series/name-rule.ts";
import { COUNTER, type HistoryCollector, HistoryError } from "./history-collector.ts";
import { readSamples } from "./history-samples.ts";
import { readOtlpHistory } from "./otlp-history.ts";
import { readPrometheusHistory } from "./prometheus-history.ts";

/** Reads a decoded document. Throws HistoryError when it has none of the forms. */
export function readJsonHistory(document: unknown, collector: HistoryCollector): void {
  const data = isObject(document) && isObject(document.data) ? document.data : document;
  if (isObject(document) && document.status === "error") {
    throw new HistoryError("unprocessable", `the document is an error answer of Prometheus: ${errorOf(document)}`);
  }
  if (isObject(data) && Array.isArray(data.result)) readPrometheusHistory(data.result, collector);
  else if (isObject(document) && Array.isArray(document.resourceMetrics)) readOtlpHistory(document, collector);
  else if (isObject(document) && Array.isArray(document.series)) {
    document.series.forEach((one, index) => readSeries(one, `series ${index}`, collector));
  } else {
    const message = "the document must have data.result (Prometheus query_range), resourceMetrics (OTLP) or series";
    throw new HistoryError("unprocessable", message);
  }
}

/** Error of that answer: its type and its message, of which either may be missing. */
function errorOf({ errorType, error }: JsonObject): string {
  const parts = [errorType, error].filter((part): part is string => typeof part === "string" && part !== "");
  return parts.length === 0 ? "it does not say which" : parts.join(": ").slice(0, 200);
}

function readSeries(input: unknown, key: string, collector: HistoryCollector): void {
  const at = () => key;
  if (!isObject(input) || !Array.isArray(input.samples)) {
    collector.refuse(at, "invalid_record", "must be an object with service_id, metric_name and samples");
    return;
  }
  const { service_id: serviceId, metric_name: metricName, attributes = {}, kind } = input;
  const scope = scopeOf(input.scope);
  if (!isObject(attributes) || (kind !== undefined && kind !== "gauge" && kind !== "counter")) {
    collector.refuse(at, "invalid_record", 'attributes must be an object, kind "gauge" or "counter"', input.samples.length);
    return;
  }
  const named = kind === "counter" ? { ...attributes, ...COUNTER } : attributes;
  if (input.scope !== undefined && scope === undefined) {
    collector.refuse(at, "invalid_record", "scope must be an object with the texts name and metric_name", input.samples.length);
    return;
  }
  const name = { serviceId: serviceId as string, metricName: metricName as string, attributes: named as Attributes, scope };
  readSamples(name, input.samples, { unitMs: 1, key }, collector);
}

function scopeOf(input: unknown): MetricScope | undefined {
  if (!isObject(input)) return undefined;
  const { name, metric_name: metricName } = input;
  return typeof name === "string" && typeof metricName === "string" && isName(metricName) ? { name, metricName } : undefined;
}
