// What the coordinator folds of runbooks and their runs.
// Retention of runs: thirty days, so many of a tenant. What is not over stays.
import { RUNBOOK_RUNS_MS, RUNBOOK_RUNS_PER_TENANT_MAX } from "../../core/config/runbook-limits.ts";
import { type Execution, isOpen } from "../../domain/runbooks/execution.ts";
import type { BookSources, NounModule } from "../state/noun-module.ts";
import { type RetentionStep, type RetentionTerms, yieldStep } from "../state/retention-step.ts";
import { scanTenants } from "../state/scan.ts";
import { approveStep, cancelExecution, executeRunbook, listExecutions, oneExecution, rejectStep } from "./execution-handlers.ts";
import { executionRemoval, noticeId } from "./execution-store.ts";
import { RunbookBook } from "./runbook-book.ts";
import { changeRunbook, createRunbook, deleteRunbook, listRunbooks, oneRunbook } from "./runbook-handlers.ts";
import { EXECUTION, executionBound, executionsEnd } from "./runbook-row.ts";
import type { RunbookState } from "./runbook-state.ts";

export const RUNBOOKS = {
  tables: {
    control: {
      runbooks: { key: "tenant, runbook id", value: "Runbook, its secrets included" },
      runbook_executions: { key: "tenant, execution id", value: "Execution: a run, with the runbook as it was" },
      runbook_open: { key: "tenant, execution id", value: "empty, while it is not over" },
    },
  },
  configured: ({ share, patterns }: BookSources) => ({ runbooks: new RunbookBook(patterns, share("runbooks")) }),
  gauges: ({ configured }: { readonly configured: Pick<RunbookState["configured"], "runbooks"> }) => ({
    runbooks: configured.runbooks.size,
  }),
  expire: ({ state }: { readonly state: RunbookState }, terms: RetentionTerms) =>
    expireExecutions(state, terms.wallNowMs, terms.rowsPerStep),
  handlers: {
    runbooks: listRunbooks,
    createRunbook,
    executions: listExecutions,
    execution: oneExecution,
    approveStep,
    rejectStep,
    cancelExecution,
    runbook: oneRunbook,
    changeRunbook,
    deleteRunbook,
    executeRunbook,
  },
} as const satisfies NounModule;

function* expireExecutions(state: RunbookState, nowMs: number, rowsPerStep: number): Generator<RetentionStep> {
  const { control } = state;
  for (const tenant of [...scanTenants(control, "runbook_executions")]) {
    const oldMs = nowMs - RUNBOOK_RUNS_MS;
    let retained = 0;
    let to = executionsEnd(tenant);
    for (;;) {
      const entries = control.range("runbook_executions", { from: executionBound(tenant, 0), to, reverse: true, limit: rowsPerStep });
      const last = entries.at(-1);
      if (last === undefined) break;
      to = last.key;
      const gone: Execution[] = [];
      for (const { value } of entries) {
        const execution = EXECUTION.decode(value);
        const isRetained = isOpen(execution) || (execution.createdAtMs >= oldMs && retained < RUNBOOK_RUNS_PER_TENANT_MAX);
        if (isRetained) retained++;
        else gone.push(execution);
      }
      if (gone.length === 0) yield yieldStep(control);
      else yield { store: control, operations: gone.flatMap((execution) => removal(state, execution)), apply: () => undefined };
    }
  }
}

function removal({ alerts }: RunbookState, execution: Execution) {
  const notices = execution.runbook.steps.flatMap(({ type }, index) =>
    type === "notify" ? (alerts.follower?.removal(execution.tenant, noticeId(execution.id, index)) ?? []) : [],
  );
  return [...executionRemoval(execution), ...notices];
}
