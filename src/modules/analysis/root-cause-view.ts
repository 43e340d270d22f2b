// The cause of an incident as events, messages and runbooks tell it; null while there is not enough evidence for one.
import { suggestedActions, summaryOf } from "../../domain/rca/advice.ts";
import type { AnalysisBooks } from "./analysis-context.ts";
import { type RcaReport, unpackSignature } from "./report-row.ts";

/** A resolution is advised where its incident is so similar. */
export const ADVISED_MIN = 0.75;

/** The object that leaves the server, as the analysis shows it. */
export function rootCauseView({ analyses }: AnalysisBooks, report: RcaReport | undefined) {
  if (report === undefined || !report.analysis.enough) return null;
  const { analysis, tenant, environment, anomalyId } = report;
  const [nearest] = analyses.memory.nearest(tenant, environment, unpackSignature(report.signature), 1, anomalyId);
  const helped = nearest !== undefined && nearest.similarity >= ADVISED_MIN ? (nearest.incident.resolution?.text ?? null) : null;
  return {
    category: analysis.category,
    confidence: analysis.confidence,
    summary: summaryOf(analysis),
    evidence: { ...analysis.numbers },
    suggested_actions: suggestedActions(analysis, helped),
    report_id: report.id,
    revision: report.revision,
  };
}

export type RootCause = NonNullable<ReturnType<typeof rootCauseView>>;
