// Fields of OTLP items as those of telemetry records (section 2.1 of the contract): the form in which dead letters are shown, corrected and taken again.
import { ownMember } from "../../core/collections/own-member.ts";

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

/** The field of a record that a field of an OTLP item becomes. */
export function recordField(field: string | null): string | null {
  return field === null ? null : (ownMember(RECORD_FIELDS, field) ?? field);
}
