import { ConfigError } from "../core/config/config-error.ts";

/** What the terminal shows of an error that ends the command: one line of those that the operator can mend, the stack of all others. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const plain =
    error instanceof ConfigError || ["FolderLockedError", "MetaError"].includes(error.name) || error.message.startsWith("cannot listen");
  return plain ? error.message : (error.stack ?? error.message);
}
