// The Watchdog's stage over arrivals: a service that is silent for too long is an anomaly of its own, unless most of its tenant's fell silent with it: then it is
// the way in that is broken, and that is one anomaly.
import { formatRfc3339 } from "../../../../core/base/rfc3339.ts";
import type { ArrivalsFound, StaleService } from "../../../../core/protocol/arrivals.ts";
import { INGESTION_SERVICE } from "../../../../domain/alerting/inhibitors.ts";
import { ruleVerdict, TIER_Z } from "../../../../domain/detection/gates/rule-verdict.ts";
import { tenantSilence } from "../../../../domain/detection/service/tenant-silence.ts";
import { serviceKey } from "../../../../domain/series/stream-identity.ts";
import { RuleEpisodes, type RuleFinding, type RulePlace } from "../rule-episodes.ts";
import type { StagesContext } from "../stages-context.ts";
import { type Cycle, enginePass, type StageOutcome, type WatchdogStage } from "../watchdog.ts";

const DETECTOR = "stale";
const STALE_METRIC = "service.stale";
/** Services that are named in an attribute. */
const NAMED_MAX = 50;
/** Silence of so many limits is high. */
const LONG_SILENCE = 3;

export class ArrivalsStage implements WatchdogStage {
  readonly name = "arrivals";
  readonly every = 1;
  readonly #context: StagesContext;
  readonly #episodes: RuleEpisodes;
  readonly #pass: WatchdogStage;
  #stale: StaleService[] = [];
  #found: ArrivalsFound[] = [];
  readonly #unheard = new Set<string>();
  readonly #unheardTenants = new Set<string>();
  #watched = new Map<string, number>();

  constructor(context: StagesContext) {
    this.#context = context;
    this.#episodes = new RuleEpisodes(DETECTOR, context);
    this.#pass = enginePass("arrivals", 1, { ...context, take: (_engine, found) => this.#take(found as ArrivalsFound) });
  }

  async run(cycle: Cycle): Promise<StageOutcome> {
    const { state, counters, monotonicMs } = this.#context;
    this.#episodes.load();
    this.#stale = [];
    this.#found = [];
    this.#unheard.clear();
    this.#unheardTenants.clear();
    this.#watched = new Map();
    const outcome = await this.#pass.run(cycle);
    state.services.replace(this.#found);
    this.#found = [];
    const startMs = monotonicMs();
    await this.#episodes.settle(this.#findings(cycle.nowMs), cycle.nowMs, (place) => this.#isUnheard(place));
    counters.set("servicesStale", this.#stale.length);
    return { ...outcome, workMs: outcome.workMs + monotonicMs() - startMs };
  }

  /** After a restart nothing is known of a silence before its limit has passed again; of that of a tenant, before none of its services is. */
  #isUnheard({ tenant, environment, serviceId }: RulePlace): boolean {
    if (serviceId === INGESTION_SERVICE) return this.#unheardTenants.has(tenant);
    return this.#unheard.has(`${environment}\0${serviceKey(tenant, serviceId)}`);
  }

  #take(found: ArrivalsFound): void {
    const { stale, unheard, watched } = found;
    if (found.young.length + found.requests.length > 0) this.#found.push(found);
    for (const [service, environment] of unheard) {
      this.#unheard.add(`${environment}\0${service}`);
      this.#unheardTenants.add((JSON.parse(service) as [string])[0]);
    }
    this.#stale.push(...stale);
    for (const [tenant, count] of Object.entries(watched)) this.#watched.set(tenant, (this.#watched.get(tenant) ?? 0) + count);
  }

  #findings(nowMs: number): RuleFinding[] {
    const byTenant = new Map<string, StaleService[]>();
    for (const stale of this.#stale) {
      const [tenant] = JSON.parse(stale.service) as [string, string];
      byTenant.set(tenant, [...(byTenant.get(tenant) ?? []), stale]);
    }
    return [...byTenant].flatMap(([tenant, stale]) => findingsOf(tenant, stale, this.#watched.get(tenant) ?? stale.length, nowMs));
  }
}

/** Of the silent services of a tenant, of which so many are watched. */
function findingsOf(tenant: string, stale: readonly StaleService[], watched: number, nowMs: number): RuleFinding[] {
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
    detector: DETECTOR,
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
