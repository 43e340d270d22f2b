// Silent services as findings: each one of its own, or one on ingestion where most of a tenant's fell silent together.
import { formatRfc3339 } from "../../../core/base/rfc3339.ts";
import type { StaleService } from "../../../core/protocol/arrivals.ts";
import { ruleVerdict, TIER_Z } from "../gates/rule-verdict.ts";
import type { RuleFinding } from "./rule-episode-set.ts";
import { INGESTION_SERVICE, tenantSilence } from "./tenant-silence.ts";

export const DETECTOR_STALE = "stale";
const STALE_METRIC = "service.stale";
/** Services that are named in an attribute. */
const NAMED_MAX = 50;
/** Silence of so many limits is high. */
const LONG_SILENCE = 3;

/** Of the silent services of a tenant, of which so many are watched. */
export function staleFindings(tenant: string, stale: readonly StaleService[], watched: number, nowMs: number): RuleFinding[] {
  const byKey = new Map(stale.map((service) => [`${service.environment}\0${service.service}`, service]));
  const sending = Array.from({ length: Math.max(0, watched - stale.length) }, () => ({ serviceId: "", lastSeenMs: nowMs, stale: false }));
  const silent = [...byKey].map(([serviceId, { lastSeenMs }]) => ({ serviceId, lastSeenMs, stale: true }));
  const { ingestion, single, gates } = tenantSilence([...silent, ...sending]);
  const of = (keys: readonly string[]) => keys.map((key) => byKey.get(key) as StaleService);
  const findings = of(single).map((service) => staleFinding(tenant, service, nowMs));
  return ingestion.length === 0 ? findings : [ingestionFinding(tenant, of(ingestion), watched, gates, nowMs), ...findings];
}

function staleFinding(
  tenant: string,
  { service, environment, lastSeenMs, usualIntervalMs, limitMs, gates }: StaleService,
  nowMs: number,
): RuleFinding {
  const [, serviceId] = JSON.parse(service) as [string, string];
  const silentMs = nowMs - lastSeenMs;
  const tier = silentMs > LONG_SILENCE * limitMs ? "high" : "medium";
  return {
    tenant,
    environment,
    serviceId,
    metricName: STALE_METRIC,
    attributes: { silent_since: formatRfc3339(lastSeenMs) },
    direction: "low",
    startedAtMs: nowMs,
    verdict: silenceVerdict({ silentMs, usualMs: usualIntervalMs, limitMs, z: -TIER_Z[tier], gates }),
    explanation: `no sample of ${serviceId} for ${duration(silentMs)}; it usually sends every ${duration(usualIntervalMs)}`,
  };
}

function ingestionFinding(
  tenant: string,
  services: readonly StaleService[],
  watched: number,
  gates: StaleService["gates"],
  nowMs: number,
): RuleFinding {
  const names = services.map(({ service }) => (JSON.parse(service) as [string, string])[1]);
  const environments = new Set(services.map(({ environment }) => environment));
  const lastSeenMs = Math.min(...services.map((service) => service.lastSeenMs));
  const usualMs = Math.min(...services.map(({ usualIntervalMs }) => usualIntervalMs));
  const limitMs = Math.min(...services.map((service) => service.limitMs));
  const silentMs = nowMs - lastSeenMs;
  const since = new Date(lastSeenMs).toISOString().slice(0, 16);
  return {
    tenant,
    environment: environments.size === 1 ? ([...environments][0] as string) : "",
    serviceId: INGESTION_SERVICE,
    metricName: STALE_METRIC,
    attributes: { services: names.slice(0, NAMED_MAX), silent: names.length, watched },
    direction: "low",
    startedAtMs: nowMs,
    verdict: silenceVerdict({ silentMs, usualMs, limitMs, z: -TIER_Z.high, gates }),
    explanation: `${names.length} of ${watched} services have been silent together since ${since}Z: their way in is broken rather than they; look at collectors, network and credentials`,
  };
}

function silenceVerdict(of: { silentMs: number; usualMs: number; limitMs: number; z: number; gates: StaleService["gates"] }) {
  return ruleVerdict({
    detector: DETECTOR_STALE,
    observed: of.silentMs / 1000,
    expected: of.usualMs / 1000,
    lower: 0,
    upper: of.limitMs / 1000,
    z: of.z,
    threshold: of.limitMs / 1000,
    baselineValues: 0,
    baselineAgeSeconds: 0,
    gates: of.gates,
  });
}

function duration(ms: number): string {
  return ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
}
