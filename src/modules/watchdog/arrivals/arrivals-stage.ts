// The Watchdog's stage over arrivals: a service that is silent for too long is an anomaly of its own, unless most of its tenant's fell silent with it: then it is
// the way in that is broken, and that is one anomaly.
import { ownMember, setMember } from "../../../core/collections/own-member.ts";
import { hash128 } from "../../../core/hashing/hash128.ts";
import type { ArrivalsFound, SilentService } from "../../../core/protocol/arrivals.ts";
import { momentText } from "../../../core/time/rfc3339.ts";
import { type PageDecision, suppressedDecision } from "../../../domain/alerting/paging/page-decision.ts";
import { anomalyScore, tierOfScore } from "../../../domain/detection/anomaly-score.ts";
import { holds } from "../../../domain/detection/gates/gate-result.ts";
import { ArrivalsTally } from "../../../domain/detection/service/arrivals-tally.ts";
import type { EpisodeFate, ReportedScope, RuleFinding } from "../../../domain/detection/service/rule-episode-set.ts";
import { SilentTenants, type SuppressedService } from "../../../domain/detection/service/silent-tenants.ts";
import { DETECTOR_STALE, silenceText, staleFinding } from "../../../domain/detection/service/stale-finding.ts";
import { INGESTION_SERVICE } from "../../../domain/detection/service/tenant-silence.ts";
import { serviceKey } from "../../../domain/series/stream-identity.ts";
import { ledgerRowId } from "../../alerts/ledger-book.ts";
import { RuleEpisodes } from "../../anomalies/rule-episodes.ts";
import type { Cycle, StageOutcome, WatchdogStage } from "../../state/watchdog-stage.ts";
import { engineStage } from "../engine-stage.ts";
import type { StagesContext } from "../stages-context.ts";

const SILENCE_MS_MAX = 7 * 24 * 3_600_000;
/** Gate by which findings wait for what the tenant's other services do. */
const HOLD_GATE = "tenant_silence";

export class ArrivalsStage implements WatchdogStage {
  readonly name = "arrivals";
  readonly every = 1;
  readonly #context: StagesContext;
  readonly #episodes: RuleEpisodes;
  readonly #stage: WatchdogStage;
  readonly #tenants: SilentTenants;
  #found: ArrivalsFound[] = [];
  #tally = new ArrivalsTally();
  /** Services whose holding stands in the ledger, and until when that says it lasts. */
  #reportedSuppressed = new Map<string, number>();

  constructor(context: StagesContext) {
    this.#context = context;
    this.#episodes = new RuleEpisodes(DETECTOR_STALE, context);
    this.#tenants = new SilentTenants((scope) => this.#episodes.isOpen(scope));
    this.#stage = engineStage("arrivals", 1, { ...context, take: (_engine, found) => this.#take(found as ArrivalsFound) });
  }

