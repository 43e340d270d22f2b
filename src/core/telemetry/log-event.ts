// A line of the server's own log as a value: made by any thread, written by the main thread alone (adapters/telemetry/process-log.ts).
import { stackOf } from "../text/error-text.ts";

/** Levels, least first; a fatal line is the last one before the process ends. */
export const LOG_LEVELS = ["debug", "info", "warn", "error", "fatal"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The part of the server that speaks. */
export type LogComponent =
  | "access"
  | "coordinator"
  | "data-folder"
  | "engine"
  | "heartbeat"
  | "http"
  | "notifier"
  | "parent"
  | "queries"
  | "retention"
  | "rules"
  | "server"
  | "store";

/** Fields of a line besides its sentence, in snake_case: `request_id` of a request, `stack` of an error. Never a secret. */
export type LogFields = Readonly<Record<string, string | number | boolean>>;

export interface LogEvent {
  readonly level: LogLevel;
  readonly component: LogComponent;
  /** One sentence. */
  readonly msg: string;
  readonly fields?: LogFields;
}

/** Writes lines of one component. */
export type Log = (level: LogLevel, msg: string, fields?: LogFields) => void;

/** The log of a component, whose events go to `take`: into a message to the main thread, or straight to the log there. */
export function logOf(component: LogComponent, take: (event: LogEvent) => void): Log {
  return (level, msg, fields) => take(fields === undefined ? { level, component, msg } : { level, component, msg, fields });
}

/** The fields of an error that is a defect. */
export function errorFields(error: unknown): LogFields {
  return { stack: stackOf(error) };
}
