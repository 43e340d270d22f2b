// A report as clients see it.
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { summaryOf } from "../../domain/rca/advice.ts";
import type { Analysis } from "../../domain/rca/analysis.ts";
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import type { RunbookSuggestions } from "../prediction/prediction-context.ts";
import type { StateWith } from "../state/stored-state.ts";
import type { Resolution } from "./incident-memory.ts";
import type { RcaReport } from "./report-row.ts";

type SuggestingState = StateWith<AnomalyBooks, RunbookSuggestions>;

/** Name of the runbook that is for an incident; empty where none is. A service without a stored finding is asked without its score. */
export function suggestedRunbook(
  state: SuggestingState,
  of: {
    readonly tenant: string;
    readonly anomalyId: string;
    readonly serviceId: string;
    readonly metricName: string;
    readonly environment: string;
  },
  { enough, category }: Pick<Analysis, "enough" | "category">,
): string {
  const { tenant, serviceId, metricName, environment, anomalyId } = of;
  const entry = anomalyId === "" ? undefined : state.anomalies.index(tenant).get(anomalyId);
  const subject = { serviceId, metricName, environment, score: entry?.score ?? null, severity: entry?.tier ?? null };
  return state.configured.runbooks.suggested(tenant, { ...subject, category: enough ? category : null });
}

/** The object that leaves the server. */
export function reportView(state: SuggestingState, report: RcaReport) {
  const { analysis } = report;
  const { candidates, firstSymptom, impact, category, confidence, enough, lookedAt } = analysis;
  return {
    report_id: report.id,
    anomaly_id: report.anomalyId,
    incident_id: report.anomalyId,
    environment: report.environment,
    service_id: report.serviceId,
    metric_name: report.metricName,
    anomalies: [...report.anomalies],
    anomaly_count: report.anomalyCount,
    created_at: formatRfc3339(report.createdAtMs),
    onset: formatRfc3339(report.onsetMs),
    revision: report.revision,
    evidence_until: formatRfc3339(report.evidenceUntilMs),
    final: report.isFinal,
    candidates: candidates.map(({ serviceId, metricName, instance, score, evidence }) => ({
      service_id: serviceId,
      metric_name: metricName,
      instance,
      score,
      evidence: [...evidence],
    })),
    first_symptom: firstSymptomView(firstSymptom),
    impact: impact.map(({ serviceId, metricName, strength }) => ({ service_id: serviceId, metric_name: metricName, strength })),
    category,
    confidence,
    enough,
    summary: summaryOf(analysis),
    looked_at: { ...lookedAt },
    suggested_runbook: suggestedRunbook(state, report, analysis),
  };
}

function firstSymptomView(first: Analysis["firstSymptom"]) {
  if (first === null) return null;
  return { service_id: first.serviceId, metric_name: first.metricName, instance: first.instance, at: formatRfc3339(first.atMs) };
}

export function resolutionView(resolution: Resolution | null) {
  if (resolution === null) return null;
  const { text, by, minutes, tags } = resolution;
  return { resolution: text, resolved_by: by, time_to_recovery_minutes: minutes, tags: [...tags] };
}
