// GET /api/v1/alerts and /api/v1/alerts/{alert_id}. Newest start first, or the worst; `total` counts all that match the filters.
// GET /api/v1/alerts/{alert_id}/timeline: oldest first.
import { decisionView, historyView, timelineEntryView } from "../../api/alert-view.ts";
import { listed, openPage } from "../../api/page-token.ts";
import { done, type Outcome, refused, shown } from "../../api/refusal.ts";
import { ALERT_DECISIONS_MAX, LEDGER_SCANNED_MAX } from "../../core/config/limits.ts";
import type { Alert } from "../../domain/alerting/paging/alert.ts";
import type { PageDecision } from "../../domain/alerting/paging/page-decision.ts";
import { lineOf, type TimelineLine } from "../../domain/alerting/timeline.ts";
import { type Tier, tierOfZ } from "../../domain/detection/anomaly-score.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { countsFor } from "../queries/severity-counts.ts";
import { timeRange } from "../queries/time-range.ts";
import { scan } from "../state/scan.ts";
import { tenantTimeBound, tenantTimeOf } from "../state/tables.ts";
import type { AlertFilter } from "./alert-index.ts";
import type { AlertsContext } from "./alerts-context.ts";
import { decodeDecision } from "./rows/decision-row.ts";
import { settleLedger } from "./settled-ledger.ts";
import { keyOfLine, type StoredLine } from "./timeline-book.ts";

const ROWS_PER_SLICE = 500;

/** A page of alerts. */
export function listAlerts(context: AlertsContext, request: QueryRequest<"alerts">): Outcome<unknown> {
  const { principal, query } = request;
  const range = timeRange(query.since, query.until);
  if (!range.ok) return range;
  const { state } = context;
  const counts = countsFor(query, context.nowMs());
  if (!counts.ok) return counts;
  const asked = openPage(state, request, "alerts");
  if (!asked.ok) return asked;
  const filter = filterOf(context, principal.tenant, query);
  const index = state.alerts.index(principal.tenant);
  const [createdAtMs, id, tier] = (asked.value.after ?? []) as [number, string, Tier];
  const after = asked.value.after && { createdAtMs, id, tier };
  const entries = query.sort === "severity" ? index.worst(filter, after, query.limit + 1) : index.page(filter, after, query.limit + 1);
  const { page, page_token } = asked.value.cut(entries, (last) => [last.createdAtMs, last.id, last.tier]);
  const alerts = page.flatMap((entry) => state.alerts.find(principal.tenant, entry.id) ?? []);
  if (counts.value !== undefined) index.each(filter, ({ createdAtMs: atMs, tier }) => counts.value?.add(atMs, tier));
  const counted = counts.value !== undefined && { counts: counts.value.view() };
  return done({ alerts: alerts.map((alert) => state.alerts.view(alert)), total: index.count(filter), page_token, ...counted });
}

function filterOf({ state }: AlertsContext, tenant: string, query: QueryRequest<"alerts">["query"]): AlertFilter {
  const { state: of, severity, service_id: serviceId, environment, family, since: sinceMs, until: untilMs, q, team, acknowledged } = query;
  return {
    state: of,
    severity,
    serviceId,
    environment,
    family,
    sinceMs,
    untilMs,
    part: q?.toLowerCase(),
    acknowledged: acknowledged === undefined ? undefined : acknowledged === "true",
    ofService: team === undefined ? undefined : (id) => state.configured.labels.inForce(tenant, id, "team")?.value === team,
  };
}

export async function oneAlert(context: AlertsContext, { principal, path }: QueryRequest<"alert">): Promise<Outcome<unknown>> {
  const { state } = context;
  const alert = state.alerts.find(principal.tenant, path.alert_id ?? "");
  if (alert === undefined) return unknownAlert(path.alert_id ?? "");
  const members = alert.members.map(({ anomalyId, serviceId, metricName }) => {
    const anomaly = state.anomalies.find(principal.tenant, anomalyId);
    return {
      anomaly_id: anomalyId,
      service_id: serviceId,
      metric_name: metricName,
      severity: anomaly === undefined ? null : (anomaly.paging?.tier ?? tierOfZ(anomaly.z)),
      resolved: anomaly === undefined ? null : anomaly.resolvedAtMs !== null,
    };
  });
  const { decisions, isComplete } = await decisionsOn(alert, context);
  return done({
    ...state.alerts.view(alert),
    members,
    history: historyView(alert),
    ...context.channels.view(alert),
    decisions: decisions.map(decisionView),
    decisions_complete: isComplete,
  });
}

export function unknownAlert(id: string) {
  return refused("not_found", `no alert has the id ${shown(id)}; it never existed or is past its retention`);
}

/** The first decisions on an alert, from the tenant's rows of the time in which it fired. */
async function decisionsOn(alert: Alert, context: AlertsContext): Promise<{ decisions: PageDecision[]; isComplete: boolean }> {
  await settleLedger(context);
  const { id, key, createdAtMs } = alert.state;
  const from = tenantTimeBound(key.tenant, createdAtMs);
  const to = tenantTimeBound(key.tenant, alert.updatedAtMs + 1);
  const decisions: PageDecision[] = [];
  let scanned = 0;
  for (const { key, value } of scan(context.state.series, "ledger", from, to)) {
    if (scanned === LEDGER_SCANNED_MAX || decisions.length === ALERT_DECISIONS_MAX) return { decisions, isComplete: false };
    if (++scanned % ROWS_PER_SLICE === 0) await context.yieldToLoop();
    const decision = decodeDecision(value, tenantTimeOf(key));
    if (decision.alertId === id) decisions.push(decision);
  }
  return { decisions, isComplete: true };
}

/** A page of an alert's timeline. */
export function alertTimeline({ state }: AlertsContext, request: QueryRequest<"alertTimeline">): Outcome<unknown> {
  const { tenant } = request.principal;
  const id = request.path.alert_id ?? "";
  const alert = state.alerts.find(tenant, id);
  if (alert === undefined) return unknownAlert(id);
  const lines = linesOfAlert(alert, state.alerts.timeline.read(tenant, id));
  const list = { endpoint: "alertTimeline", filters: { alert_id: id }, positionOf: ({ position: key }: StoredLine) => [key] };
  return listed(state, request, list, lines, (page) => ({ entries: page.map(timelineEntryView) }));
}

/** Of an alert that an earlier version has stored, its history stands before the first stored line. */
function linesOfAlert(alert: Alert, stored: readonly StoredLine[]): readonly StoredLine[] {
  const firstMs = stored[0]?.atMs ?? Number.POSITIVE_INFINITY;
  const earlier = alert.history.filter(({ atMs }) => atMs < firstMs).map((change) => placed(lineOf(change, alert)));
  return [...earlier, ...stored];
}

function placed(line: TimelineLine): StoredLine {
  return { ...line, position: keyOfLine(line) };
}
