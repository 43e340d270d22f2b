// PUT /api/v1/routing/budgets/{team} and GET /api/v1/reports/pages. A budget is what a team means to have: no page is dropped because of it.
import type { BodyOf } from "../../api/endpoints.ts";
import { done, type Outcome, refused, shown } from "../../api/refusal.ts";
import { NAME_BYTES_MAX } from "../../core/config/limits.ts";
import { PAGE_BUDGETS_PER_TENANT_MAX, PAGE_REPORT_ROWS_MAX } from "../../core/config/notification-limits.ts";
import { ShareDraft } from "../../core/fairness/share-ledger.ts";
import { DRILL_SERVICE } from "../../core/protocol/own-telemetry.ts";
import { DAY_MS, WEEK_MS } from "../../core/time/durations.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { Alert } from "../../domain/alerting/paging/alert.ts";
import { type PagedAlert, pageRows } from "../../domain/notification/page-report.ts";
import { isName } from "../../domain/series/name-rule.ts";
import type { ChangeNote } from "../access/audit-log.ts";
import type { Changing } from "../access/changes.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import type { ChangeRequest, QueryRequest, Using } from "../queries/query-context.ts";
import { timeRange } from "../queries/time-range.ts";
import { mapInSlices } from "../state/slices.ts";
import type { ChannelDeliveries } from "./channel-deliveries.ts";
import type { PageBudget, PageBudgetBooks } from "./page-budget-book.ts";

/** Alerts read between turns of others. */
const ALERTS_PER_SLICE = 100;

export async function setPageBudget(context: PageReportContext, request: QueryRequest<"setPageBudget">): Promise<Outcome<unknown>> {
  const [outcome] = await setPageBudgets(context, request, [{ team: request.path.team ?? "", ...request.body }]);
  return outcome as Outcome<unknown>;
}

/** A budget as it is set; none any more where it is null. */
export interface BudgetInput extends BodyOf<"setPageBudget"> {
  readonly team: string;
}

/** Sets the budgets of different teams, in one transaction; an outcome of each. */
export async function setPageBudgets(
  context: PageReportContext,
  request: ChangeRequest,
  input: readonly BudgetInput[],
): Promise<Array<Outcome<unknown>>> {
  const { pageBudgets } = context.state.configured;
  const { tenant } = request.principal;
  const changed = await context.change<Array<Outcome<unknown>>>(request, async (pause) => {
    const draft: BudgetDraft = {
      pageBudgets,
      tenant,
      shares: new ShareDraft(pageBudgets.shares),
      nowMs: context.nowMs(),
      set: [],
      notes: [],
    };
    const outcomes = await mapInSlices(input, (budget) => setInto(draft, budget), pause);
    if (draft.set.length === 0) return { ok: "unchanged", outcome: done(outcomes) };
    return {
      ok: true,
      note: draft.notes,
      operations: draft.set.map(({ budget, isDeletion }) => (isDeletion ? pageBudgets.removal(budget) : pageBudgets.operation(budget))),
      apply: () => {
        for (const { budget, isDeletion } of draft.set) {
          if (isDeletion) pageBudgets.remove(tenant, budget.team);
          else pageBudgets.put(budget);
        }
      },
      outcome: done(outcomes),
    };
  });
  return changed.ok ? changed.value : input.map(() => changed);
}

interface BudgetDraft {
  readonly pageBudgets: PageBudgetBooks["pageBudgets"];
  readonly tenant: string;
  readonly shares: ShareDraft;
  readonly nowMs: number;
  readonly set: Array<{ readonly budget: PageBudget; readonly isDeletion: boolean }>;
  /** Rows of the audit log. */
  readonly notes: ChangeNote[];
}

function setInto({ pageBudgets, tenant, shares, nowMs, set, notes }: BudgetDraft, input: BudgetInput): Outcome<unknown> {
  const { team, pages_per_week: pagesPerWeek } = input;
  if (!isName(team)) return refused("invalid_parameter", `a team has 1 to ${NAME_BYTES_MAX} bytes and no control characters`, "team");
  const before = pageBudgets.find(tenant, team);
  const budgets = pageBudgets.sizeOf(tenant) + shares.added(tenant);
  const isNew = before === undefined && pagesPerWeek !== null;
  if (isNew && (!shares.take(tenant) || budgets >= PAGE_BUDGETS_PER_TENANT_MAX))
    return refused("unprocessable", `there are ${budgets} budgets, and there is room for no more: set one to null first`);
  const budget = { tenant, team, pagesPerWeek: pagesPerWeek ?? 0, updatedAtMs: nowMs };
  const view = { team, pages_per_week: pagesPerWeek, updated_at: formatRfc3339(nowMs) };
  set.push({ budget, isDeletion: pagesPerWeek === null });
  notes.push({ action: "page_budget.set", object: team, before: before === undefined ? null : budgetNote(before), after: view });
  return done(view);
}

