import type { ProcessLog } from "../adapters/telemetry/process-log.ts";
import { describeError } from "./error-description.ts";
import { writeError } from "./terminal.ts";

/** Writes the last line of a start that ends: as JSON where the log is, else as every command says why it ends. */
export function endStart(error: unknown, log: ProcessLog): void {
  if (!log.isJson) writeError(`vedette: ${describeError(error)}`);
  else log.take({ level: "fatal", component: "server", msg: describeError(error) });
}
