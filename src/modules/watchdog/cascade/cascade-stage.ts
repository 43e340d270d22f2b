// The Watchdog's stage over services that fail together: three or more of a tenant and environment that calls join, of spans or named by the findings, and whose anomalies began within five minutes
// are one cascade, on the service that the others most likely fail because of.
import { CASCADE_EDGES_MAX, CASCADE_ONSETS_MAX } from "../../../core/config/limits.ts";
import { MINUTE_MS } from "../../../core/time/durations.ts";
import { CASCADE_SERVICES_MIN, type Call, type Cascade, findCascades, type ServiceOnset } from "../../../domain/alerting/cascade.ts";
import { CASCADE_CALLS_MINUTES, CASCADE_METRIC, cascadeFinding, DETECTOR_CASCADE } from "../../../domain/alerting/cascade-finding.ts";
import { mayNameCallee, namedCalls } from "../../../domain/alerting/named-calls.ts";
import type { RuleFinding } from "../../../domain/detection/service/rule-episode-set.ts";
import type { OpenAnomaly } from "../../anomalies/anomaly-book.ts";
import { RuleEpisodes } from "../../anomalies/rule-episodes.ts";
import { readCalls } from "../../calls/stored-calls.ts";
import type { Cycle, StageOutcome, WatchdogStage } from "../../state/watchdog-stage.ts";
import type { StagesContext } from "../stages-context.ts";

/** The open anomalies of a tenant in an environment. */
interface CascadeScope {
  readonly tenant: string;
  readonly environment: string;
  readonly onsets: ServiceOnset[];
  /** Those of them on series that may name whom they call. */
  readonly ofCalls: OpenAnomaly[];
}

export class CascadeStage implements WatchdogStage {
  readonly name = "cascade";
  readonly every = 1;
  readonly #context: StagesContext;
  readonly #episodes: RuleEpisodes;
  #last: Promise<unknown> = Promise.resolve();

  constructor(context: StagesContext) {
    this.#context = context;
    this.#episodes = new RuleEpisodes(DETECTOR_CASCADE, context);
  }

  /** One look after another: between two cycles it is asked where alerts wait for a group (group-waits.ts). */
  run(cycle: Cycle): Promise<StageOutcome> {
    const outcome = this.#last.then(() => this.#find(cycle));
    this.#last = outcome.catch(() => undefined);
    return outcome;
  }

  async #find({ nowMs }: Cycle): Promise<StageOutcome> {
    const { counters, monotonicMs } = this.#context;
    const startMs = monotonicMs();
    this.#episodes.load();
    const findings: RuleFinding[] = [];
    let evaluated = 0;
    for (const scope of this.#scopes()) {
      const services = new Set(scope.onsets.map(({ serviceId }) => serviceId));
      evaluated += services.size;
      if (services.size < CASCADE_SERVICES_MIN) continue;
      const calls = await this.#callsAmong(scope, services, nowMs);
      for (const cascade of findCascades(scope.onsets, calls))
        findings.push(cascadeFinding(scope, this.#withKnownRoot(scope, cascade), nowMs));
    }
    await this.#episodes.settle(findings, nowMs);
    counters.set("cascadesOpen", this.#episodes.openCount);
    return { counts: { evaluated, learning: 0, skipped: {} }, workMs: monotonicMs() - startMs };
  }

  #scopes(): Iterable<CascadeScope> {
    const scopes = new Map<string, CascadeScope>();
    for (const open of this.#context.state.anomalies.openAnomalies()) {
      const { tenant, environment, serviceId, metricName, detector, startedAtMs } = open;
      if (detector === DETECTOR_CASCADE) continue;
      const key = JSON.stringify([tenant, environment]);
      const scope = scopes.get(key) ?? { tenant, environment, onsets: [], ofCalls: [] };
      scopes.set(key, scope);
      if (scope.onsets.length >= CASCADE_ONSETS_MAX) continue;
      scope.onsets.push({ serviceId, onsetMs: startedAtMs });
      if (mayNameCallee(metricName)) scope.ofCalls.push(open);
    }
    return scopes.values();
  }

  /** A cascade that grows keeps its root, so that it stays one alert. */
  #withKnownRoot({ tenant, environment }: CascadeScope, cascade: Cascade): Cascade {
    const known = cascade.members.find(
      (serviceId) => this.#episodes.startOf({ tenant, environment, serviceId, metricName: CASCADE_METRIC }) !== undefined,
    );
    return known === undefined ? cascade : { ...cascade, root: known };
  }

  async #callsAmong({ tenant, environment, ofCalls }: CascadeScope, services: ReadonlySet<string>, nowMs: number): Promise<Call[]> {
    const to = Math.ceil(nowMs / MINUTE_MS) + 1;
    const calls = new Map<string, Call>();
    await readCalls(this.#context, tenant, { from: to - CASCADE_CALLS_MINUTES, to }, ({ caller, callee }) => {
      if (callee.tenant !== tenant || callee.environment !== environment || calls.size >= CASCADE_EDGES_MAX) return;
      if (!services.has(caller.serviceId) || !services.has(callee.serviceId)) return;
      calls.set(JSON.stringify([caller.serviceId, callee.serviceId]), { caller: caller.serviceId, callee: callee.serviceId });
    });
    const { anomalies } = this.#context.state;
    const named = namedCalls(
      ofCalls.flatMap((open) => anomalies.read(open) ?? []),
      services,
    );
    return [...calls.values(), ...named];
  }
}
