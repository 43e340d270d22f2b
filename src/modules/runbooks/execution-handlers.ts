// POST /api/v1/runbooks/{id}/execute, GET /api/v1/runbooks/executions, GET /{id}, POST /{id}/approve, /reject and /cancel.

import { openPage } from "../../api/page-token.ts";
import { created, done, type Outcome, refused, shown } from "../../api/refusal.ts";
import { cancelled, currentStep, type Decision, decided, type Execution, newExecution } from "../../domain/runbooks/execution.ts";
import { unknownAnomaly } from "../anomalies/anomaly-handlers.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { scanNewest } from "../state/scan.ts";
import { newId } from "../state/tables.ts";
import { factsOf } from "./execution-facts.ts";
import { executionOperations, readExecution } from "./execution-store.ts";
import { unknownRunbook } from "./runbook-handlers.ts";
import { EXECUTION, executionBound, executionId, executionsEnd } from "./runbook-row.ts";
import { contentDigest, type DigestState, executionView } from "./runbook-view.ts";
import type { RunbooksContext } from "./runbooks-context.ts";

const ROWS_PER_READ = 100;

export async function executeRunbook(context: RunbooksContext, request: QueryRequest<"executeRunbook">): Promise<Outcome<unknown>> {
  const { state, runs, nowMs, randomBytes } = context;
  const { tenant, subject: startedBy } = request.principal;
  const { body, query, path } = request;
  const { anomaly_id: anomalyId = "" } = body;
  return context.change(request, () => {
    const runbook = state.configured.runbooks.find(tenant, path.id ?? "");
    if (runbook === undefined) return unknownRunbook(path.id ?? "");
    const anomaly = anomalyId === "" ? undefined : state.anomalies.find(tenant, anomalyId);
    if (anomalyId !== "" && anomaly === undefined) return unknownAnomaly(anomalyId);
    const dryRun = query.dry_run === "true" || body.dry_run;
    const problem = runs.problem(runbook, dryRun);
    if (problem !== null) return refused("rate_limit_exceeded", problem);
    const id = executionId(nowMs(), newId({ randomBytes }));
    const facts = factsOf(state, { tenant, runbook, executionId: id, startedBy, anomaly });
    const starter = state.configured.keys.personOf(tenant, startedBy);
    const execution = newExecution({ id, tenant, runbook, anomalyId, facts, startedBy, starter, dryRun, nowMs: nowMs() });
    const after = executionView(state, execution);
    return {
      ok: true,
      note: { action: "runbook.execute", object: runbook.id, before: null, after: noted(state, execution) },
      operations: executionOperations(execution),
      apply: () => runs.begin(execution),
      outcome: created(after),
    };
  });
}

export function approveStep(context: RunbooksContext, request: QueryRequest<"approveStep">): Promise<Outcome<unknown>> {
  return decide(context, request, true);
}

export function rejectStep(context: RunbooksContext, request: QueryRequest<"rejectStep">): Promise<Outcome<unknown>> {
  return decide(context, request, false);
}

function decide(
  context: RunbooksContext,
  request: QueryRequest<"approveStep"> | QueryRequest<"rejectStep">,
  isApproved: boolean,
): Promise<Outcome<unknown>> {
  const { options, state } = context;
  const { tenant, subject } = request.principal;
  return changed(context, request, (execution) => {
    const waiting = execution.state === "pending_approval" ? execution.runbook.steps[currentStep(execution)]?.name : undefined;
    const { step, digest } = request.body;
    if (digest !== undefined && digest !== contentDigest(state, execution.runbook)) {
      return refused("conflict", "the run is of another content than was looked at: read it again", "digest");
    }
    if (waiting !== step) {
      const state = waiting === undefined ? `the run is ${execution.state}` : `step ${shown(waiting)} is what waits`;
      return refused("conflict", `step ${shown(step)} does not wait for an approval: ${state}`, "step");
    }
    const now = state.configured.runbooks.find(tenant, execution.runbook.id);
    if (isApproved && (now === undefined || contentDigest(state, now) !== contentDigest(state, execution.runbook))) {
      const what = now === undefined ? "has been deleted" : `is another at revision ${now.revision}`;
      return refused(
        "conflict",
        `the run is of revision ${execution.runbook.revision}, and the runbook ${what}: reject it, and run what there is`,
      );
    }
    const { keys } = state.configured;
    const starter = execution.starter ?? (execution.startedBy === null ? null : keys.personOf(tenant, execution.startedBy));
    if (isApproved && options.runbookFourEyes !== false && starter === keys.personOf(tenant, subject)) {
      return refused("forbidden", `${starter} started this run, or what it is for: somebody else has to approve (RUNBOOK_FOUR_EYES)`);
    }
    return decided(execution, isApproved, decisionOf(context, request));
  });
}

