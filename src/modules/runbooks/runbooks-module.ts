// What the coordinator folds of runbooks and their runs.
import type { BookSources, NounModule } from "../state/noun-module.ts";
import type { RetentionTerms } from "../state/retention-step.ts";
import { approveStep, cancelExecution, executeRunbook, listExecutions, oneExecution, rejectStep } from "./execution-handlers.ts";
import { expireExecutions } from "./execution-retention.ts";
import { RunbookBook } from "./runbook-book.ts";
import { changeRunbook, createRunbook, deleteRunbook, listRunbooks, oneRunbook } from "./runbook-handlers.ts";
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
