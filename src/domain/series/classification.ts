// What kind of series a name and its attributes announce: cumulative counter, operation-class, percent-style.

import type { RecordType } from "../../core/layout/counters.ts";
import { FLAG_COUNTER, FLAG_OPERATION, FLAG_PERCENT, FLAG_RETAINED_AS_RECORDS } from "../../core/layout/stream-record.ts";
import type { Attributes, StreamName } from "../../core/protocol/coordinator-frame.ts";
import { familyOfMetric } from "./metric-family.ts";
import { ownAttribute } from "./stream-identity.ts";

const COUNTER_SUFFIX = /_(?:total|count|sum|bucket)$/;
/** Names of metrics that are shares of something. */
const PERCENT_NAME = /(?:percent|pct|util|utilization|utilisation|usage_ratio|ratio|_load|saturation)$/;
const OPERATION_NAME = /^span\./;
const QUANTILE_NAME = /(?:^|[._-])p\d{1,2}(?:\.\d+)?(?:$|[._-])/;

/** Flags of a stream that comes as JSON records: gauges unless attribute metric_type is "counter". */
export function flagsOfRecord(type: RecordType, metricName: string, attributes: Attributes): number {
  const counter = ownAttribute(attributes, "metric_type") === "counter" ? FLAG_COUNTER : 0;
  const operation = type === "trace" || OPERATION_NAME.test(metricName) ? FLAG_OPERATION : 0;
  const retained = type === "metric" ? 0 : FLAG_RETAINED_AS_RECORDS;
  return counter | operation | retained | (PERCENT_NAME.test(metricName) ? FLAG_PERCENT : 0);
}

/** Flags of the stream of an OTLP point. */
export function flagsOfPoint(metricName: string, isCounter: boolean): number {
  const operation = OPERATION_NAME.test(metricName) ? FLAG_OPERATION : 0;
  return (isCounter ? FLAG_COUNTER : 0) | operation | (PERCENT_NAME.test(metricName) ? FLAG_PERCENT : 0);
}

/** Flags of a remote-write series, by the suffix of its name. */
export function flagsOfSeries(metricName: string): number {
  const counter = COUNTER_SUFFIX.test(metricName) ? FLAG_COUNTER : 0;
  return counter | (PERCENT_NAME.test(metricName) ? FLAG_PERCENT : 0);
}

/** Whether a series counts events, where its values are whole and few: by its kind, or by a name of rates and failures that is no share and no quantile. */
export function isOfCounts(metricName: string, flags: number): boolean {
  if ((flags & FLAG_COUNTER) !== 0) return true;
  if ((flags & FLAG_PERCENT) !== 0 || QUANTILE_NAME.test(metricName)) return false;
  const family = familyOfMetric(metricName);
  return family === "rate" || family === "errors";
}

/** Whether a series is a bucket of a classic histogram: its family is judged by its quantiles instead. */
export function isBucketSeries({ metricName, attributes }: Pick<StreamName, "metricName" | "attributes">, flags: number): boolean {
  return (flags & FLAG_COUNTER) !== 0 && metricName.endsWith("_bucket") && ownAttribute(attributes, "le") !== undefined;
}