export function cancelExecution(context: RunbooksContext, request: QueryRequest<"cancelExecution">): Promise<Outcome<unknown>> {
  return changed(context, request, (execution) => cancelled(execution, decisionOf(context, request)));
}

type DecisionRequest = QueryRequest<"approveStep"> | QueryRequest<"rejectStep"> | QueryRequest<"cancelExecution">;

function decisionOf({ nowMs }: RunbooksContext, { principal, body }: DecisionRequest): Decision {
  return { by: principal.subject, atMs: nowMs(), comment: body.comment };
}

const ACTIONS = { running: "runbook.approve", rejected: "runbook.reject", cancelled: "runbook.cancel" } as const;

/** Changes a run that is not over, and notes it. */
function changed(
  context: RunbooksContext,
  request: DecisionRequest,
  change: (execution: Execution) => Execution | ReturnType<typeof refused>,
): Promise<Outcome<unknown>> {
  const { state, runs } = context;
  const { tenant } = request.principal;
  const id = request.path.id ?? "";
  return context.change(request, () => {
    const before = runs.open(tenant, id);
    if (before === undefined) {
      const over = readExecution(state.control, tenant, id);
      return over === undefined ? unknownExecution(id) : refused("conflict", `the run is over: ${over.state}`);
    }
    const after = change(before);
    if ("ok" in after) return after;
    const action = ACTIONS[after.state as keyof typeof ACTIONS];
    return {
      ok: true,
      note: {
        action,
        object: before.runbook.id,
        before: noted(state, before),
        after: { ...noted(state, after), comment: request.body.comment },
      },
      operations: executionOperations(after),
      apply: () => runs.adopt(after),
      outcome: done(executionView(state, after)),
    };
  });
}

/** Audit view of a run. */
function noted(known: DigestState, execution: Execution) {
  const { execution_id, runbook_id, revision, digest, anomaly_id, state, dry_run, pending_step, reason } = executionView(known, execution);
  return { execution_id, runbook_id, revision, digest, anomaly_id, state, dry_run, pending_step, reason };
}

export function oneExecution({ state, runs }: RunbooksContext, { principal, path }: QueryRequest<"execution">): Outcome<unknown> {
  const { tenant } = principal;
  const id = path.id ?? "";
  const execution = runs.open(tenant, id) ?? readExecution(state.control, tenant, id);
  return execution === undefined ? unknownExecution(id) : done(executionView(state, execution));
}

export async function listExecutions(context: RunbooksContext, request: QueryRequest<"executions">): Promise<Outcome<unknown>> {
  const { state, yieldToLoop } = context;
  const { tenant } = request.principal;
  const { limit, ...filters } = request.query;
  const asked = openPage(state, request, "runbook_executions");
  if (!asked.ok) return asked;
  const after = asked.value.after as readonly [id: string] | undefined;
  const rows: Execution[] = [];
  let total = 0;
  let read = 0;
  for (const { value } of scanNewest(
    state.control,
    "runbook_executions",
    executionBound(tenant, 0),
    executionsEnd(tenant),
    ROWS_PER_READ,
  )) {
    if (++read % ROWS_PER_READ === 0) await yieldToLoop();
    const execution = EXECUTION.decode(value);
    if (!selects(filters, execution)) continue;
    total++;
    if (rows.length <= limit && (after === undefined || execution.id < after[0])) rows.push(execution);
  }
  const { page, page_token } = asked.value.cut(rows, ({ id }) => [id]);
  return done({ executions: page.map((execution) => executionView(state, execution)), total, page_token });
}

function selects(
  { runbook_id: runbookId, anomaly_id: anomalyId, state }: Omit<QueryRequest<"executions">["query"], "limit" | "page_token">,
  execution: Execution,
): boolean {
  if (runbookId !== undefined && execution.runbook.id !== runbookId) return false;
  if (anomalyId !== undefined && execution.anomalyId !== anomalyId) return false;
  return state === undefined || execution.state === state;
}

function unknownExecution(id: string) {
  return refused("not_found", `no run has the id ${shown(id)}; runs are kept for 30 days`);
}
