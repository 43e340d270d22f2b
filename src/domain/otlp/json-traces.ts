// Spans of ExportTraceServiceRequest in JSON.
import { isObject } from "../../core/collections/own-member.ts";
import { type AttributedItem, enumOf, fractionalMillisecondsOf, idOf, type RequestNames, readItems, textOf } from "./json-values.ts";
import type { OtlpSpan, SpanItem } from "./otlp-items.ts";

/** Names of the levels of a request of spans. */
export const TRACE_NAMES: RequestNames = { resources: "resourceSpans", scopes: "scopeSpans", items: "spans" };
const KINDS = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"] as const;
const CODES = ["UNSET", "OK", "ERROR"] as const;

/** The spans of a body that requestProblem() found nothing wrong with. */
export function* spansOfJson(body: unknown, prefixes = false): Generator<SpanItem> {
  for (const span of readItems(body, TRACE_NAMES, "a span", readSpan, prefixes)) {
    yield typeof span === "string" ? { type: "damaged", item: { message: span } } : { type: "span", span };
  }
}

function readSpan({ item: input, attributes, loss, source }: AttributedItem): OtlpSpan {
  const { serviceId, environment, resourceAttributes, resourceRefusal } = source;
  return {
    serviceId,
    environment,
    traceId: idOf(input.traceId, "traceId"),
    spanId: idOf(input.spanId, "spanId"),
    parentSpanId: idOf(input.parentSpanId, "parentSpanId"),
    name: textOf(input.name, "name"),
    kind: enumOf(input.kind, "kind", "SPAN_KIND_", KINDS),
    startMs: fractionalMillisecondsOf(input.startTimeUnixNano, "startTimeUnixNano"),
    endMs: fractionalMillisecondsOf(input.endTimeUnixNano, "endTimeUnixNano"),
    statusCode: isObject(input.status) ? enumOf(input.status.code, "status.code", "STATUS_CODE_", CODES) : 0,
    attributes,
    resourceAttributes,
    loss,
    resourceRefusal,
  };
}
