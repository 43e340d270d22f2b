// What the handlers of runbooks and their runs use.
import type { Changing } from "../access/changes.ts";
import type { Using } from "../queries/query-context.ts";
import type { RunbookRunner } from "./runbook-runner.ts";
import type { RunbookState } from "./runbook-state.ts";

export interface RunbooksContext extends Using<"edit" | "nowMs" | "options" | "randomBytes" | "yieldToLoop">, Changing {
  readonly state: RunbookState;
  /** Why a URL of a tenant may not be asked for; null where it may. */
  forbiddenTarget(url: string): Promise<string | null>;
  readonly runs: Pick<RunbookRunner, "open" | "adopt" | "begin" | "problem" | "pause" | "saved">;
}
