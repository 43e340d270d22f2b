// /api/v1/tenants: who shares this server. A contact address stands in the answer of the write that sets or keeps it; no list and no audit row shows it.
import { openPage } from "../../api/page-token.ts";
import { created, done, type Outcome, refused } from "../../api/refusal.ts";
import { TENANTS_MAX } from "../../core/layout/memory-map.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { monthOf } from "../../domain/access/billing-month.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { takeCounts } from "../usage/usage-module.ts";
import { eventsOf, readUsage } from "../usage/usage-rows.ts";
import type { AccessContext } from "./access-context.ts";
import type { Change } from "./changes.ts";
import { type Tenant, tenantChange, tenantOperation } from "./tenant-book.ts";

/** A tenant as lists and audit rows show it. */
function tenantView({ id, name, plan, createdMs }: Tenant) {
  return { tenant_id: id, name, plan, created_at: formatRfc3339(createdMs) };
}

/** Adds a tenant. */
export function createTenant(context: AccessContext, request: QueryRequest<"createTenant">): Promise<Outcome<unknown>> {
  const { tenants } = context.state.configured;
  const { tenant_id: id, name, plan, contact_email: contactEmail = null } = request.body;
  return context.change(request, () => {
    if (tenants.get(id) !== undefined) return refused("conflict", `there is a tenant ${id} already; choose another id`, "tenant_id");
    if (tenants.size >= TENANTS_MAX) {
      return refused("unprocessable", `there are ${tenants.size} tenants, as many as one server may have; use another server`);
    }
    const tenant: Tenant = { id, name, plan, contactEmail, createdMs: context.nowMs() };
    return changeTo(context, tenant, undefined);
  });
}

/** Changes a tenant's name, plan or contact; its new rate is in force when the answer leaves. */
export function changeTenant(context: AccessContext, request: QueryRequest<"changeTenant">): Promise<Outcome<unknown>> {
  const { tenants } = context.state.configured;
  const { name, plan, contact_email: contactEmail } = request.body;
  return context.change(request, () => {
    const before = tenants.get(request.path.id ?? "");
    if (before === undefined) return refused("not_found", "there is no tenant of that id; GET /api/v1/tenants lists them");
    const after: Tenant = {
      ...before,
      ...(name !== undefined && { name }),
      ...(plan !== undefined && { plan }),
      ...(contactEmail !== undefined && { contactEmail }),
    };
    return changeTo(context, after, before);
  });
}

function changeTo({ state }: AccessContext, after: Tenant, before: Tenant | undefined): Change<unknown> {
  const view = tenantView(after);
  const stored = { ...view, contact_email: after.contactEmail };
  return {
    ok: true,
    note: {
      action: before === undefined ? "tenant.create" : "tenant.change",
      object: after.id,
      before: before === undefined ? null : tenantView(before),
      after: view,
    },
    operations: [tenantOperation(after)],
    apply: () => state.configured.tenants.put(after),
    accessChanges: [tenantChange(after)],
    outcome: before === undefined ? created(stored) : done(stored),
  };
}

/** Tenants by id, each with what was accepted of it since the month began. */
export async function listTenants(context: AccessContext, request: QueryRequest<"tenants">): Promise<Outcome<unknown>> {
  const { state } = context;
  const asked = openPage(state, request, "tenants");
  if (!asked.ok) return asked;
  await takeCounts(context);
  const month = monthOf(context.nowMs());
  const { tenants } = state.configured;
  const found = tenants.page((asked.value.after?.[0] as string | undefined) ?? "", request.query.limit + 1);
  const { page, page_token } = asked.value.cut(found, ({ id }) => [id]);
  return done({
    tenants: page.map((tenant) => ({ ...tenantView(tenant), events_this_month: eventsOf(readUsage(state.series, month, tenant.id)) })),
    total: tenants.size,
    page_token,
  });
}
