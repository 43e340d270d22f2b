// Retention of runs: thirty days, so many of a tenant. What is not over stays.
import { RUNBOOK_RUNS_MS, RUNBOOK_RUNS_PER_TENANT_MAX } from "../../core/config/runbook-limits.ts";
import { type Execution, isOpen } from "../../domain/runbooks/execution.ts";
import { type RetentionStep, yieldStep } from "../state/retention-step.ts";
import { scanTenants } from "../state/scan.ts";
import { executionRemoval, noticeId } from "./execution-store.ts";
import { EXECUTION, executionBound, executionsEnd } from "./runbook-row.ts";
import type { RunbookState } from "./runbook-state.ts";

export function* expireExecutions(state: RunbookState, nowMs: number, rowsPerStep: number): Generator<RetentionStep> {
  const { control } = state;
  for (const tenant of [...scanTenants(control, "runbook_executions")]) {
    const oldMs = nowMs - RUNBOOK_RUNS_MS;
    let kept = 0;
    let to = executionsEnd(tenant);
    for (;;) {
      const entries = control.range("runbook_executions", { from: executionBound(tenant, 0), to, reverse: true, limit: rowsPerStep });
      const last = entries.at(-1);
      if (last === undefined) break;
      to = last.key;
      const gone: Execution[] = [];
      for (const { value } of entries) {
        const execution = EXECUTION.decode(value);
        const isKept = isOpen(execution) || (execution.createdAtMs >= oldMs && kept < RUNBOOK_RUNS_PER_TENANT_MAX);
        if (isKept) kept++;
        else gone.push(execution);
      }
      if (gone.length === 0) yield yieldStep(control);
      else yield { store: control, operations: gone.flatMap((execution) => removal(state, execution)), apply: () => undefined };
    }
  }
}

function removal({ alerts }: RunbookState, execution: Execution) {
  const notices = execution.runbook.steps.flatMap(({ type }, place) =>
    type === "notify" ? (alerts.follower?.removal(execution.tenant, noticeId(execution.id, place)) ?? []) : [],
  );
  return [...executionRemoval(execution), ...notices];
}
