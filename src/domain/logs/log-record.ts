// A log of OTLP as a telemetry record of type log, or event where it has an event's name (section 2.1 of the contract): what it has no field for stands among its attributes.

import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import { rfc3339OrNumber } from "../../core/time/rfc3339.ts";
import type { OtlpLog } from "../otlp/otlp-items.ts";
import { SEVERITIES, severityOf } from "./severity.ts";

/** A record; the fields that it has. */
export type LogRecord = Readonly<Record<string, unknown>> & { readonly attributes: Attributes };

export function logRecord(log: OtlpLog): LogRecord {
  return {
    service_id: log.serviceId,
    type: log.eventName === "" ? "log" : "event",
    body: log.body || log.eventName,
    ...(log.traceId === "" ? {} : { trace_id: log.traceId }),
    timestamp: rfc3339OrNumber(log.timeMs),
    attributes: logAttributes(log),
  };
}

function logAttributes(log: OtlpLog): Attributes {
  const severity = log.severityText || (log.severityNumber === 0 ? undefined : SEVERITIES[severityOf(log.severityNumber, "")]);
  return {
    ...log.resourceAttributes,
    ...log.attributes,
    ...(severity === undefined ? {} : { severity }),
    ...(log.severityNumber === 0 ? {} : { severity_number: log.severityNumber }),
    ...(log.spanId === "" ? {} : { span_id: log.spanId }),
    ...(log.eventName === "" ? {} : { "event.name": log.eventName }),
  };
}
