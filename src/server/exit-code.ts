// What the process ends with: 0 in order, 1 problems were found or it failed, and of <sysexits.h> what a script can act on.
import { ConfigError } from "../core/config/config-error.ts";

/** `again`: the start ended over something that the next one leaves out. */
export const EXIT = { ok: 0, problems: 1, usage: 2, unreachable: 69, again: 75, setting: 78 } as const;

/** The command was called as it cannot be; the message is one line. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The server does not answer. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

/** A command that cannot go on for a reason that the person at the terminal can mend; the message is one line. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** The exit code of an error that ends a command. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof UnreachableError) return EXIT.unreachable;
  return error instanceof ConfigError ? EXIT.setting : EXIT.problems;
}
