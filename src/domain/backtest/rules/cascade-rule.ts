// Services that fail together, from what is open and from stored calls (modules/watchdog/cascade does so live).
import type { EpisodeFrame } from "../../../core/protocol/coordinator-frame.ts";
import { MINUTE_MS } from "../../../core/time/durations.ts";
import { CASCADE_SERVICES_MIN, type Call, type Cascade, findCascades, type ServiceOnset } from "../../alerting/cascade.ts";
import { CASCADE_CALLS_MINUTES, CASCADE_METRIC, cascadeFinding, DETECTOR_CASCADE } from "../../alerting/cascade-finding.ts";
import { mayNameCallee, namedCalls } from "../../alerting/named-calls.ts";
import type { Anomaly } from "../../anomaly/anomaly.ts";
import { RuleEpisodeSet, type RuleFinding } from "../../detection/service/rule-episode-set.ts";
import type { BacktestFacts } from "../history.ts";
import type { BacktestRule, RuleCycle } from "./rule.ts";

interface CascadeScope {
  readonly tenant: string;
  readonly environment: string;
  readonly onsets: ServiceOnset[];
  readonly ofCalls: Anomaly[];
}

export class CascadeRule implements BacktestRule {
  readonly costUs = 5;
  readonly #calls: BacktestFacts["calls"];
  readonly #episodes = new RuleEpisodeSet(DETECTOR_CASCADE);

  constructor(calls: BacktestFacts["calls"]) {
    this.#calls = calls;
  }

  async cycle({ nowMs, openAnomalies }: RuleCycle): Promise<readonly EpisodeFrame[]> {
    const findings: RuleFinding[] = [];
    for (const scope of placesOf(openAnomalies())) {
      const services = new Set(scope.onsets.map(({ serviceId }) => serviceId));
      if (services.size < CASCADE_SERVICES_MIN) continue;
      const to = Math.ceil(nowMs / MINUTE_MS) + 1;
      const calls = await this.#calls(scope.tenant, scope.environment, to - CASCADE_CALLS_MINUTES, to);
      const among = calls.filter(({ caller, callee }: Call) => services.has(caller) && services.has(callee));
      for (const cascade of findCascades(scope.onsets, [...among, ...namedCalls(scope.ofCalls, services)]))
        findings.push(cascadeFinding(scope, this.#withKnownRoot(scope, cascade), nowMs));
    }
    if (findings.length === 0 && this.#episodes.openCount === 0) return [];
    const { frames, apply } = this.#episodes.settle(findings, nowMs);
    apply();
    return frames;
  }

  /** A cascade that grows keeps its root. */
  #withKnownRoot({ tenant, environment }: CascadeScope, cascade: Cascade): Cascade {
    const isKnown = (serviceId: string) =>
      this.#episodes.startOf({ tenant, environment, serviceId, metricName: CASCADE_METRIC }) !== undefined;
    const known = cascade.members.find(isKnown);
    return known === undefined ? cascade : { ...cascade, root: known };
  }
}

function placesOf(anomalies: ReturnType<RuleCycle["openAnomalies"]>): Iterable<CascadeScope> {
  const scopes = new Map<string, CascadeScope>();
  for (const anomaly of anomalies) {
    const { tenant, environment, serviceId, metricName, detector, startedAtMs } = anomaly;
    if (detector === DETECTOR_CASCADE) continue;
    const key = JSON.stringify([tenant, environment]);
    const scope = scopes.get(key) ?? { tenant, environment, onsets: [], ofCalls: [] };
    scopes.set(key, scope);
    scope.onsets.push({ serviceId, onsetMs: startedAtMs });
    if (mayNameCallee(metricName)) scope.ofCalls.push(anomaly);
  }
  return scopes.values();
}
