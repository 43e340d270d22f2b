// POST /api/v1/services/{id}/retire: a service that is not to come back. Its alerts end, and it is not missed; what it sends later brings it back.
import { done, type Outcome, refused, shown } from "../../api/refusal.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { Alert } from "../../domain/alerting/paging/alert.ts";
import { EndedAnomalies } from "../anomalies/ended-anomalies.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { RetentionStep, RetentionTerms } from "../state/retention-step.ts";
import { type RetiredService, retiredId } from "./retired-book.ts";
import { servicesOf } from "./service-list.ts";
import type { RetirementState, ServicesContext } from "./services-context.ts";

/** Retires a service, in one environment or in all. */
export async function retireService(context: ServicesContext, request: QueryRequest<"retireService">): Promise<Outcome<unknown>> {
  const { tenant, subject } = request.principal;
  const serviceId = request.path.id ?? "";
  const { environment = null, comment = null } = request.body;
  const isListed = (await servicesOf(context, tenant)).some(([id, of]) => id === serviceId && (environment === null || of === environment));
  return context.change(request, () => {
    const { retired } = context.state.configured;
    const firing = [...context.state.alerts.memory.firing(tenant)].filter((alert) => isOf(alert, serviceId, environment));
    const known = retired.find(tenant, retiredId({ serviceId, environment }));
    if (!isListed && firing.length === 0 && known === undefined)
      return refused("not_found", `no service is named ${shown(serviceId)}${environment === null ? "" : ` in ${shown(environment)}`}`);
    if (known === undefined && !retired.shares.admits(tenant))
      return refused("unprocessable", `${retired.shares.taken} services are retired already; they are forgotten with what they have sent`);
    const row: RetiredService = { tenant, serviceId, environment, atMs: context.nowMs(), by: subject };
    const ended = new EndedAnomalies(context, tenant, { reason: "ended", person: subject });
    for (const alert of firing) ended.endAlert(alert, comment);
    for (const open of [...context.state.anomalies.openAnomalies()]) {
      const isOfService =
        open.tenant === tenant && open.serviceId === serviceId && (environment === null || open.environment === environment);
      const anomaly = isOfService ? ended.read(open.id) : undefined;
      if (anomaly !== undefined) ended.end(anomaly);
    }
    return {
      ok: true,
      note: { action: "service.retire", object: serviceId, before: null, after: { environment, comment } },
      operations: [retired.operation(row), ...ended.operations()],
      apply: () => {
        retired.put(row);
        ended.apply();
      },
      outcome: done({
        service_id: serviceId,
        environment,
        retired_at: formatRfc3339(row.atMs),
        retired_by: subject,
        alerts_ended: firing.length,
      }),
    };
  });
}

function isOf({ state: { key } }: Alert, serviceId: string, environment: string | null): boolean {
  return key.serviceId === serviceId && (environment === null || key.environment === environment);
}

/** Retirements are forgotten with what their services have sent. */
export function* expireRetired({ state }: { readonly state: RetirementState }, terms: RetentionTerms): Generator<RetentionStep> {
  const { retired } = state.configured;
  for (;;) {
    const old = retired.olderThan(terms.retainedFromMs, terms.rowsPerStep);
    if (old.length === 0) return;
    const apply = () => {
      for (const one of old) retired.remove(one.tenant, retiredId(one));
    };
    yield { store: state.control, operations: old.map((one) => retired.removal(one)), apply };
  }
}
