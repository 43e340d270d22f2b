// The telemetry record that a dead letter holds: as it stands, or put together again from the labels of a remote-write sample.
import { isObject } from "../../core/collections/own-member.ts";
import { FLAG_COUNTER } from "../../core/layout/stream-record.ts";
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import { rfc3339OrNumber } from "../../core/time/rfc3339.ts";
import { flagsOfSeries } from "./classification.ts";
import { nameOfLabels } from "./stream-identity.ts";

/** The record that a letter's payload stands for, not judged yet. */
export function recordOfDeadLetter(payload: unknown): unknown {
  if (!isObject(payload) || "service_id" in payload) return payload;
  if (!isObject(payload.labels)) return payload;
  const labels = Object.entries(payload.labels).filter((label): label is [string, string] => typeof label[1] === "string");
  const { serviceId, metricName, attributes } = nameOfLabels("", labels);
  const { timestamp, value } = payload;
  return {
    service_id: serviceId,
    metric_name: metricName,
    ...(value !== undefined && { value }),
    ...(timestamp !== undefined && {
      timestamp: typeof timestamp === "number" ? rfc3339OrNumber(timestamp) : timestamp,
    }),
    // Of a JSON record its name says nothing about what its values are.
    attributes: (flagsOfSeries(metricName) & FLAG_COUNTER) === 0 ? attributes : ({ ...attributes, metric_type: "counter" } as Attributes),
  };
}

/** Name of the service that a letter's record claims, or undefined. */
export function serviceOfDeadLetter(payload: unknown): string | undefined {
  const record = recordOfDeadLetter(payload);
  return isObject(record) && typeof record.service_id === "string" ? record.service_id : undefined;
}
