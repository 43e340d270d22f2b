// When most services of a tenant fall silent at once, it is the way in that is broken: one alert on ingestion instead of one for each
// (decisions, section 2).
import { above, atLeast, type GateResult } from "../gates/gate-result.ts";

/** The service that a tenant's silence is told of. */
export const INGESTION_SERVICE = "ingestion";
/** "At once": last seen within this of each other. */
const TOGETHER_MS = 60_000;
const MOST = 0.5;
const SERVICES_MIN = 3;

export interface ServiceSilence {
  readonly serviceId: string;
  readonly lastSeenMs: number;
  readonly stale: boolean;
}

export interface TenantSilence {
  /** Services of the one alert on ingestion, in order of name; empty where there is none. */
  readonly ingestion: readonly string[];
  /** Services with an alert of their own. */
  readonly single: readonly string[];
  readonly gates: readonly GateResult[];
}

/** Judges the watched services of one tenant (those with a learned rhythm). */
export function tenantSilence(services: readonly ServiceSilence[]): TenantSilence {
  const stale = services
    .filter((service) => service.stale)
    .sort((a, b) => a.lastSeenMs - b.lastSeenMs || (a.serviceId < b.serviceId ? -1 : 1));
  const together = largestTogether(stale);
  const gates = [
    atLeast("silent_services", together.length, SERVICES_MIN),
    above("silent_share", together.length / Math.max(1, services.length), MOST),
  ];
  const isIngestion = gates.every((gate) => gate.passed);
  const names = (list: readonly ServiceSilence[]): string[] => list.map(({ serviceId }) => serviceId).sort();
  if (!isIngestion) return { ingestion: [], single: names(stale), gates };
  return { ingestion: names(together), single: names(stale.filter((service) => !together.includes(service))), gates };
}

/** The most services, of a list by time, that were last seen within TOGETHER_MS. */
function largestTogether(stale: readonly ServiceSilence[]): readonly ServiceSilence[] {
  let best: readonly ServiceSilence[] = [];
  let from = 0;
  stale.forEach((service, to) => {
    while (service.lastSeenMs - (stale[from] as ServiceSilence).lastSeenMs > TOGETHER_MS) from++;
    if (to - from + 1 > best.length) best = stale.slice(from, to + 1);
  });
  return best;
}
