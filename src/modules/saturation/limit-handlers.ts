// PUT, GET and DELETE /api/v1/saturation/limits.
import type { BodyOf } from "../../api/endpoints.ts";
import { listed, type PagePosition } from "../../api/page-token.ts";
import { done, noContent, type Outcome, refused, shown } from "../../api/refusal.ts";
import { SATURATION_LIMITS_PER_TENANT_MAX } from "../../core/config/declaration-limits.ts";
import { ShareDraft } from "../../core/fairness/share-ledger.ts";
import type { SaturationLimit } from "../../core/protocol/saturation.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { limitId, type SaturationLimits } from "../../domain/saturation/saturation-limits.ts";
import type { ChangeNote } from "../access/audit-log.ts";
import type { ChangeRequest, QueryRequest } from "../queries/query-context.ts";
import { mapInSlices } from "../state/slices.ts";
import { type LimitScope, limitOperation } from "./limit-book.ts";
import type { SaturationContext } from "./saturation-context.ts";

export async function declareLimit(context: SaturationContext, request: QueryRequest<"declareLimit">): Promise<Outcome<unknown>> {
  const [outcome] = await declareLimits(context, request, [request.body]);
  return outcome as Outcome<unknown>;
}

/** Declares limits of different places, in one transaction; an outcome of each. */
export async function declareLimits(
  context: SaturationContext,
  request: ChangeRequest,
  bodies: ReadonlyArray<BodyOf<"declareLimit">>,
): Promise<Array<Outcome<unknown>>> {
  const { limits } = context.state.configured.saturation;
  const changed = await context.change<Array<Outcome<unknown>>>(request, async (pause) => {
    const draft: LimitDraft = {
      limits,
      tenant: request.principal.tenant,
      shares: new ShareDraft(limits.shares),
      nowMs: context.nowMs(),
      made: [],
      notes: [],
    };
    const outcomes = await mapInSlices(bodies, (body) => declareInto(draft, body), pause);
    if (draft.made.length === 0) return { ok: "unchanged", outcome: done(outcomes) };
    return {
      ok: true,
      note: draft.notes,
      operations: draft.made.map((limit) => limitOperation(limit, limit)),
      apply: () => {
        for (const limit of draft.made) limits.put(limit);
      },
      outcome: done(outcomes),
    };
  });
  return changed.ok ? changed.value : bodies.map(() => changed);
}

interface LimitDraft {
  readonly limits: SaturationLimits;
  readonly tenant: string;
  readonly shares: ShareDraft;
  readonly nowMs: number;
  readonly made: SaturationLimit[];
  /** Rows of the audit log. */
  readonly notes: ChangeNote[];
}

function declareInto(
  { limits, tenant, shares, nowMs, made, notes }: LimitDraft,
  { service_id = null, metric, limit_value: limitValue, unit }: BodyOf<"declareLimit">,
): Outcome<unknown> {
  const before = limits.find(tenant, limitId({ serviceId: service_id, metric }));
  if (before?.limitValue === limitValue && before.unit === unit) return done(limitView(before));
  const places = limits.sizeOf(tenant) + shares.added(tenant);
  if (before === undefined && (!shares.take(tenant) || places >= SATURATION_LIMITS_PER_TENANT_MAX))
    return refused("unprocessable", `${places} limits are declared, and there is room for no more; remove others first`);
  const limit: SaturationLimit = { tenant, serviceId: service_id, metric, limitValue, unit, updatedMs: nowMs };
  const after = limitView(limit);
  made.push(limit);
  notes.push({ action: "limit.declare", object: nameOf(limit), before: before === undefined ? null : limitView(before), after });
  return before === undefined ? { ok: true, value: after, status: 201 } : done(after);
}

/** Removes a declaration. */
export function deleteLimit(context: SaturationContext, request: QueryRequest<"deleteLimit">): Promise<Outcome<unknown>> {
  const { limits } = context.state.configured.saturation;
  const { service = null, metric } = request.query;
  const scope: LimitScope = { tenant: request.principal.tenant, serviceId: service, metric };
  return context.change(request, () => {
    const before = limits.find(scope.tenant, limitId(scope));
    if (before === undefined) {
      const whose = service === null ? "no tenant-wide limit" : `no limit of ${shown(service)}`;
      return refused("not_found", `${whose} is declared for ${shown(metric)}`);
    }
    return {
      ok: true,
      note: { action: "limit.delete", object: nameOf(scope), before: limitView(before), after: null },
      operations: [limitOperation(scope, undefined)],
      apply: () => limits.remove(scope.tenant, limitId(scope)),
      outcome: noContent(),
    };
  });
}

/** A page of the tenant's declarations. */
export function listLimits({ state }: SaturationContext, request: QueryRequest<"limits">): Outcome<unknown> {
  const { service, metric } = request.query;
  const matching = state.configured.saturation.limits
    .of(request.principal.tenant)
    .filter((each) => (service === undefined || each.serviceId === service) && (metric === undefined || each.metric === metric));
  const list = { endpoint: "limits", positionOf };
  return listed(state, request, list, matching, (page) => ({ limits: page.map(limitView), total: matching.length }));
}

function positionOf({ metric, serviceId }: SaturationLimit): PagePosition {
  return [metric, serviceId !== null, serviceId ?? ""];
}

function nameOf({ serviceId, metric }: Pick<SaturationLimit, "metric" | "serviceId">): string {
  return serviceId === null ? metric : `${serviceId}/${metric}`;
}

function limitView({ serviceId, metric, limitValue, unit, updatedMs }: SaturationLimit) {
  return { service_id: serviceId, metric, limit_value: limitValue, unit, updated_at: formatRfc3339(updatedMs) };
}
