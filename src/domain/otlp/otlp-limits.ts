// What one OTLP item may be. Sizes are those of every way in (core/config/limits.ts).

import { ownMember } from "../../core/collections/own-member.ts";
import {
  ATTRIBUTES_MAX,
  NAME_BYTES_MAX,
  TIMESTAMP_AGE_MS_MAX,
  TIMESTAMP_FUTURE_MS_MAX,
  VALUE_BYTES_MAX,
} from "../../core/config/limits.ts";
import type { ValidationReason } from "../../core/layout/counters.ts";
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { flawText, nameFlaw } from "../series/name-rule.ts";
import { isLongValue } from "../series/retained-attributes.ts";
import { environmentAttribute } from "../series/stream-identity.ts";
import type { ItemRefusal, OtlpLog, OtlpSpan } from "./otlp-items.ts";

/** Arrays and lists inside each other in one attribute or log body: the readers recurse. A JSON body nests four levels for each, and may nest 64. */
export const ANY_VALUE_DEPTH_MAX = 8;
/** Buckets of one point: the OpenTelemetry SDKs make 160 at most; each is a number of 8 bytes here. */
export const BUCKETS_MAX = 4_096;

/** Attributes that a point's identity takes from its resource, instance and environment, and the name of its scope. */
export const ADDED_IDENTITY_ATTRIBUTES = 3;

/** Attributes of a point are its identity: too many or too long ones refuse it. */
function refuseAttributes(attributes: Attributes, most: number): ItemRefusal | undefined {
  const names = Object.keys(attributes);
  if (names.length > most)
    return {
      reason: "invalid_attributes",
      field: "attributes",
      message: `a point may have ${ATTRIBUTES_MAX} attributes, got ${names.length}`,
    };
  for (const name of names) {
    const flawed = refuseFlaw(name, "invalid_attributes", "attributes", "the name of an attribute");
    if (flawed !== undefined) return flawed;
    if (isLongValue(ownMember(attributes, name))) {
      const message = `attribute ${JSON.stringify(name.slice(0, 60))} of a point may have ${VALUE_BYTES_MAX} bytes, for it identifies the series; send a shorter one`;
      return { reason: "invalid_attributes", field: "attributes", message };
    }
  }
  return undefined;
}

/** Of logs, spans and resources only the names of attributes may be at fault: values are cut. */
function refuseNames(attributes: Attributes): ItemRefusal | undefined {
  for (const name in attributes) {
    const flawed = refuseFlaw(name, "invalid_attributes", "attributes", "the name of an attribute");
    if (flawed !== undefined) return flawed;
  }
  return undefined;
}

function tooLong(field: string, what: string, most: number): ItemRefusal {
  return { reason: "field_too_long", field, message: `${what} may have ${most} bytes; send a shorter one` };
}

/** `field` is the name that its protobuf message has for the time. */
function refuseTime(timeMs: number, nowMs: number, field: string): ItemRefusal | undefined {
  if (timeMs < nowMs - TIMESTAMP_AGE_MS_MAX)
    return {
      reason: "timestamp_too_old",
      field,
      message: `${formatRfc3339(Math.floor(timeMs))} is more than 24 h in the past; import older data instead`,
    };
  if (timeMs > nowMs + TIMESTAMP_FUTURE_MS_MAX)
    return {
      reason: "timestamp_in_future",
      field,
      message: `${formatRfc3339(Math.floor(timeMs))} is more than 10 minutes in the future; check the sender's clock`,
    };
  return undefined;
}

function refuseName(name: string, field: string, what: string): ItemRefusal | undefined {
  if (name === "") return { reason: "missing_metric_name", field, message: `${what} has no name` };
  return refuseFlaw(name, "invalid_record", field, `the name of ${what}`);
}

/** Refusal of a name for what stands in it; `reason` is that of characters. */
function refuseFlaw(name: string, reason: ValidationReason, field: string, what: string): ItemRefusal | undefined {
  const flaw = nameFlaw(name);
  if (flaw === undefined) return undefined;
  if (flaw === "too_long") return tooLong(field, what, NAME_BYTES_MAX);
  return { reason, field, message: `${what} ${flawText(flaw)}; got ${JSON.stringify(name.slice(0, 60))}` };
}

