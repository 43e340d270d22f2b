// Severities of logs, in the six ranges of OpenTelemetry (https://opentelemetry.io/docs/specs/otel/logs/data-model/#field-severitynumber).
import { ownMember } from "../../core/collections/own-member.ts";
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import { ownAttribute } from "../series/stream-identity.ts";

/** Names by number; 0 is for logs that say none. */
export const SEVERITIES = ["UNSPECIFIED", "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"] as const;
const NUMBERS_PER_RANGE = 4;
const NUMBER_LAST = 24;

const BY_NAME: Readonly<Record<string, number>> = {
  trace: 1,
  finest: 1,
  debug: 2,
  verbose: 2,
  fine: 2,
  info: 3,
  information: 3,
  informational: 3,
  notice: 3,
  warn: 4,
  warning: 4,
  error: 5,
  err: 5,
  severe: 5,
  fatal: 6,
  critical: 6,
  crit: 6,
  alert: 6,
  emergency: 6,
  emerg: 6,
  panic: 6,
};
/** Attributes that senders of JSON name it by, in order of precedence. */
const ATTRIBUTE_NAMES = ["severity_text", "severity", "log.level", "level", "severity_number"] as const;

/** Place in SEVERITIES of an OpenTelemetry severity: by its number, else by its text. */
export function severityOf(number: number, text: string): number {
  if (number >= 1 && number <= NUMBER_LAST) return Math.ceil(Math.floor(number) / NUMBERS_PER_RANGE);
  const name = text.replace(/\d+$/, "").trim().toLowerCase();
  return ownMember(BY_NAME, name) ?? 0;
}

/** Place in SEVERITIES of a log by its attributes. */
export function severityOfAttributes(attributes: Attributes): number {
  for (const name of ATTRIBUTE_NAMES) {
    const value = ownAttribute(attributes, name);
    const severity = typeof value === "string" ? severityOf(0, value) : typeof value === "number" ? severityOf(value, "") : 0;
    if (severity > 0) return severity;
  }
  return 0;
}
