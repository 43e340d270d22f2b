// Times of a service of which somebody said what they were: incidents by feedback or by a resolution, and false positives.
import { LABELLED_TIMES_PER_SERVICE_MAX } from "../../core/config/model-limits.ts";
import { MINUTE_MS } from "../../core/time/durations.ts";
import { type Anomaly, endOfAnomaly } from "../../domain/anomaly/anomaly.ts";
import type { LabelledTime } from "../../domain/models/model-comparison.ts";
import type { StateWith } from "../state/stored-state.ts";
import type { ModelledService } from "./model-book.ts";
import type { LabelledBooks } from "./models-context.ts";

/** Time before and after an incident that belongs to it, for what led to it and what it left behind. */
const BEFORE_MS = 5 * MINUTE_MS;
const AFTER_MS = 5 * MINUTE_MS;

/** The newest LABELLED_TIMES_PER_SERVICE_MAX; what is still open lasts until now. */
export function labelledTimes(
  state: StateWith<LabelledBooks>,
  { tenant, serviceId, environment }: ModelledService,
  nowMs: number,
): LabelledTime[] {
  const said = new Map<string, boolean>();
  for (const { anomalyId, opinion } of state.alerts.feedback.on(tenant, serviceId)) said.set(anomalyId, opinion === "true_positive");
  for (const incident of state.analyses.memory.all(tenant)) {
    if (incident.resolution === null || incident.environment !== environment) continue;
    if (incident.serviceId === serviceId || incident.affected.includes(serviceId)) said.set(incident.incidentId, true);
  }
  const times = [...said].flatMap(([id, isIncident]): LabelledTime[] => {
    const anomaly = state.anomalies.find(tenant, id);
    return anomaly === undefined || anomaly.environment !== environment ? [] : [timeOf(anomaly, isIncident, nowMs)];
  });
  return times.sort((a, b) => b.fromMs - a.fromMs).slice(0, LABELLED_TIMES_PER_SERVICE_MAX);
}

/** Of these, the incidents. */
export function incidentTimes(
  state: StateWith<LabelledBooks>,
  service: ModelledService,
  nowMs: number,
): ReadonlyArray<readonly [fromMs: number, toMs: number]> {
  return labelledTimes(state, service, nowMs)
    .filter(({ isIncident }) => isIncident)
    .map(({ fromMs, toMs }) => [fromMs, toMs] as const);
}

function timeOf(anomaly: Anomaly, isIncident: boolean, nowMs: number): LabelledTime {
  return { fromMs: anomaly.startedAtMs - BEFORE_MS, toMs: (endOfAnomaly(anomaly) ?? nowMs) + AFTER_MS, isIncident };
}
