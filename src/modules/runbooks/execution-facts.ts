// What a run knows of its finding, as the values of placeholders, and what a runbook is asked about.

import { anomalyView } from "../../api/anomaly-view.ts";
import { setMember } from "../../core/collections/own-member.ts";
import type { Anomaly } from "../../domain/anomaly/anomaly.ts";
import { anomalyScore } from "../../domain/detection/anomaly-score.ts";
import type { Runbook, RunbookSubject } from "../../domain/runbooks/runbook.ts";
import type { Facts } from "../../domain/runbooks/template.ts";
import { rootCauseView } from "../analysis/root-cause-view.ts";
import type { RunbookState } from "./runbook-state.ts";

/** Maximum length of one value: a body of many of them is bounded too. */
const VALUE_CHARACTERS_MAX = 1_024;

export function subjectOfAnomaly(state: RunbookState, anomaly: Anomaly): RunbookSubject {
  const { serviceId, metricName, environment, z, tenant, id } = anomaly;
  const cause = rootCauseView(state, state.analyses.reports.ofAnomaly(tenant, id));
  const { severity } = anomalyView(anomaly, state.alerts.ofAnomaly(anomaly));
  return { serviceId, metricName, environment, score: anomalyScore(z), severity, category: cause?.category ?? null };
}

export interface FactsOf {
  readonly tenant: string;
  readonly runbook: Pick<Runbook, "id" | "name">;
  readonly executionId: string;
  readonly startedBy: string | null;
  readonly anomaly: Anomaly | undefined;
}

export function factsOf(state: RunbookState, { tenant, runbook, executionId, startedBy, anomaly }: FactsOf): Facts {
  const own = {
    tenant_id: tenant,
    runbook_id: runbook.id,
    runbook_name: runbook.name,
    execution_id: executionId,
    started_by: startedBy ?? "vedette",
  };
  if (anomaly === undefined) return own;
  const view = anomalyView(anomaly, state.alerts.ofAnomaly(anomaly));
  const cause = rootCauseView(state, state.analyses.reports.ofAnomaly(tenant, anomaly.id));
  const attributes = Object.entries(view.attributes).map(([name, value]) => [`attributes.${name}`, String(value)]);
  const facts: Record<string, string> = {
    ...own,
    anomaly_id: anomaly.id,
    alert_id: view.alert_id ?? "",
    service_id: anomaly.serviceId,
    metric_name: anomaly.metricName,
    environment: anomaly.environment,
    severity: view.severity,
    anomaly_score: String(view.anomaly_score),
    explanation: view.explanation,
    "root_cause.category": cause?.category ?? "",
    "root_cause.summary": cause?.summary ?? "",
    ...Object.fromEntries(attributes),
  };
  for (const [name, value] of Object.entries(facts)) setMember(facts, name, value.slice(0, VALUE_CHARACTERS_MAX));
  return facts;
}
