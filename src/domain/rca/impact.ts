// Who suffers from a cause: those that call it, whom load reaches of it, and those that share its machine, by what they show; where nothing is known of them, by the calls.
import { calleesOf, callersOf } from "../topology/reach.ts";
import { SYMPTOM_MIN } from "./metric-kind.ts";
import type { RankedService, Ranking } from "./ranking.ts";

const IMPACT_MAX = 50;
const AFFECTED_MAX = 200;
/** What the calls make likely needs less to be seen. */
const LIKELY_MIN = 2;
/** Hops over which a failure is taken to go where nothing is known of who calls. */
const UNSEEN_HOPS_MAX = 3;

/** Who suffers. */
export interface Impact {
  readonly serviceId: string;
  readonly metricName: string;
  readonly strength: number;
}

/** Services that show symptoms and that calls or a machine join with the cause, and whoever has an anomaly of the incident. */
export function impactOf(ranking: Ranking, { serviceId: cause }: RankedService, members: readonly string[]): Impact[] {
  const { metrics, peers } = ranking;
  const suffering = reachedBy(ranking, cause);
  const hit = new Set(members);
  return [...new Set([...metrics.services.map(({ serviceId }) => serviceId), ...members])]
    .map((serviceId) => ({ serviceId, symptom: metrics.symptomShown(serviceId) }))
    .filter(({ serviceId }) => serviceId !== cause && !peers.has(serviceId))
    .filter(({ serviceId, symptom }) => hit.has(serviceId) || (suffering.has(serviceId) && symptom >= SYMPTOM_MIN))
    .map(({ serviceId, symptom }) => ({ serviceId, metricName: metrics.symptomName(serviceId), strength: symptom }))
    .sort((a, b) => b.strength - a.strength)
    .slice(0, IMPACT_MAX);
}

/** The services that a cause reaches: those that show it, and those near to it of which nothing is known that could. */
export function affectedOf(ranking: Ranking, { serviceId: cause }: RankedService): string[] {
  const { metrics, peers } = ranking;
  const found: Array<{ readonly serviceId: string; readonly strength: number; readonly hops: number }> = [];
  for (const [serviceId, hops] of reachedBy(ranking, cause)) {
    if (serviceId === cause || peers.has(serviceId)) continue;
    const strength = metrics.knowsSymptoms(serviceId) ? metrics.symptomShown(serviceId) : hops <= UNSEEN_HOPS_MAX ? LIKELY_MIN : 0;
    if (strength >= LIKELY_MIN) found.push({ serviceId, strength, hops });
  }
  return found
    .sort((a, b) => a.hops - b.hops || b.strength - a.strength || (a.serviceId < b.serviceId ? -1 : 1))
    .slice(0, AFFECTED_MAX)
    .map(({ serviceId }) => serviceId);
}

/** Callers of a cause with the calls between; of load at a door those that it calls, all where no calls are known; of a machine's trouble those on the machine. */
function reachedBy({ edges, surge, tied, metrics }: Ranking, cause: string): ReadonlyMap<string, number> {
  const reached = new Map(callersOf(edges, cause));
  if (surge?.serviceId === cause && edges.length === 0) for (const { serviceId } of metrics.services) reached.set(serviceId, 1);
  if (surge?.serviceId === cause)
    for (const [serviceId, hops] of calleesOf(edges, cause)) if (!reached.has(serviceId)) reached.set(serviceId, hops);
  for (const serviceId of tied.get(cause)?.neighbours ?? []) if (!reached.has(serviceId)) reached.set(serviceId, 1);
  return reached;
}
