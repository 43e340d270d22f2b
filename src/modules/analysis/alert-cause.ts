// The cause of an alert, by one rule for its answer, its page and its messages: what the report of its peak's incident names. Where that names none, it is the newest
// report of another member's incident that does.

import type { Alert } from "../../domain/alerting/paging/alert.ts";
import { summaryOf } from "../../domain/rca/advice.ts";
import type { AnalysisBooks } from "./analysis-context.ts";
import type { RcaReport } from "./report-row.ts";

/** The report whose cause is the alert's; one without enough evidence where none has more, undefined where there is none. */
export function reportOfAlert({ analyses }: AnalysisBooks, { state, peak, members }: Alert): RcaReport | undefined {
  const { tenant } = state.key;
  const own = analyses.reports.ofAnomaly(tenant, peak.anomalyId);
  if (own?.analysis.enough === true) return own;
  const all = analyses.reports.ofAnomalies(
    tenant,
    members.map(({ anomalyId }) => anomalyId),
  );
  return all.find(({ analysis }) => analysis.enough) ?? own ?? all[0];
}

/** The object that leaves the server; null before an analysis. */
export function alertCauseView(books: AnalysisBooks, alert: Alert) {
  const report = reportOfAlert(books, alert);
  if (report === undefined) return null;
  const { id, anomalyId, revision, analysis } = report;
  const { enough, category, confidence } = analysis;
  return { report_id: id, revision, anomaly_id: anomalyId, enough, category, confidence, summary: summaryOf(analysis) };
}
