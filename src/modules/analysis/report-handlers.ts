// GET /api/v1/rca/reports, /rca/similar and /rca/scorecard.
import { openPage } from "../../api/page-token.ts";
import { done, type Outcome, refused, shown } from "../../api/refusal.ts";
import { brier, calibration, hits, type ScoredRevision, scoresByRevision } from "../../domain/rca/scorecard.ts";
import { unknownAnomaly } from "../anomalies/anomaly-handlers.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { timeRange } from "../queries/time-range.ts";
import type { AnalysisContext } from "./analysis-context.ts";
import type { ReportFilter } from "./report-book.ts";
import { reportIdOf, unpackSignature } from "./report-row.ts";
import { reportView, resolutionView } from "./report-view.ts";

const SIMILAR = 5;
const ROWS_PER_SLICE = 200;

/** A page of reports. */
export function listReports({ state }: AnalysisContext, request: QueryRequest<"rcaReports">): Outcome<unknown> {
  const { principal, query } = request;
  const range = timeRange(query.since, query.until);
  if (!range.ok) return range;
  const asked = openPage(state, request, "rcaReports");
  if (!asked.ok) return asked;
  const { after } = asked.value;
  const { service_id: serviceId, environment, anomaly_id: anomalyId, since: sinceMs, until: untilMs } = query;
  const filter: ReportFilter = { serviceId, environment, anomalyId, sinceMs, untilMs };
  const [createdAtMs, id] = (after ?? []) as [number, string];
  const found = state.analyses.reports.page(principal.tenant, filter, after && { createdAtMs, id }, query.limit + 1);
  const { page, page_token } = asked.value.cut(found, (last) => [last.createdAtMs, last.id]);
  return done({
    reports: page.map((report) => reportView(state, report)),
    total: state.analyses.reports.count(principal.tenant, filter),
    page_token,
  });
}

/** The incidents that are most like that of an anomaly. */
export function similarReports({ state }: AnalysisContext, { principal, query }: QueryRequest<"similarReports">): Outcome<unknown> {
  const { tenant } = principal;
  const { anomaly_id: anomalyId } = query;
  const { reports, memory } = state.analyses;
  const report = reports.ofAnomaly(tenant, anomalyId);
  const incident = memory.find(tenant, report?.anomalyId ?? anomalyId);
  if (incident === undefined) {
    if (state.anomalies.find(tenant, anomalyId) === undefined) return unknownAnomaly(anomalyId);
    return done({ anomaly_id: anomalyId, reports: [] });
  }
  const nearest = memory.nearest(tenant, incident.environment, unpackSignature(incident.signature), SIMILAR, incident.incidentId);
  const views = nearest.map(({ incident: other, similarity, why }) => {
    const reportId = reportIdOf(tenant, other.incidentId);
    const stored = reports.find(tenant, reportId);
    const known = { report_id: reportId, incident_id: other.incidentId, service_id: other.serviceId, category: other.category };
    return { ...(stored === undefined ? known : reportView(state, stored)), similarity, why, resolution: resolutionView(other.resolution) };
  });
  return done({ anomaly_id: anomalyId, reports: views });
}

/** Scores of the reports, by the resolutions. */
export async function scorecard(
  { state, yieldToLoop }: AnalysisContext,
  { principal }: QueryRequest<"scorecard">,
): Promise<Outcome<unknown>> {
  const { tenant } = principal;
  const scored: ScoredRevision[] = [];
  const last: ScoredRevision[] = [];
  let looked = 0;
  for (const { incidentId, resolution } of state.analyses.memory.all(tenant)) {
    if (resolution === null) continue;
    const report = state.analyses.reports.find(tenant, reportIdOf(tenant, incidentId));
    if (report === undefined) continue;
    const revisions = report.revisions.map((note) => ({ ...note, cause: resolution.serviceId }));
    scored.push(...revisions);
    const newest = revisions.at(-1);
    if (newest !== undefined) last.push(newest);
    if (++looked % ROWS_PER_SLICE === 0) await yieldToLoop();
  }
  return done({
    resolutions: last.length,
    hits_at_1: hits(last, 1),
    hits_at_3: hits(last, 3),
    not_enough: last.filter(({ enough }) => !enough).length,
    revisions: scoresByRevision(scored).map(({ revision, reports, hitsAt1, hitsAt3 }) => ({
      revision,
      reports,
      hits_at_1: hitsAt1,
      hits_at_3: hitsAt3,
    })),
    calibration: calibration(last).map(({ from, to, reports, right }) => ({ confidence_from: from, confidence_to: to, reports, right })),
    brier: brier(last),
  });
}

export function unknownService(serviceId: string) {
  return refused("not_found", `no service ${shown(serviceId)} has sent anything that is kept`, "service_id");
}
