// GET, POST /api/v1/inhibitions and GET, DELETE /api/v1/inhibitions/{id}.

import { listed } from "../../api/page-token.ts";
import { done, noContent, type Outcome, refused, shown } from "../../api/refusal.ts";
import { INHIBITIONS_PER_TENANT_MAX } from "../../core/config/limits.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { refuseOneMore } from "../state/one-more.ts";
import { newId } from "../state/tables.ts";
import { inhibitionOperation, type StoredInhibition } from "./inhibition-book.ts";
import { matchersProblem, patternCapacityProblem } from "./pattern-capacity.ts";
import type { SilencesContext } from "./silences-context.ts";

/** Makes a rule; alerts that fire already keep others quiet by it from now on. */
export async function createInhibition(context: SilencesContext, request: QueryRequest<"createInhibition">): Promise<Outcome<unknown>> {
  const { alerts, configured } = context.state;
  const { inhibitions } = configured;
  const { tenant, subject } = request.principal;
  const { source_matchers: sourceMatchers, target_matchers: targetMatchers, equal, comment } = request.body;
  for (const [name, matchers] of [["source_matchers", sourceMatchers] as const, ["target_matchers", targetMatchers] as const]) {
    const problem = await matchersProblem(matchers, configured.patterns, context.yieldToLoop);
    if (problem !== null) return refused("invalid_parameter", problem, name);
  }
  const id = newId(context);
  const nowMs = context.nowMs();
  return context.change(request, () => {
    const advice = "delete one first, or put several into one with =~";
    const rules = { shares: inhibitions.shares, tenant, mostOfTenant: INHIBITIONS_PER_TENANT_MAX, what: "inhibition rules", advice };
    const full = refuseOneMore(rules);
    if (full !== undefined) return full;
    const problem = patternCapacityProblem(configured, tenant, [...sourceMatchers, ...targetMatchers], nowMs);
    if (problem !== null) return refused("unprocessable", problem);
    const rule: StoredInhibition = { id, tenant, sourceMatchers, targetMatchers, equal, comment, createdBy: subject, createdMs: nowMs };
    const after = inhibitionView(rule);
    return {
      ok: true,
      note: { action: "inhibition.create", object: id, before: null, after },
      operations: [inhibitionOperation(rule, rule)],
      apply: () => {
        inhibitions.put(rule);
        alerts.memory.rulesChanged(tenant);
      },
      outcome: { ok: true, value: after, status: 201 },
    };
  });
}

/** Ends a rule. */
export function deleteInhibition(context: SilencesContext, request: QueryRequest<"deleteInhibition">): Promise<Outcome<unknown>> {
  const { alerts, configured } = context.state;
  const { inhibitions } = configured;
  const { tenant } = request.principal;
  const id = request.path.id ?? "";
  return context.change(request, () => {
    const before = inhibitions.find(tenant, id);
    if (before === undefined) return unknownInhibition(id);
    return {
      ok: true,
      note: { action: "inhibition.delete", object: id, before: inhibitionView(before), after: null },
      operations: [inhibitionOperation(before, undefined)],
      apply: () => {
        inhibitions.remove(tenant, id);
        alerts.memory.rulesChanged(tenant);
      },
      outcome: noContent(),
    };
  });
}

/** One rule. */
export function oneInhibition({ state }: SilencesContext, { principal, path }: QueryRequest<"inhibition">): Outcome<unknown> {
  const rule = state.configured.inhibitions.find(principal.tenant, path.id ?? "");
  return rule === undefined ? unknownInhibition(path.id ?? "") : done(inhibitionView(rule));
}

/** A page of the tenant's rules. */
export function listInhibitions({ state }: SilencesContext, request: QueryRequest<"inhibitions">): Outcome<unknown> {
  const rules = state.configured.inhibitions.rulesOf(request.principal.tenant).map(({ rule }) => rule);
  const list = { endpoint: "inhibitions", positionOf: ({ createdMs, id }: StoredInhibition) => [createdMs, id] };
  return listed(state, request, list, rules, (page) => ({ inhibitions: page.map(inhibitionView), total: rules.length }));
}

function unknownInhibition(id: string) {
  return refused("not_found", `no inhibition rule has the id ${shown(id)}; GET /api/v1/inhibitions lists those that there are`);
}

function inhibitionView({ id, sourceMatchers, targetMatchers, equal, comment, createdBy, createdMs }: StoredInhibition) {
  return {
    inhibition_id: id,
    source_matchers: sourceMatchers,
    target_matchers: targetMatchers,
    equal,
    comment,
    created_by: createdBy,
    created_at: formatRfc3339(createdMs),
  };
}
