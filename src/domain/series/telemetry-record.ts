// Judges one telemetry record of section 2.1 of the contract. Pure: the clock is an argument; a refusal is a value, not an exception.

import { ownMember } from "../../core/collections/own-member.ts";
import {
  ATTRIBUTES_MAX,
  NAME_BYTES_MAX,
  TIMESTAMP_AGE_MS_MAX,
  TIMESTAMP_FUTURE_MS_MAX,
  VALUE_BYTES_MAX,
} from "../../core/config/limits.ts";
import { RECORD_TYPES, type RecordType, type ValidationReason } from "../../core/layout/counters.ts";
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import { nanosecondsOfRfc3339, parseRfc3339 } from "../../core/time/rfc3339.ts";
import { retainedBody } from "./cut-text.ts";
import { flawText, nameFlaw } from "./name-rule.ts";
import { type AttributeLoss, isLongValue, NO_LOSS, retainedAttributes } from "./retained-attributes.ts";
import { environmentAttribute } from "./stream-identity.ts";

/** A record that may be stored. `value` is NaN for logs and events, `body` is "" for records with a value. */
export interface TelemetryRecord {
  readonly serviceId: string;
  readonly type: RecordType;
  readonly metricName: string;
  readonly value: number;
  readonly body: string;
  readonly traceId: string;
  readonly timeMs: number;
  /** Nanoseconds of its time behind that millisecond. */
  readonly nanoseconds: number;
  /** Of logs and events as they are kept. */
  readonly attributes: Attributes;
  /** What was lost of them. */
  readonly loss: AttributeLoss;
}

/** Why a record was refused; `message` says what was wrong, what was got and what to do. */
export interface Refusal {
  readonly reason: ValidationReason;
  readonly field: string | null;
  readonly message: string;
  /** The type it claimed, as far as it is one; for the counters. */
  readonly type: RecordType;
}

const NO_ATTRIBUTES: Attributes = Object.freeze({});
const WITH_BODY: ReadonlySet<RecordType> = new Set<RecordType>(["log", "event"]);

/** Shows what was got, short enough for an error message. */
function shown(value: unknown): string {
  const text =
    typeof value === "string"
      ? JSON.stringify(value.slice(0, 60))
      : typeof value === "object"
        ? value === null
          ? "null"
          : Array.isArray(value)
            ? "an array"
            : "an object"
        : String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function refuse(type: RecordType, reason: ValidationReason, field: string | null, message: string): Refusal {
  return { reason, field, message, type };
}

/** True when the judgement is a refusal. */
export function isRefusal(judged: TelemetryRecord | Refusal): judged is Refusal {
  return "reason" in judged;
}

/** Judges a decoded JSON value as a telemetry record received at `nowMs`. */
export function judgeRecord(input: unknown, nowMs: number): TelemetryRecord | Refusal {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    return refuse("metric", "invalid_record", null, `a telemetry record must be a JSON object, got ${shown(input)}`);
  }
  const fields = input as Readonly<Record<string, unknown>>;
  const type = fields.type ?? "metric";
  if (!(RECORD_TYPES as readonly unknown[]).includes(type)) {
    return refuse("metric", "invalid_type", "type", `type must be one of ${RECORD_TYPES.join(", ")}, got ${shown(type)}`);
  }
  const known = type as RecordType;
  const contradiction = refuseKind(known, fields);
  if (contradiction !== undefined) return contradiction;
  const timeMs = typeof fields.timestamp === "string" ? parseRfc3339(fields.timestamp) : undefined;
  return (
    refuseName(known, "service_id", "missing_service_id", fields.service_id) ??
    refuseContent(known, fields) ??
    refuseTimestamp(known, fields.timestamp, timeMs, nowMs) ??
    refuseAttributes(known, fields) ??
    accept(known, fields, timeMs as number)
  );
}

/** A record may have fields that are not known here, but no `kind` that says another type. */
function refuseKind(type: RecordType, { type: input, kind }: Readonly<Record<string, unknown>>): Refusal | undefined {
  if (typeof kind !== "string" || kind === type || !(RECORD_TYPES as readonly string[]).includes(kind)) return undefined;
  const says = input === undefined ? `type is absent, which means ${shown(type)}` : `type is ${shown(input)}`;
  return refuse(type, "invalid_type", "type", `type and kind contradict each other: ${says}, kind is ${shown(kind)}; send one type`);
}

function refuseName(type: RecordType, field: string, reason: ValidationReason, value: unknown): Refusal | undefined {
  if (value === undefined) return refuse(type, reason, field, `${field} is absent; ${aRecord(type)} needs it as a non-empty string`);
  if (typeof value !== "string" || value === "")
    return refuse(type, reason, field, `${field} must be a non-empty string, got ${shown(value)}`);
  return refuseFlaw(type, "invalid_record", field, value);
}

/** Refusal of a name for what stands in it; `reason` is that of characters. */
function refuseFlaw(type: RecordType, reason: ValidationReason, field: string, name: string): Refusal | undefined {
  const flaw = nameFlaw(name);
  if (flaw === undefined) return undefined;
  if (flaw === "too_long") return tooLong(type, field, name, NAME_BYTES_MAX);
  return refuse(type, reason, field, `${field} ${flawText(flaw)}; got ${shown(name)}`);
}

function aRecord(type: RecordType): string {
  return `${type === "event" ? "an" : "a"} ${type} record`;
}

