// A span of a block as a telemetry record of type trace (section 2.1 of the contract): what it has no field for stands among its attributes.
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import { formatRfc3339, rfc3339OrNumber } from "../../core/time/rfc3339.ts";
import type { OtlpSpan } from "../otlp/otlp-items.ts";
import type { SpanBlockHead, StoredSpan } from "./span-block.ts";

const SPAN_KINDS = ["unspecified", "internal", "server", "client", "producer", "consumer"] as const;
const STATUS_CODES = ["unset", "ok", "error"] as const;

/** When a span ended, which is the time of its record. */
export function spanTimeMs({ endMicroseconds }: StoredSpan): number {
  return Math.floor(endMicroseconds / 1000);
}

/** 32 hex digits: the span's record, the same however often it came. */
export function spanRecordId({ traceId, spanId }: StoredSpan): string {
  return traceId.slice(16) + spanId;
}

/** The record. `value` is the duration in milliseconds. */
export function spanRecord(span: StoredSpan, { serviceId, resource }: SpanBlockHead): Record<string, unknown> {
  return {
    service_id: serviceId,
    type: "trace",
    metric_name: span.name,
    value: span.microseconds / 1000,
    trace_id: span.traceId,
    timestamp: formatRfc3339(spanTimeMs(span)),
    attributes: { ...(JSON.parse(resource) as Attributes), ...span.attributes(), ...spanAttributes(span) },
  };
}

/** The record of a span as it came in. */
export function recordOfSpan(span: OtlpSpan): Record<string, unknown> {
  return {
    service_id: span.serviceId,
    type: "trace",
    metric_name: span.name,
    value: span.endMs - span.startMs,
    trace_id: span.traceId,
    timestamp: rfc3339OrNumber(span.endMs),
    attributes: { ...span.resourceAttributes, ...span.attributes, ...spanAttributes(span) },
  };
}

function spanAttributes({
  spanId,
  parentSpanId,
  kind,
  statusCode,
}: Pick<StoredSpan, "spanId" | "parentSpanId" | "kind" | "statusCode">): Attributes {
  return {
    span_id: spanId,
    ...(parentSpanId === "" ? {} : { parent_span_id: parentSpanId }),
    span_kind: SPAN_KINDS[kind] ?? SPAN_KINDS[0],
    status_code: STATUS_CODES[statusCode] ?? STATUS_CODES[0],
  };
}
