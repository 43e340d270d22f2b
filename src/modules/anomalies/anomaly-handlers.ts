// GET /api/v1/anomalies and /api/v1/anomalies/{id}. Newest detection first; `total` counts all that match the filters, whatever the page.
import { decisionView } from "../../api/alert-view.ts";
import { notifiedAnomalyView } from "../../api/notification-view.ts";
import { openPage } from "../../api/page-token.ts";
import { done, type Outcome, refused, shown } from "../../api/refusal.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { PageDecision } from "../../domain/alerting/paging/page-decision.ts";
import type { Anomaly } from "../../domain/anomaly/anomaly.ts";
import type { Tier } from "../../domain/detection/anomaly-score.ts";
import type { Verdict } from "../../domain/detection/verdict.ts";
import { ledgerRowId } from "../alerts/ledger-book.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { countsFor } from "../queries/severity-counts.ts";
import { timeRange } from "../queries/time-range.ts";
import { mapInSlices } from "../state/slices.ts";
import { annotationsOf } from "./annotation-row.ts";
import type { AnomaliesContext } from "./anomalies-context.ts";
import type { AnomalyEntry, AnomalyFilter, AnomalyPosition } from "./anomaly-index.ts";

/** A page of anomalies. */
export async function listAnomalies(context: AnomaliesContext, request: QueryRequest<"anomalies">): Promise<Outcome<unknown>> {
  const { principal, query } = request;
  const range = timeRange(query.since, query.until);
  if (!range.ok) return range;
  const { state } = context;
  const asked = openPage(state, request, "anomalies");
  if (!asked.ok) return asked;
  const { after } = asked.value;
  const counts = countsFor(query, context.nowMs());
  if (!counts.ok) return counts;
  const filter = filterOf(query);
  const index = state.anomalies.index(principal.tenant);
  const entries = index.pageBy(query.sort ?? "newest", filter, after && positionOf(after), query.limit + 1);
  const { page, page_token } = asked.value.cut(entries, ({ detectedAtMs, id, score, tier }) => [detectedAtMs, id, score, tier]);
  if (counts.value !== undefined) index.each(filter, ({ detectedAtMs, tier }) => counts.value?.add(detectedAtMs, tier));
  const total = index.count(filter);
  const anomalies = await readPage(context, principal.tenant, page);
  return done({
    anomalies: query.view === "list" ? anomalies.map(({ verdict: _, ...anomaly }) => anomaly) : anomalies,
    total,
    page_token,
    ...(counts.value !== undefined && { counts: counts.value.view() }),
  });
}

function filterOf(query: QueryRequest<"anomalies">["query"]): AnomalyFilter {
  return {
    serviceId: query.service_id,
    sinceMs: query.since,
    untilMs: query.until,
    minScore: query.min_score,
    part: query.q?.toLowerCase(),
    metricName: query.metric_name,
    environment: query.environment,
    severity: query.severity,
    state: query.state,
    detector: query.detector,
    alertId: query.alert_id,
  };
}

export function oneAnomaly(context: AnomaliesContext, { principal, path }: QueryRequest<"anomaly">): Outcome<unknown> {
  const id = path.id ?? "";
  const anomaly = context.state.anomalies.find(principal.tenant, id);
  return anomaly === undefined ? unknownAnomaly(id) : done(anomalyDetail(context, anomaly));
}

export function unknownAnomaly(id: string) {
  return refused("not_found", `no anomaly has the id ${shown(id)}; it never existed or is past its retention`);
}

/** An anomaly with the last decision on it; `made` is one that is not stored yet. */
export function anomalyDetail({ state }: AnomaliesContext, anomaly: Anomaly, made?: PageDecision) {
  const { paging, feedback, verdict } = anomaly;
  const rowId = paging === null ? "" : ledgerRowId(anomaly.id, paging.serial);
  const decision = made ?? (paging === null ? undefined : state.alerts.ledger.find(anomaly.tenant, paging.decidedAtMs, rowId));
  return {
    ...notifiedAnomalyView(anomaly, state.alerts.ofAnomaly(anomaly), state.alerts.notificationOfAnomaly(anomaly)),
    contributions: (verdict as Partial<Verdict> | null)?.contributions ?? [],
    decision: decision === undefined ? null : decisionView(decision),
    feedback_by: feedback?.by ?? null,
    feedback_at: feedback === null ? null : formatRfc3339(feedback.atMs),
    feedback_note: feedback?.note ?? null,
    annotations: annotationsOf(state.control, anomaly.tenant, anomaly.id).map((note) => ({
      text: note.text,
      at: formatRfc3339(note.atMs),
      execution_id: note.executionId,
      runbook_name: note.runbookName,
    })),
  };
}

/** Retention may have deleted a row between index and store: it is then left out. */
async function readPage({ state, pause }: AnomaliesContext, tenant: string, page: readonly AnomalyEntry[]) {
  const notificationOf = state.alerts.notificationsOfAnomalies();
  const read = ({ id, detectedAtMs }: AnomalyEntry) => {
    const anomaly = state.anomalies.read({ tenant, id, detectedAtMs });
    return anomaly === undefined ? [] : [notifiedAnomalyView(anomaly, state.alerts.ofAnomaly(anomaly), notificationOf(anomaly))];
  };
  return (await mapInSlices(page, read, pause)).flat();
}

function positionOf(position: readonly unknown[]): AnomalyPosition {
  const [detectedAtMs, id, score, tier] = position as [number, string, number, Tier];
  return { detectedAtMs, id, score, tier };
}
