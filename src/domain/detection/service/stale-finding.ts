// Silent services as findings: each one of its own, or one on ingestion where most of a tenant's fell silent together.
import type { SilentService } from "../../../core/protocol/arrivals.ts";
import { formatRfc3339, momentText } from "../../../core/time/rfc3339.ts";
import { ruleVerdict, TIER_Z } from "../gates/rule-verdict.ts";
import type { RuleFinding, RuleScope } from "./rule-episode-set.ts";
import { INGESTION_SERVICE } from "./tenant-silence.ts";

export const DETECTOR_STALE = "stale";
/** Metric name of a silence. */
export const STALE_METRIC = "service.stale";
/** Services that are named in an attribute and in the text. */
const NAMED_MAX = 50;
const REPORTED_MAX = 10;
/** Silence of so many limits is high. */
const LONG_SILENCE = 3;

/** A service that is silent for too long. */
export function staleFinding(
  tenant: string,
  { service, environment, lastSeenMs, usualIntervalMs, limitMs, usualSilenceMs, gates }: SilentService,
  nowMs: number,
): RuleFinding {
  const silentMs = nowMs - lastSeenMs;
  const tier = silentMs > usualSilenceMs + LONG_SILENCE * limitMs ? "high" : "medium";
  const usually = usualSilenceMs > 0 ? `, and is silent for ${duration(usualSilenceMs)} at most at this time` : "";
  return {
    ...staleScope(tenant, serviceIdOf(service), environment),
    attributes: { silent_since: formatRfc3339(lastSeenMs) },
    direction: "low",
    startedAtMs: nowMs,
    observedAtMs: lastSeenMs,
    verdict: silenceVerdict({ silentMs, usualMs: usualIntervalMs, limitMs: Math.max(limitMs, usualSilenceMs), z: -TIER_Z[tier], gates }),
    explanation: `${silenceText(service, silentMs)}; it usually sends every ${duration(usualIntervalMs)}${usually}`,
  };
}

/** Where the silence of a service is told. */
export function staleScope(tenant: string, serviceId: string, environment: string): RuleScope {
  return { tenant, environment, serviceId, metricName: STALE_METRIC };
}

/** Such as: no sample of api for 6 min. */
export function silenceText(service: string, silentMs: number): string {
  return `no sample of ${serviceIdOf(service)} for ${duration(silentMs)}`;
}

/** Contents of the alert on a tenant's silence. */
export interface ReportedSilence {
  readonly tenant: string;
  readonly environment: string;
  readonly onsetMs: number;
  /** Services that were silent at once, at the most, and those that were watched then. */
  readonly most: number;
  readonly watched: number;
  readonly gates: SilentService["gates"];
}

/** One on the way in, for services that fell silent together and still are. */
export function ingestionFinding(of: ReportedSilence, services: readonly SilentService[], nowMs: number): RuleFinding {
  const { tenant, environment, onsetMs, gates } = of;
  const names = services.map(({ service }) => serviceIdOf(service));
  const least = (numberOf: (service: SilentService) => number) =>
    services.reduce((min, service) => Math.min(min, numberOf(service)), Number.POSITIVE_INFINITY);
  const [usualMs, limitMs] = [least(({ usualIntervalMs }) => usualIntervalMs), least((service) => service.limitMs)];
  return {
    ...staleScope(tenant, INGESTION_SERVICE, environment),
    attributes: {
      services: names.slice(0, NAMED_MAX),
      silent: names.length,
      silent_most: of.most,
      silent_since: formatRfc3339(onsetMs),
      watched: of.watched,
    },
    direction: "low",
    startedAtMs: nowMs,
    observedAtMs: onsetMs,
    isRestated: true,
    verdict: silenceVerdict({ silentMs: nowMs - onsetMs, usualMs, limitMs, z: -TIER_Z.high, gates }),
    explanation: ingestionText(of, names),
  };
}

function ingestionText({ onsetMs, most, watched }: ReportedSilence, names: readonly string[]): string {
  const since = momentText(onsetMs);
  const rest = names.length > REPORTED_MAX ? ` and ${names.length - REPORTED_MAX} more` : "";
  const which = `${names.slice(0, REPORTED_MAX).join(", ")}${rest}`;
  if (names.length < most) {
    return `${names.length} of ${most} services that fell silent together are still silent, since ${since}: ${which}; the others send again`;
  }
  return `${names.length} of ${watched} services have been silent together since ${since}: their way in is broken rather than they; look at collectors, network and credentials: ${which}`;
}

function serviceIdOf(service: string): string {
  return (JSON.parse(service) as [string, string])[1];
}

function silenceVerdict(of: { silentMs: number; usualMs: number; limitMs: number; z: number; gates: SilentService["gates"] }) {
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