  async run(cycle: Cycle): Promise<StageOutcome> {
    const { state, counters, monotonicMs } = this.#context;
    this.#episodes.load((reported) => this.#tenants.restore(reported));
    this.#found = [];
    this.#tally = new ArrivalsTally();
    const outcome = await this.#stage.run(cycle);
    state.services.replace(this.#found);
    this.#found = [];
    const startMs = monotonicMs();
    await this.#episodes.settle(this.#findings(cycle.nowMs), cycle.nowMs, (scope) => this.#fateOf(scope));
    this.#reportSuppressed(this.#tenants.takeSuppressed(), cycle.nowMs);
    counters.set("servicesStale", this.#tally.stale);
    return { ...outcome, workMs: outcome.workMs + monotonicMs() - startMs };
  }

  #take(arrivals: ArrivalsFound): void {
    const found = this.#withoutRetired(arrivals);
    if (found.young.length + found.requests.length > 0) this.#found.push(found);
    this.#tally.add(found);
  }

  /** What people have retired is not missed, nor what has been silent for long, and both are no part of a tenant's silence. */
  #withoutRetired(found: ArrivalsFound): ArrivalsFound {
    const isMissed = ({ service, environment, lastSeenMs }: SilentService) => {
      const [tenant, serviceId] = JSON.parse(service) as [string, string];
      if (this.#isLongAgo(lastSeenMs)) return false;
      return !this.#context.state.configured.retired.isRetired(tenant, serviceId, environment, lastSeenMs);
    };
    const silent = found.silent.filter(isMissed);
    if (silent.length === found.silent.length) return found;
    const watched: Record<string, number> = { ...found.watched };
    for (const one of found.silent) {
      if (silent.includes(one)) continue;
      const [tenant] = JSON.parse(one.service) as [string, string];
      setMember(watched, tenant, Math.max(0, (ownMember(watched, tenant) ?? 0) - 1));
    }
    return { ...found, silent, watched };
  }

  #findings(nowMs: number): RuleFinding[] {
    const tenants = new Set([...this.#tally.tenants, ...this.#tenants.tenants]);
    return [...tenants].sort().flatMap((tenant) => this.#tenants.findings(tenant, this.#tally.of(tenant), nowMs));
  }

  /**
   * After a restart nothing is known of a silence before its limit has passed again; of that of a tenant, before none of its services is unheard. A service that
   * has left memory while it was silent has not been heard again.
   */
  #fateOf({ tenant, environment, serviceId, observedAtMs }: ReportedScope): EpisodeFate {
    if (serviceId === INGESTION_SERVICE) return this.#fateOfAll(tenant);
    const isRetired = this.#context.state.configured.retired.isRetired(tenant, serviceId, environment, observedAtMs);
    if (isRetired || this.#isLongAgo(observedAtMs)) return "end";
    const key = `${environment}\0${serviceKey(tenant, serviceId)}`;
    if (this.#tally.unheard.has(key)) return "goes on";
    return this.#tally.gone.has(key) ? "end" : "close";
  }

  /** A silence ends by itself after a week: nobody waits any more. */
  #isLongAgo(lastSeenMs: number): boolean {
    return this.#context.nowMs() - lastSeenMs >= SILENCE_MS_MAX;
  }

  #fateOfAll(tenant: string): EpisodeFate {
    if (this.#tally.unheardTenants.has(tenant)) return "goes on";
    return this.#tally.goneTenants.has(tenant) || this.#tally.of(tenant).watched === 0 ? "end" : "close";
  }

  /** Adds a row of the ledger for each that is held, which says until when and for what. */
  #reportSuppressed(suppressed: readonly SuppressedService[], nowMs: number): void {
    const reported = new Map<string, number>();
    const rows = [];
    for (const one of suppressed) {
      const key = `${one.service.environment}\0${one.service.service}`;
      reported.set(key, one.untilMs);
      if (this.#reportedSuppressed.get(key) === one.untilMs) continue;
      const decision = decisionOf(one, nowMs);
      rows.push({ id: ledgerRowId(decision.anomalyId, 0), decision });
    }
    this.#reportedSuppressed = reported;
    if (rows.length > 0) this.#context.state.alerts.ledger.add(rows);
  }
}

/** The decision that holds a finding; the anomaly is the one that it would have been. */
function decisionOf({ tenant, service, untilMs, gates }: SuppressedService, nowMs: number): PageDecision {
  const finding = staleFinding(tenant, service, nowMs);
  const { environment, serviceId, metricName, verdict } = finding;
  return suppressedDecision({
    atMs: nowMs,
    tenant,
    environment,
    serviceId,
    metricName,
    detector: DETECTOR_STALE,
    anomalyId: hash128(JSON.stringify([HOLD_GATE, tenant, environment, serviceId, service.lastSeenMs, nowMs])),
    tier: tierOfScore(anomalyScore(verdict.z)),
    z: verdict.z,
    suppressedBy: HOLD_GATE,
    gates: [holds(HOLD_GATE, false), ...gates],
    explanation: suppressedText(service, untilMs, gates, nowMs),
  });
}

function suppressedText({ service, lastSeenMs }: SilentService, untilMs: number, gates: SuppressedService["gates"], nowMs: number): string {
  const silent = gates.find(({ name }) => name === "silent_services")?.value ?? 0;
  return `${silenceText(service, nowMs - lastSeenMs)}; ${silent} services fell silent together, and until ${momentText(untilMs)} others may show whether the whole tenant is silent: held until then`;
}
