// The telemetry record that a dead letter holds: as it stands for JSON, and put together again from the labels of a remote-write sample.
import { formatRfc3339 } from "../../core/base/rfc3339.ts";
import { FLAG_COUNTER } from "../../core/layout/stream-record.ts";
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import { flagsOfSeries } from "./classification.ts";
import { nameOfLabels } from "./stream-identity.ts";

/** The record that a letter's payload stands for, not judged yet. */
export function recordOfLetter(payload: unknown): unknown {
  if (!isObject(payload) || !isObject(payload.labels) || "service_id" in payload) return payload;
  const labels = Object.entries(payload.labels).filter((label): label is [string, string] => typeof label[1] === "string");
  const { serviceId, metricName, attributes } = nameOfLabels("", labels);
  const { timestamp, value } = payload;
  return {
    service_id: serviceId,
    metric_name: metricName,
    ...(value !== undefined && { value }),
    ...(timestamp !== undefined && {
      timestamp: typeof timestamp === "number" && isTime(timestamp) ? formatRfc3339(timestamp) : timestamp,
    }),
    // Of a JSON record its name says nothing about what its values are.
    attributes: (flagsOfSeries(metricName) & FLAG_COUNTER) === 0 ? attributes : ({ ...attributes, metric_type: "counter" } as Attributes),
  };
}

/** Name of the service that a letter's record claims, or undefined. */
export function serviceOfLetter(payload: unknown): string | undefined {
  const record = recordOfLetter(payload);
  return isObject(record) && typeof record.service_id === "string" ? record.service_id : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What four digits of a year can say. */
function isTime(ms: number): boolean {
  return Number.isSafeInteger(ms) && Math.abs(ms) < 253_402_300_800_000;
}
