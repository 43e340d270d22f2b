// The Watchdog's stage over arrivals: a service that is silent for too long is an anomaly of its own, unless most of its tenant's fell silent with it: then it is
// the way in that is broken, and that is one anomaly.
import { groupBy } from "../../../../core/base/grouping.ts";
import type { ArrivalsFound, StaleService } from "../../../../core/protocol/arrivals.ts";
import type { RuleFinding, RulePlace } from "../../../../domain/detection/service/rule-episode-set.ts";
import { DETECTOR_STALE, staleFindings } from "../../../../domain/detection/service/stale-finding.ts";
import { INGESTION_SERVICE } from "../../../../domain/detection/service/tenant-silence.ts";
import { serviceKey } from "../../../../domain/series/stream-identity.ts";
import { enginePass } from "../engine-pass.ts";
import { RuleEpisodes } from "../rule-episodes.ts";
import type { StagesContext } from "../stages-context.ts";
import type { Cycle, StageOutcome, WatchdogStage } from "../watchdog.ts";

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
    this.#episodes = new RuleEpisodes(DETECTOR_STALE, context);
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
    const byTenant = groupBy(this.#stale, ({ service }) => (JSON.parse(service) as [string, string])[0]);
    return [...byTenant].flatMap(([tenant, stale]) => staleFindings(tenant, stale, this.#watched.get(tenant) ?? stale.length, nowMs));
  }
}
