// History as JSON, known by its shape: what Prometheus answers to query_range, an OTLP metrics file, or plain series.
//
//   {"series": [{"service_id", "metric_name", "attributes": {}, "kind": "gauge" | "counter", "samples": [[ms, value], ...]}]}
import { FLAG_COUNTER } from "../../core/layout/stream-record.ts";
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import { flagsOfSeries } from "../series/classification.ts";
import { nameOfLabels } from "../series/stream-identity.ts";
import { type HistoryCollector, HistoryError } from "./history-collector.ts";
import { readOtlpHistory } from "./otlp-history.ts";

const COUNTER: Attributes = { metric_type: "counter" };

type JsonObject = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads a decoded document. Throws HistoryError when it has none of the forms. */
export function readJsonHistory(document: unknown, collector: HistoryCollector): void {
  const data = isObject(document) && isObject(document.data) ? document.data : document;
  if (isObject(document) && document.status === "error") {
    throw new HistoryError("unprocessable", `the document is an error answer of Prometheus: ${errorOf(document)}`);
  }
  if (isObject(data) && Array.isArray(data.result)) data.result.forEach((one, index) => readPrometheus(one, `result ${index}`, collector));
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

/** Values are text there, "NaN" and "+Inf" among them; times are seconds. */
function readPrometheus(given: unknown, place: string, collector: HistoryCollector): void {
  const at = () => place;
  if (!isObject(given) || !isObject(given.metric)) {
    collector.refuse(at, "invalid_record", "must be an object with metric and values; ask for a matrix or a vector");
    return;
  }
  const samples = Array.isArray(given.values) ? given.values : Array.isArray(given.value) ? [given.value] : [];
  const labels = Object.entries(given.metric).filter((label): label is [string, string] => typeof label[1] === "string");
  const { serviceId, metricName, attributes } = nameOfLabels("", labels);
  const isCounter = (flagsOfSeries(metricName) & FLAG_COUNTER) !== 0;
  const name = { serviceId, metricName, attributes: isCounter ? { ...attributes, ...COUNTER } : attributes };
  readSamples(name, samples, 1000, place, collector);
}

function readSeries(given: unknown, place: string, collector: HistoryCollector): void {
  const at = () => place;
  if (!isObject(given) || !Array.isArray(given.samples)) {
    collector.refuse(at, "invalid_record", "must be an object with service_id, metric_name and samples");
    return;
  }
  const { service_id: serviceId, metric_name: metricName, attributes = {}, kind } = given;
  if (!isObject(attributes) || (kind !== undefined && kind !== "gauge" && kind !== "counter")) {
    collector.refuse(at, "invalid_record", 'attributes must be an object, kind "gauge" or "counter"', given.samples.length);
    return;
  }
  const named = kind === "counter" ? { ...attributes, ...COUNTER } : attributes;
  const name = { serviceId: serviceId as string, metricName: metricName as string, attributes: named as Attributes };
  readSamples(name, given.samples, 1, place, collector);
}

function readSamples(
  name: Parameters<HistoryCollector["find"]>[0],
  samples: readonly unknown[],
  msPerUnit: number,
  place: string,
  collector: HistoryCollector,
): void {
  const series = collector.find(name, () => place, samples.length);
  if (series === undefined) return;
  samples.forEach((sample, index) => {
    const at = () => `${place}, sample ${index}`;
    const [time, value] = Array.isArray(sample) ? (sample as unknown[]) : [];
    if (typeof time !== "number" || (typeof value !== "number" && typeof value !== "string") || value === "") {
      collector.refuse(at, "invalid_record", "a sample is [time, value]");
    } else collector.add(series, Math.floor(time * msPerUnit), Number(value), at);
  });
}