/** Refusal of all items of a source; undefined where they may be taken. */
export function refuseSource(serviceId: string, environmentName: string | undefined, attributes: Attributes): ItemRefusal | undefined {
  const flawed = refuseFlaw(serviceId, "invalid_record", "service.name", "service.name");
  if (flawed !== undefined) return flawed;
  if (environmentName !== undefined) {
    const environment = refuseFlaw(
      ownMember(attributes, environmentName) as string,
      "invalid_attributes",
      environmentName,
      "the environment",
    );
    if (environment !== undefined) return environment;
  }
  for (const name of Object.keys(attributes)) {
    const attribute = refuseFlaw(name, "invalid_attributes", "resource.attributes", "the name of an attribute of the resource");
    if (attribute !== undefined) return attribute;
  }
  return undefined;
}

/** Refusal of a metric's point, its value aside; undefined where it may be taken. */
export function refusePoint(
  point: { readonly metricName: string; readonly attributes: Attributes; readonly timeMs: number },
  nowMs: number,
): ItemRefusal | undefined {
  return (
    refuseName(point.metricName, "name", "a metric") ??
    refuseTime(point.timeMs, nowMs, "timeUnixNano") ??
    refuseAttributes(point.attributes, ATTRIBUTES_MAX + ADDED_IDENTITY_ATTRIBUTES) ??
    refuseEnvironment(point.attributes)
  );
}

/** A point may name an environment of its own. */
function refuseEnvironment(attributes: Attributes): ItemRefusal | undefined {
  const name = environmentAttribute(attributes);
  return name === undefined ? undefined : refuseFlaw(ownMember(attributes, name) as string, "invalid_attributes", name, "the environment");
}

/** Refusal of a point's value; undefined where it may be taken. */
export function refuseValue(value: number, hasValue: boolean, isStale: boolean): ItemRefusal | undefined {
  if (isStale || Number.isFinite(value)) return undefined;
  if (!hasValue) return { reason: "missing_value", field: "asDouble", message: "a point needs a finite asDouble or asInt, got none" };
  return { reason: "invalid_value", field: "asDouble", message: `the value of a point must be finite, got ${value}`, isExcluded: true };
}

/** Error of a histogram of another temporality. */
export function temporalityProblem(temporality: number): string {
  return `a histogram needs an aggregation temporality, 1 (delta) or 2 (cumulative), got ${temporality}`;
}

const TRACE_ID = /^(?!0+$)[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0+$)[0-9a-f]{16}$/;

/** The trace id of a log; "" for what is none: the log then belongs to no trace (opentelemetry/proto/logs/v1/logs.proto). */
export function traceIdOf(id: string): string {
  return TRACE_ID.test(id) ? id : "";
}

/** The span id of a log, likewise. */
export function spanIdOf(id: string): string {
  return SPAN_ID.test(id) ? id : "";
}

/** Refusal of a span; undefined where it may be taken. */
export function refuseSpan(span: OtlpSpan, nowMs: number): ItemRefusal | undefined {
  const invalid = (field: string, message: string): ItemRefusal => ({ reason: "invalid_record", field, message });
  if (!TRACE_ID.test(span.traceId)) return invalid("traceId", "traceId must be 16 bytes, not all 0");
  if (!SPAN_ID.test(span.spanId)) return invalid("spanId", "spanId must be 8 bytes, not all 0");
  return (
    span.resourceRefusal ??
    refuseName(span.name, "name", "a span") ??
    refuseTime(span.endMs, nowMs, "endTimeUnixNano") ??
    (span.endMs < span.startMs ? invalid("endTimeUnixNano", "a span must not end before it starts") : undefined) ??
    refuseNames(span.attributes)
  );
}

/** Refusal of a log record; its body is cut where it is too long. */
export function refuseLog(log: OtlpLog, nowMs: number): ItemRefusal | undefined {
  return (
    log.resourceRefusal ??
    refuseTime(log.timeMs, nowMs, "timeUnixNano") ??
    refuseFlaw(log.eventName, "invalid_record", "eventName", "the name of an event") ??
    refuseNames(log.attributes)
  );
}
