// What the coordinator folds of accepted events.
import { openPage } from "../../api/page-token.ts";
import { done, type Outcome } from "../../api/refusal.ts";
import { USAGE_MONTHS_RETAINED } from "../../core/config/limits.ts";
import { RECORD_TYPES } from "../../core/layout/counters.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { monthOf, monthStartMs, monthText } from "../../domain/access/billing-month.ts";
import type { Plan } from "../../domain/access/plans.ts";
import { EngineUnavailableError } from "../engines/engine-client.ts";
import type { QueryRequest, Using } from "../queries/query-context.ts";
import type { NounModule } from "../state/noun-module.ts";
import type { RetentionStep, RetentionTerms } from "../state/retention-step.ts";
import type { StoredState } from "../state/stored-state.ts";
import { TABLE_START } from "../state/tables.ts";
import { eventsOf, readUsage, totalOf, usageBound } from "./usage-rows.ts";

export const USAGE = {
  tables: {
    series: {
      usage: { key: "month, tenant", value: "usage-rows.ts: accepted events" },
    },
  },
  expire: ({ state }: { readonly state: StoredState }, terms: RetentionTerms) => expireUsage(state, terms.wallNowMs, terms.rowsPerStep),
  handlers: {
    billingUsage,
  },
} as const satisfies NounModule;

// Forgets the counts of accepted events of months that no bill asks for any more.

/** Deletes the months before those that are kept, `rowsPerStep` a commit. */
function* expireUsage({ series }: Pick<StoredState, "series">, nowMs: number, rowsPerStep: number): Generator<RetentionStep> {
  const to = usageBound(Math.max(0, monthOf(nowMs) - USAGE_MONTHS_RETAINED));
  for (;;) {
    const entries = series.range("usage", { from: TABLE_START, to, limit: rowsPerStep });
    if (entries.length === 0) return;
    yield { store: series, operations: entries.map(({ key }) => ({ table: "usage", key, value: undefined })), apply: () => undefined };
  }
}

// GET /api/v1/billing/usage: accepted events by tenant in one calendar month (UTC, by arrival), this one where none is named.

/** Every tenant, those without events too, by id; `total_events` is of all of them whatever the page. */
async function billingUsage(context: UsageContext, request: QueryRequest<"billingUsage">): Promise<Outcome<unknown>> {
  const { state } = context;
  const { limit, month = monthOf(context.nowMs()) } = request.query;
  const asked = openPage(state, request, "billingUsage");
  if (!asked.ok) return asked;
  const complete = await takeCounts(context);
  const found = state.configured.tenants.page((asked.value.after?.[0] as string | undefined) ?? "", limit + 1);
  const { page, page_token } = asked.value.cut(found, ({ id }) => [id]);
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
  const types = RECORD_TYPES.map((type, index) => [type, row.counts[index] ?? 0] as const);
  return { tenant_id: id, name, plan, events: eventsOf(row), by_type: Object.fromEntries(types) };
}

export interface ListedTenant {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
}

/** The tenants of this server, by id. */
interface TenantList {
  readonly size: number;
  page(after: string, limit: number): readonly ListedTenant[];
}

/** Counts of events stand with the engines until they are asked for. */
export type CountingContext = Using<"engines" | "isStoreFailing" | "settle">;
export type UsageContext = CountingContext & Using<"nowMs", unknown, { readonly tenants: TenantList }>;

/** Has everything that was acknowledged counted in the store. False when an engine did not answer, or the store takes nothing now: what is stored may then be a little behind. */
export async function takeCounts(context: UsageContext): Promise<boolean> {
  const { engines } = context;
  const marked = await Promise.allSettled(Array.from({ length: engines.count }, (_, engine) => engines.markLog(engine)));
  for (const mark of marked) {
    if (mark.status === "rejected" && !(mark.reason instanceof EngineUnavailableError)) throw mark.reason;
  }
  await context.settle();
  return marked.every(({ status }) => status === "fulfilled") && !context.isStoreFailing();
}
