// POST /api/v1/resolutions/webhook: how an incident was resolved. It is kept with the incident, longer than its anomaly; a repeat changes nothing.
import { done, type Outcome } from "../../api/refusal.ts";
import { isFiring } from "../../domain/alerting/paging/alert.ts";
import type { Anomaly } from "../../domain/anomaly/anomaly.ts";
import { unknownAnomaly } from "../anomalies/anomaly-handlers.ts";
import { EndedAnomalies } from "../anomalies/ended-anomalies.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { AnalysisContext } from "./analysis-context.ts";
import { knowledgeIdOf, type RememberedIncident, type Resolution } from "./incident-memory.ts";
import { reportIdOf } from "./report-row.ts";

export function storeResolution(context: AnalysisContext, request: QueryRequest<"resolutionWebhook">): Promise<Outcome<unknown>> {
  const { state, nowMs } = context;
  const { tenant, subject } = request.principal;
  const { incident_id: anomalyId } = request.body;
  return context.change(request, () => {
    const { memory, reports } = state.analyses;
    const incidentId = reports.ofAnomaly(tenant, anomalyId)?.anomalyId ?? anomalyId;
    const anomaly = state.anomalies.find(tenant, anomalyId);
    const known = memory.find(tenant, incidentId);
    if (anomaly === undefined && known === undefined) return unknownAnomaly(anomalyId);
    const id = knowledgeIdOf(tenant, incidentId);
    const resolution = resolutionOf(request.body, id, nowMs());
    const incident = { ...(known ?? bareIncident(anomaly as Anomaly)), resolution };
    if (known?.resolution != null && isSame(known.resolution, resolution)) {
      return { ok: "unchanged", outcome: done({ status: "ok", stored: false, knowledge_base_id: id }) };
    }
    const ended = new EndedAnomalies(context, tenant, { reason: "person", person: subject });
    endIncident(context, ended, [anomalyId, ...reports.membersOf(tenant, anomalyId)]);
    return {
      ok: true,
      note: {
        action: "resolution.store",
        object: incidentId,
        before: known?.resolution == null ? null : { service_id: known.resolution.serviceId, resolution: known.resolution.text },
        after: { service_id: resolution.serviceId, resolution: resolution.text, resolved_by: resolution.by },
      },
      operations: [...memory.operations(incident), ...ended.operations()],
      apply: () => {
        memory.put(incident);
        ended.apply();
      },
      outcome: done({ status: "ok", stored: true, knowledge_base_id: id }),
    };
  });
}

/** An incident that is resolved is so as a whole: the anomalies that its report names, and their alerts with all that is open in them. */
function endIncident({ state }: AnalysisContext, ended: EndedAnomalies, anomalyIds: readonly string[]): void {
  for (const id of anomalyIds) {
    const anomaly = ended.read(id);
    if (anomaly === undefined) continue;
    const alertId = anomaly.paging?.alertId ?? null;
    const current = alertId === null ? undefined : state.alerts.memory.current(alertId)?.state.id;
    const alert = current === undefined ? undefined : ended.alerts.find(anomaly.tenant, current);
    if (alert !== undefined && isFiring(alert)) ended.endAlert(alert, null);
    ended.end(anomaly);
  }
}

function resolutionOf(body: QueryRequest<"resolutionWebhook">["body"], id: string, atMs: number): Resolution {
  const { service_id: serviceId, resolution: text, resolved_by: by, time_to_recovery_minutes: minutes, tags } = body;
  return { id, serviceId, text, by, minutes, tags, atMs };
}

function isSame(a: Resolution, b: Resolution): boolean {
  return JSON.stringify({ ...a, atMs: 0 }) === JSON.stringify({ ...b, atMs: 0 });
}

/** Incident of an anomaly that no analysis looked at: nothing is like it, and what helped is kept all the same. */
function bareIncident({ tenant, environment, id, serviceId, startedAtMs }: Anomaly): RememberedIncident {
  return {
    tenant,
    environment,
    incidentId: id,
    reportId: reportIdOf(tenant, id),
    serviceId,
    category: "unknown",
    atMs: startedAtMs,
    enough: false,
    affected: [],
    signature: [],
    resolution: null,
  };
}