function tooLong(type: RecordType, field: string, value: string, most: number): Refusal {
  return refuse(
    type,
    "field_too_long",
    field,
    `${field} may have ${most} bytes, got ${value.length} characters beginning ${shown(value.slice(0, 20))}`,
  );
}

function refuseContent(type: RecordType, fields: Readonly<Record<string, unknown>>): Refusal | undefined {
  if (WITH_BODY.has(type)) {
    const body = fields.body;
    if (body === undefined || body === null)
      return refuse(type, "missing_body", "body", `body is absent; ${aRecord(type)} needs it as a string`);
    if (typeof body !== "string") return refuse(type, "missing_body", "body", `body must be a string, got ${shown(body)}`);
    return undefined;
  }
  const named = refuseName(type, "metric_name", "missing_metric_name", fields.metric_name);
  if (named) return named;
  if (fields.value === undefined) return refuse(type, "missing_value", "value", `value is absent; ${aRecord(type)} needs a finite number`);
  if (typeof fields.value === "number" && Number.isFinite(fields.value)) return undefined;
  return refuse(type, "invalid_value", "value", `value must be a finite number (float64), got ${shown(fields.value)}`);
}

function refuseTimestamp(type: RecordType, input: unknown, timeMs: number | undefined, nowMs: number): Refusal | undefined {
  if (input === undefined) {
    return refuse(type, "missing_timestamp", "timestamp", 'timestamp is absent; give RFC 3339 such as "2026-01-31T12:00:00Z"');
  }
  if (timeMs === undefined) {
    return refuse(type, "invalid_timestamp", "timestamp", `timestamp must be RFC 3339 such as "2026-01-31T12:00:00Z", got ${shown(input)}`);
  }
  if (timeMs < nowMs - TIMESTAMP_AGE_MS_MAX) {
    return refuse(
      type,
      "timestamp_too_old",
      "timestamp",
      `timestamp ${shown(input)} is more than 24 h in the past; import older data instead`,
    );
  }
  if (timeMs > nowMs + TIMESTAMP_FUTURE_MS_MAX) {
    return refuse(
      type,
      "timestamp_in_future",
      "timestamp",
      `timestamp ${shown(input)} is more than 10 minutes in the future; check the sender's clock`,
    );
  }
  return undefined;
}

function refuseAttributes(type: RecordType, fields: Readonly<Record<string, unknown>>): Refusal | undefined {
  if (fields.trace_id !== undefined && fields.trace_id !== null) {
    if (typeof fields.trace_id !== "string")
      return refuse(type, "invalid_attributes", "trace_id", `trace_id must be a string, got ${shown(fields.trace_id)}`);
    const flawed = refuseFlaw(type, "invalid_attributes", "trace_id", fields.trace_id);
    if (flawed !== undefined) return flawed;
  }
  const input = fields.attributes;
  if (input === undefined || input === null) return undefined;
  if (typeof input !== "object" || Array.isArray(input)) {
    return refuse(type, "invalid_attributes", "attributes", `attributes must be an object of keys and values, got ${shown(input)}`);
  }
  const names = Object.keys(input);
  for (const name of names) {
    const flawed = refuseFlaw(type, "invalid_attributes", "attributes", name);
    if (flawed !== undefined) return flawed;
  }
  return (
    refuseEnvironment(type, input as Attributes) ?? (WITH_BODY.has(type) ? undefined : refuseIdentity(type, input as Attributes, names))
  );
}

function refuseEnvironment(type: RecordType, attributes: Attributes): Refusal | undefined {
  const name = environmentAttribute(attributes);
  return name === undefined
    ? undefined
    : refuseFlaw(type, "invalid_attributes", `attributes.${name}`, ownMember(attributes, name) as string);
}

/** Attributes of a record with a value are its identity: too many or too long ones refuse it; those of logs and events are cut. */
function refuseIdentity(type: RecordType, attributes: Attributes, names: readonly string[]): Refusal | undefined {
  if (names.length > ATTRIBUTES_MAX) {
    return refuse(type, "invalid_attributes", "attributes", `${aRecord(type)} may have ${ATTRIBUTES_MAX} attributes, got ${names.length}`);
  }
  const long = names.find((name) => isLongValue(ownMember(attributes, name)));
  if (long === undefined) return undefined;
  const message = `an attribute's value may have ${VALUE_BYTES_MAX} bytes, that of ${shown(long)} has more; it identifies the series, so send a shorter one`;
  return refuse(type, "invalid_attributes", `attributes.${long.slice(0, 60)}`, message);
}

function accept(type: RecordType, fields: Readonly<Record<string, unknown>>, timeMs: number): TelemetryRecord {
  const withBody = WITH_BODY.has(type);
  const input = (fields.attributes as Attributes | null | undefined) ?? NO_ATTRIBUTES;
  const { attributes, loss } = withBody ? retainedAttributes(input) : { attributes: input, loss: NO_LOSS };
  return {
    serviceId: fields.service_id as string,
    type,
    metricName: withBody ? "" : (fields.metric_name as string),
    value: withBody ? Number.NaN : (fields.value as number),
    body: withBody ? retainedBody(fields.body as string) : "",
    traceId: (fields.trace_id as string | null | undefined) ?? "",
    timeMs,
    nanoseconds: type === "metric" ? 0 : nanosecondsOfRfc3339(fields.timestamp as string),
    attributes,
    loss,
  };
}
