// Log records of ExportLogsServiceRequest in JSON.
// The body of a log record as text.
import type { AttributeValue } from "../../core/protocol/coordinator-frame.ts";
import {
  type AttributedItem,
  anyValueOf,
  countOf,
  idOf,
  millisecondsOf,
  nanosecondsBehind,
  type RequestNames,
  readItems,
  textOf,
} from "./json-values.ts";
import type { LogItem, OtlpLog } from "./otlp-items.ts";
import { spanIdOf, traceIdOf } from "./otlp-limits.ts";

/** Names of the levels of a request of log records. */
export const LOG_NAMES: RequestNames = { resources: "resourceLogs", scopes: "scopeLogs", items: "logRecords" };
const SEVERITIES = /^SEVERITY_NUMBER_(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)([2-4])?$/;
const SEVERITY_RANGES = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];

/** The log records of a body that requestProblem() found nothing wrong with. */
export function* logsOfJson(body: unknown, prefixes = false): Generator<LogItem> {
  for (const log of readItems(body, LOG_NAMES, "a log record", readLog, prefixes)) {
    yield typeof log === "string" ? { type: "damaged", item: { message: log } } : { type: "log", log };
  }
}

function readLog({ item: input, attributes, loss, source }: AttributedItem): OtlpLog {
  const { serviceId, environment, resourceAttributes, resourceRefusal } = source;
  const [ownMs, observedMs] = [
    millisecondsOf(input.timeUnixNano, "timeUnixNano"),
    millisecondsOf(input.observedTimeUnixNano, "observedTimeUnixNano"),
  ];
  return {
    serviceId,
    environment,
    timeMs: ownMs || observedMs,
    nanoseconds: nanosecondsBehind(ownMs > 0 ? input.timeUnixNano : input.observedTimeUnixNano),
    severityNumber: severityOf(input.severityNumber),
    severityText: textOf(input.severityText, "severityText"),
    body: bodyText(anyValueOf(input.body)),
    attributes,
    resourceAttributes,
    loss,
    traceId: traceIdOf(idOf(input.traceId, "traceId")),
    spanId: spanIdOf(idOf(input.spanId, "spanId")),
    eventName: textOf(input.eventName, "eventName"),
    resourceRefusal,
  };
}

function severityOf(value: unknown): number {
  const named = typeof value === "string" ? SEVERITIES.exec(value) : null;
  if (named === null) return value === "SEVERITY_NUMBER_UNSPECIFIED" ? 0 : countOf(value, "severityNumber");
  return 4 * SEVERITY_RANGES.indexOf(named[1] as string) + Number(named[2] ?? 1);
}

/** A string as it is, nothing as "", anything else as JSON. */
export function bodyText(body: AttributeValue): string {
  if (typeof body === "string") return body;
  return body === null ? "" : JSON.stringify(body);
}