function budgetNote({ team, pagesPerWeek }: PageBudget) {
  return { team, pages_per_week: pagesPerWeek };
}

export async function reportPages(context: PageReportContext, { principal, query }: QueryRequest<"pageReport">): Promise<Outcome<unknown>> {
  const { state, nowMs } = context;
  const { tenant } = principal;
  // The caller's clock may be ahead of ours.
  const untilMs = query.until ?? Math.max(nowMs(), (query.since ?? 0) + 1);
  const sinceMs = query.since ?? untilMs - WEEK_MS;
  const range = timeRange(sinceMs, untilMs);
  if (!range.ok) return range;
  if (sinceMs === untilMs)
    return refused("invalid_parameter", `since must be before until, got ${shown(formatRfc3339(sinceMs))} twice`, "since");
  const days = (untilMs - sinceMs) / DAY_MS;
  const budget = (team: string) => state.configured.pageBudgets.find(tenant, team)?.pagesPerWeek ?? null;
  const selected = (team: string) => query.team === undefined || query.team === team;
  const alerts = await pagedAlerts(context, tenant, Math.min(sinceMs, untilMs - WEEK_MS), untilMs, query.service_id);
  const own = alerts.filter(({ team }) => selected(team));
  const rows = pageRows(own.flatMap((alert) => within(alert, sinceMs)));
  const lastWeek = pageRows(own.flatMap((alert) => within(alert, untilMs - WEEK_MS)));
  const sum = (of: typeof rows, name: string) => of.reduce((pages, row) => pages + (row.team === name ? row.pages : 0), 0);
  const budgets = state.configured.pageBudgets.of(tenant).map(({ team }) => team);
  const teams = [...new Set([...rows.map(({ team }) => team), ...budgets.filter(selected)])].sort();
  return done({
    since: formatRfc3339(sinceMs),
    until: formatRfc3339(untilMs),
    days,
    pages: rows.reduce((pages, row) => pages + row.pages, 0),
    rows: rows.slice(0, PAGE_REPORT_ROWS_MAX).map((row) => ({
      team: row.team,
      service_id: row.serviceId,
      pages: row.pages,
      per_service_day: row.pages / days,
      not_told: row.unnotified,
      acknowledged: row.acknowledged,
      median_ack_seconds: row.medianAckSeconds,
      false_positives: row.falsePositives,
      budget: budget(row.team),
    })),
    teams: teams.slice(0, PAGE_REPORT_ROWS_MAX).map((team) => {
      const week = sum(lastWeek, team);
      return { team, pages: sum(rows, team), pages_last_week: week, budget: budget(team), over_budget: week > (budget(team) ?? week) };
    }),
  });
}

function within(alert: PagedAlert, sinceMs: number): PagedAlert[] {
  const pagesAtMs = alert.pagesAtMs.filter((atMs) => atMs >= sinceMs);
  return pagesAtMs.length === 0 ? [] : [{ ...alert, pagesAtMs }];
}

/** Alerts of a tenant that paged in a time. Fire drills are none. */
async function pagedAlerts(
  { state, channels, yieldToLoop }: PageReportContext,
  tenant: string,
  sinceMs: number,
  untilMs: number,
  serviceId: string | undefined,
): Promise<PagedAlert[]> {
  const ids: string[] = [];
  state.alerts.index(tenant).each({ serviceId, untilMs }, ({ id, updatedAtMs, serviceId: service }) => {
    if (updatedAtMs >= sinceMs && service !== DRILL_SERVICE) ids.push(id);
  });
  const found: PagedAlert[] = [];
  for (const [read, id] of ids.entries()) {
    if ((read + 1) % ALERTS_PER_SLICE === 0) await yieldToLoop();
    const alert = state.alerts.find(tenant, id);
    const pagesAtMs = alert?.history
      .filter(({ kind, atMs }) => kind === "paged" && atMs >= sinceMs && atMs < untilMs)
      .map(({ atMs }) => atMs);
    if (alert === undefined || pagesAtMs === undefined || pagesAtMs.length === 0) continue;
    found.push({
      team: channels.routes.facts(alert).team ?? alert.labels.team ?? "",
      serviceId: alert.state.key.serviceId,
      pagesAtMs,
      acknowledgedAtMs: alert.acknowledged?.atMs ?? null,
      isFalsePositive: isFalsePositive(state, tenant, alert),
      isNotified: state.alerts.notification(alert).state === "told",
    });
  }
  return found;
}

/** Somebody has said so of one of its anomalies. */
function isFalsePositive({ anomalies }: PageReportContext["state"], tenant: string, { members }: Alert): boolean {
  return members.some(({ anomalyId }) => anomalies.find(tenant, anomalyId)?.feedback?.opinion === "false_positive");
}

export interface PageReportContext extends Using<"nowMs" | "yieldToLoop", AlertBooks & AnomalyBooks, PageBudgetBooks>, Changing {
  readonly channels: Pick<ChannelDeliveries, "routes">;
}
