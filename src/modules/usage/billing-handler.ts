// GET /api/v1/billing/usage: accepted events by tenant in one calendar month (UTC, by arrival), this one where none is named.
import { cutPage, type PageScope, readPageToken } from "../../api/page-token.ts";
import { done, type Outcome } from "../../api/refusal.ts";
import { RECORD_TYPES } from "../../core/layout/counters.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { monthOf, monthStartMs, monthText } from "../../domain/access/billing-month.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { takeCounts } from "./current-usage.ts";
import type { ListedTenant, UsageContext } from "./usage-context.ts";
import { eventsOf, readUsage, totalOf } from "./usage-rows.ts";

/** Every tenant, those without events too, by id; `total_events` is of all of them whatever the page. */
export async function billingUsage(context: UsageContext, { principal, query }: QueryRequest<"billingUsage">): Promise<Outcome<unknown>> {
  const { state } = context;
  const { limit, month = monthOf(context.nowMs()) } = query;
  const scope: PageScope = { tenant: principal.tenant, endpoint: "billingUsage", filters: { month: query.month } };
  const token = readPageToken(state.pageSecret, scope, query.page_token);
  if (!token.ok) return token;
  const complete = await takeCounts(context);
  const found = state.configured.tenants.page((token.value?.[0] as string | undefined) ?? "", limit + 1);
  const { page, page_token } = cutPage(state.pageSecret, scope, found, limit, ({ id }) => [id]);
  return done({
    period: { month: monthText(month), start: formatRfc3339(monthStartMs(month)), end: formatRfc3339(monthStartMs(month + 1)) },
    total_events: totalOf(state.series, month),
    tenants: page.map((tenant) => usageView(context, tenant, month)),
    total: state.configured.tenants.size,
    complete,
    page_token,
  });
}

function usageView({ state }: UsageContext, { id, name, plan }: ListedTenant, month: number) {
  const row = readUsage(state.series, month, id);
  const types = RECORD_TYPES.map((type, place) => [type, row.counts[place] ?? 0] as const);
  return { tenant_id: id, name, plan, events: eventsOf(row), by_type: Object.fromEntries(types) };
}
