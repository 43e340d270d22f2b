// POST /api/v1/resolutions/webhook: how an incident was resolved. It is kept with the incident, longer than its anomaly; a repeat changes nothing.

import type { StoreOperation } from "../../../adapters/storage/key-value-store.ts";
import { done, type Outcome } from "../../../api/refusal.ts";
import type { Anomaly } from "../../../domain/anomaly/anomaly.ts";
import { unknownAnomaly } from "../anomalies/anomaly-handlers.ts";
import { encodeAnomaly } from "../anomalies/anomaly-row.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { tenantTimeKey } from "../state/tables.ts";
import type { AnalysisContext } from "./analysis-context.ts";
import { knowledgeIdOf, type RememberedIncident, type Resolution } from "./incident-memory.ts";
import { reportIdOf } from "./report-row.ts";

/** Stores a resolution. */
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
    const ended =
      anomaly === undefined || anomaly.resolvedAtMs !== null ? undefined : { ...anomaly, resolvedAtMs: nowMs(), resolvedBy: subject };
    const draft = context.draftAlerts();
    if (ended !== undefined) draft.end(ended, subject);
    return {
      ok: true,
      note: {
        action: "resolution.store",
        object: incidentId,
        before: known?.resolution == null ? null : { service_id: known.resolution.serviceId, resolution: known.resolution.text },
        after: { service_id: resolution.serviceId, resolution: resolution.text, resolved_by: resolution.by },
      },
      operations: [...memory.operations(incident), ...(ended === undefined ? [] : [anomalyOperation(ended)]), ...draft.operations()],
      apply: () => {
        memory.put(incident);
        if (ended !== undefined) state.anomalies.put(ended);
        context.takeAlerts(draft);
        return [];
      },
      outcome: done({ status: "ok", stored: true, knowledge_base_id: id }),
    };
  });
}

function anomalyOperation(anomaly: Anomaly): StoreOperation {
  return { table: "anomalies", key: tenantTimeKey(anomaly.tenant, anomaly.detectedAtMs, anomaly.id), value: encodeAnomaly(anomaly) };
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
