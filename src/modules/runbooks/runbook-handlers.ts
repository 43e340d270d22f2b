// GET, POST /api/v1/runbooks and GET, PUT, DELETE /api/v1/runbooks/{id}.

import { listed } from "../../api/page-token.ts";
import { created, done, noContent, type Outcome, refused, shown } from "../../api/refusal.ts";
import { RUNBOOKS_PER_TENANT_MAX } from "../../core/config/runbook-limits.ts";
import type { Runbook } from "../../domain/runbooks/runbook.ts";
import type { Change } from "../access/changes.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { refuseOneMore } from "../state/one-more.ts";
import { newId } from "../state/tables.ts";
import { fieldsOf, runbookProblem } from "./runbook-definition.ts";
import { runbookView } from "./runbook-view.ts";
import type { RunbooksContext } from "./runbooks-context.ts";

export async function createRunbook(context: RunbooksContext, request: QueryRequest<"createRunbook">): Promise<Outcome<unknown>> {
  const { runbooks } = context.state.configured;
  const { tenant } = request.principal;
  const { body } = request;
  const problem = await runbookProblem(context, request.principal.tenant, body, undefined);
  if (problem !== undefined) return problem;
  const id = body.id ?? newId(context);
  return context.change(request, () => {
    if (runbooks.find(tenant, id) !== undefined) {
      return refused("conflict", `there is a runbook with the id ${shown(id)}; change it, or give another id`, "id");
    }
    const full = refuseOneMore({ shares: runbooks.shares, tenant, mostOfTenant: RUNBOOKS_PER_TENANT_MAX, what: "runbooks" });
    if (full !== undefined) return full;
    const nowMs = context.nowMs();
    const head = { id, tenant, revision: 1, createdAtMs: nowMs, updatedAtMs: nowMs };
    return stored(context, undefined, { ...head, ...fieldsOf(body, undefined) });
  });
}

export async function changeRunbook(context: RunbooksContext, request: QueryRequest<"changeRunbook">): Promise<Outcome<unknown>> {
  const { runbooks } = context.state.configured;
  const { tenant } = request.principal;
  const id = request.path.id ?? "";
  const { body } = request;
  const known = runbooks.find(tenant, id);
  if (known === undefined) return unknownRunbook(id);
  if (body.id !== undefined && body.id !== id)
    return refused("invalid_field", `it is ${shown(id)} by its path; an id does not change`, "id");
  const problem = await runbookProblem(context, request.principal.tenant, body, known);
  if (problem !== undefined) return problem;
  return context.change(request, () => {
    const before = runbooks.find(tenant, id);
    if (before === undefined) return unknownRunbook(id);
    if (before !== known) return refused("conflict", `it has been changed just now: read it again, and change that`);
    return stored(context, before, {
      ...before,
      ...fieldsOf(body, before),
      revision: before.revision + 1,
      updatedAtMs: context.nowMs(),
    });
  });
}

export function deleteRunbook(context: RunbooksContext, request: QueryRequest<"deleteRunbook">): Promise<Outcome<unknown>> {
  const { runbooks } = context.state.configured;
  const { tenant } = request.principal;
  const id = request.path.id ?? "";
  return context.change(request, () => {
    const before = runbooks.find(tenant, id);
    if (before === undefined) return unknownRunbook(id);
    return {
      ok: true,
      note: { action: "runbook.delete", object: id, before: runbookView(context.state, before), after: null },
      operations: [runbooks.removal(before)],
      apply: () => {
        runbooks.remove(tenant, id);
        context.runs.saved(before);
      },
      outcome: noContent(),
    };
  });
}

export function oneRunbook({ state, runs }: RunbooksContext, { principal, path }: QueryRequest<"runbook">): Outcome<unknown> {
  const runbook = state.configured.runbooks.find(principal.tenant, path.id ?? "");
  return runbook === undefined ? unknownRunbook(path.id ?? "") : done(runbookView(state, runbook, runs.pause(runbook)));
}

export function listRunbooks({ state, runs }: RunbooksContext, request: QueryRequest<"runbooks">): Outcome<unknown> {
  const all = state.configured.runbooks.of(request.principal.tenant);
  return listed(state, request, { endpoint: "runbooks", positionOf: ({ id }) => [id] }, all, (page) => ({
    runbooks: page.map((runbook) => runbookView(state, runbook, runs.pause(runbook))),
    total: all.length,
  }));
}

export function unknownRunbook(id: string) {
  return refused("not_found", `no runbook has the id ${shown(id)}; GET /api/v1/runbooks lists those that there are`);
}

function stored(context: RunbooksContext, before: Runbook | undefined, runbook: Runbook): Change<unknown> {
  const { runbooks } = context.state.configured;
  const after = runbookView(context.state, runbook);
  const action = before === undefined ? "runbook.create" : "runbook.change";
  return {
    ok: true,
    note: { action, object: runbook.id, before: before === undefined ? null : runbookView(context.state, before), after },
    operations: [runbooks.operation(runbook)],
    apply: () => {
      runbooks.put(runbook);
      context.runs.saved(runbook);
    },
    outcome: before === undefined ? created(after) : done(after),
  };
}
