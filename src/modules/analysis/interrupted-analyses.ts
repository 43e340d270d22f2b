// What a restart interrupts: reports that are not final, anomalies that triggered analysis and are in no report, and the cooldown of pairs. Read once at the
// start, from anomalies of the last hour: 50,000 of them take about half a second.
import { RCA_PAIRS_MAX } from "../../core/config/limits.ts";
import { placeText } from "../../domain/alerting/paging/service-scope.ts";
import type { Anomaly } from "../../domain/anomaly/anomaly.ts";
import type { KeptIncident } from "../../domain/rca/incident-group.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import type { AnalysisBooks } from "./analysis-context.ts";
import { explainedBy, type RcaReport } from "./report-row.ts";

/** An anomaly that was missed so long ago is looked at no more: nothing of its beginning is left in memory. */
const MISSED_MS = 15 * 60_000;
/** Cooldowns are remembered as far back. */
const COOLDOWN_READ_MS = 3_600_000;

/** Incident that goes on, made of its report that is not final. */
export function keptIncident(report: RcaReport, { anomalies, analyses }: AnomalyBooks & AnalysisBooks): KeptIncident {
  const { tenant, environment, anomalyId: id, serviceId, metricName, onsetMs, createdAtMs: openedAtMs, revision } = report;
  const members = report.anomalies.flatMap((member) => anomalies.find(tenant, member) ?? []);
  return {
    first: { id, tenant, environment, serviceId, metricName, startedAtMs: onsetMs },
    onsetMs,
    openedAtMs,
    revisedAtMs: report.evidenceUntilMs,
    members: report.anomalies,
    memberCount: report.anomalyCount,
    joinedCount: analyses.reports.joinedCount(tenant, report.id),
    services: [...new Set([serviceId, ...members.map((member) => member.serviceId)])],
    revision,
    cause: explainedBy(report.analysis),
  };
}

/** Restores the cooldown of pairs; anomalies that triggered analysis not long ago and that no report names, the oldest first. */
export function missedAnomalies({ anomalies, alerts, analyses }: AnomalyBooks & AlertBooks & AnalysisBooks, nowMs: number): Anomaly[] {
  const missed: Anomaly[] = [];
  for (const tenant of anomalies.tenants) {
    const recent = anomalies.index(tenant).page({ sinceMs: nowMs - COOLDOWN_READ_MS }, undefined, RCA_PAIRS_MAX);
    for (const { id } of recent.reverse()) {
      const anomaly = anomalies.find(tenant, id);
      if (anomaly?.paging?.rcaTriggered !== true) continue;
      alerts.memory.rcaIsDue(placeText(anomaly), anomaly.metricName, anomaly.detectedAtMs);
      if (nowMs - anomaly.detectedAtMs <= MISSED_MS && !analyses.reports.has(tenant, id)) missed.push(anomaly);
    }
  }
  return missed;
}
