// Fields of OTLP items as those of telemetry records (section 2.1 of the contract): the form in which dead letters are shown, corrected and taken again.
import { formatRfc3339 } from "../../core/base/rfc3339.ts";

/** By the names that protobuf messages have for them. */
const RECORD_FIELDS: Readonly<Record<string, string>> = {
  "service.name": "service_id",
  name: "metric_name",
  timeUnixNano: "timestamp",
  endTimeUnixNano: "timestamp",
  traceId: "trace_id",
  spanId: "attributes.span_id",
  asDouble: "value",
};

/** End of the years of four digits. */
const TIME_MS_END = 253_402_300_800_000;

/** The field of a record that a field of an OTLP item becomes. */
export function recordField(field: string | null): string | null {
  return field === null ? null : (RECORD_FIELDS[field] ?? field);
}

/** The time of an item in a record; one that RFC 3339 cannot write stays a number. */
export function recordTime(timeMs: number): string | number {
  const ms = Math.floor(timeMs);
  return ms >= 0 && ms < TIME_MS_END ? formatRfc3339(ms) : timeMs;
}
