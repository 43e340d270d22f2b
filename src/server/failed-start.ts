import type { ProcessLog } from "../adapters/telemetry/process-log.ts";
import { ConfigError } from "../core/config/config-error.ts";
import { writeError } from "./terminal.ts";

/** Errors whose message is all that the operator needs. */
const PLAIN_NAMES: ReadonlySet<string> = new Set([
  "FolderLockedError",
  "FolderOwnedError",
  "MetaError",
  "OlderFolderError",
  "StoreError",
  "UsageError",
  "UnreachableError",
  "CommandError",
]);

/** Errors that say that something stored is not what was written. */
const DAMAGE_NAMES: ReadonlySet<string> = new Set(["DamagedStoreError", "DamagedValueError", "UnknownRowError"]);
const DAMAGE_ADVICE = 'restore the data folder from a backup, or see what can be read, and saved, with "vedette doctor --data DIR"';

/** Writes the last line of a start that ends: as JSON where the log is, else as every command says why it ends. */
export function endStart(error: unknown, log: ProcessLog): void {
  if (!log.isJson) writeError(`vedette: ${describeError(error)}`);
  else log.take({ level: "fatal", component: "server", msg: describeError(error) });
}

/** Text on the terminal for an error that ends the command: one line for those that the operator can mend, the stack for all others. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (DAMAGE_NAMES.has(error.name)) return `${error.message}; ${DAMAGE_ADVICE}`;
  return isPlain(error) ? error.message : (error.stack ?? error.message);
}

/** Whether the message says it all. */
export function isPlain(error: Error): boolean {
  const { name, message } = error;
  return error instanceof ConfigError || PLAIN_NAMES.has(name) || DAMAGE_NAMES.has(name) || message.startsWith("cannot listen");
}
