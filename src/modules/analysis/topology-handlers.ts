// GET /api/v1/rca/correlations and /api/v1/ml/blast-radius: what surrounds a service, from calls and from series that move together.
import { done, type Outcome, refused } from "../../api/refusal.ts";
import { relatedServices } from "../../domain/correlation/related-services.ts";
import { blastRadius, type PastFailures } from "../../domain/topology/blast-radius.ts";
import { EngineUnavailableError } from "../engines/engine-client.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { AnalysisContext } from "./analysis-context.ts";
import { unknownService } from "./report-handlers.ts";

/** Services that move with a service. */
export async function correlations(
  context: AnalysisContext,
  { principal, query }: QueryRequest<"correlations">,
): Promise<Outcome<unknown>> {
  const { gathering, nowMs } = context;
  const { service_id: serviceId, depth } = query;
  const scope = {
    tenant: principal.tenant,
    environment: query.environment ?? (await environmentOf(context, principal.tenant, serviceId)) ?? "",
  };
  if (gathering.isFull(principal.tenant)) return tooMany();
  const calls = await gathering.calls(scope, nowMs());
  const rings = await unlessGone(gathering.rings(scope, nowMs()));
  if (rings === undefined) return unavailable();
  const isKnown =
    calls.some(({ caller, callee }) => caller === serviceId || callee === serviceId) ||
    (await knows(context, principal.tenant, serviceId, undefined));
  if (!isKnown) return unknownService(serviceId);
  const related = relatedServices(serviceId, depth, calls, rings);
  return done({
    service_id: serviceId,
    correlations: related.map(({ serviceId: other, score, lagMinutes, direction }) => ({
      related_service: other,
      correlation_score: Math.min(1, Math.max(0, score)),
      lag_minutes: lagMinutes,
      direction,
    })),
  });
}

/** Services that a failure reaches. */
export async function blastRadiusOf(
  context: AnalysisContext,
  { principal, query }: QueryRequest<"blastRadius">,
): Promise<Outcome<unknown>> {
  const { tenant } = principal;
  const { service_id: serviceId, metric } = query;
  const environment = query.environment ?? (await environmentOf(context, tenant, serviceId)) ?? "";
  if (context.gathering.isFull(tenant)) return tooMany();
  const graph = await unlessGone(context.gathering.graph({ tenant, environment }, context.nowMs()));
  if (graph === undefined) return unavailable();
  const edges = [...graph.calls.map(({ caller, callee }) => [caller, callee] as const), ...graph.named];
  const isCalled = edges.some((edge) => edge.includes(serviceId));
  const isKnown = (isCalled && metric === undefined) || (await knows(context, tenant, serviceId, metric));
  if (!isKnown)
    return metric === undefined
      ? unknownService(serviceId)
      : refused("not_found", `service ${JSON.stringify(serviceId)} has no such metric`, "metric");
  const radius = blastRadius(serviceId, graph, pastFailures(context, tenant, environment));
  return done({
    origin_service: serviceId,
    directly_affected: radius.direct,
    transitively_affected: radius.transitive,
    estimated_severity: radius.severity,
    confidence: radius.confidence,
  });
}

/** By what became of callers when a service was the cause of an incident; what a resolution names goes before what a report said. */
export function pastFailures(
  { state }: AnalysisContext,
  tenant: string,
  environment: string,
): (caller: string, callee: string) => PastFailures {
  const incidents = state.analyses.memory
    .all(tenant)
    .filter((incident) => incident.environment === environment && (incident.enough || incident.resolution !== null));
  const byCause = new Map<string, Array<readonly string[]>>();
  for (const { serviceId, resolution, affected } of incidents) {
    const cause = resolution?.serviceId ?? serviceId;
    byCause.set(cause, [...(byCause.get(cause) ?? []), affected]);
  }
  return (caller, callee) => {
    const of = byCause.get(callee) ?? [];
    return { incidents: of.length, failed: of.filter((affected) => affected.includes(caller)).length };
  };
}

/** Whether a tenant has series of a service, or of one metric of it. */
export async function knows(
  { engines }: AnalysisContext,
  tenant: string,
  serviceId: string,
  metricName: string | undefined,
): Promise<boolean> {
  const engine = engines.ownerOf(tenant, serviceId);
  const page = await engines.series(engine, {
    tenant,
    serviceId,
    metricName: metricName ?? null,
    environment: null,
    after: null,
    limit: 1,
  });
  return page.total + page.returned > 0;
}

/** The environment of a service's first series; undefined where there is none. */
async function environmentOf({ engines }: AnalysisContext, tenant: string, serviceId: string): Promise<string | undefined> {
  const engine = engines.ownerOf(tenant, serviceId);
  const page = await engines.series(engine, { tenant, serviceId, metricName: null, environment: null, after: null, limit: 1 });
  return page.series[0]?.environment;
}

/** Answer of engines; undefined where one does not answer. */
export async function unlessGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof EngineUnavailableError) return undefined;
    throw error;
  }
}

export function unavailable() {
  return refused("overloaded", "an engine did not answer in time; ask again shortly");
}

export function tooMany() {
  return refused("overloaded", "too many questions wait for evidence already; ask again shortly");
}
