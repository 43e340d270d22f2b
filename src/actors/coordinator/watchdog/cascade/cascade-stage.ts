// The Watchdog's stage over services that fail together: three or more of a tenant and environment that calls join and whose anomalies began within five minutes
// are one cascade, on the service that the others most likely fail because of.
import { CASCADE_EDGES_MAX, CASCADE_ONSETS_MAX } from "../../../../core/config/limits.ts";
import { type Call, type Cascade, findCascades, type ServiceOnset } from "../../../../domain/alerting/cascade.ts";
import { ruleVerdict, TIER_Z } from "../../../../domain/detection/gates/rule-verdict.ts";
import { decodeCallEdges } from "../../../../domain/trace/call-edges.ts";
import { callMinuteKey } from "../../tables/call-rows.ts";
import { scan } from "../../tables/scan.ts";
import { RuleEpisodes, type RuleFinding } from "../rule-episodes.ts";
import type { StagesContext } from "../stages-context.ts";
import type { Cycle, StageOutcome, WatchdogStage } from "../watchdog.ts";

const DETECTOR = "cascade";
const METRIC = "service.cascade";
const SERVICES_MIN = 3;
const MINUTE_MS = 60_000;
/** Calls of so long join services. */
const CALLS_MINUTES = 60;
const ROWS_PER_BREATH = 100;
/** Members that are named in an attribute and in the text. */
const NAMED_MAX = 50;
const TOLD_MAX = 8;

/** The open anomalies of a tenant in an environment. */
interface Place {
  readonly tenant: string;
  readonly environment: string;
  readonly onsets: ServiceOnset[];
}

export class CascadeStage implements WatchdogStage {
  readonly name = "cascade";
  readonly every = 1;
  readonly #context: StagesContext;
  readonly #episodes = new RuleEpisodes(DETECTOR);
  #isLoaded = false;

  constructor(context: StagesContext) {
    this.#context = context;
  }

  async run({ nowMs }: Cycle): Promise<StageOutcome> {
    const { state, declare, counters, monotonicMs } = this.#context;
    const startMs = monotonicMs();
    if (!this.#isLoaded) this.#episodes.load(state.anomalies);
    this.#isLoaded = true;
    const findings: RuleFinding[] = [];
    let evaluated = 0;
    for (const place of this.#places()) {
      const services = new Set(place.onsets.map(({ serviceId }) => serviceId));
      evaluated += services.size;
      if (services.size < SERVICES_MIN) continue;
      const calls = await this.#callsAmong(place, services, nowMs);
      for (const cascade of findCascades(place.onsets, calls)) findings.push(findingOf(place, this.#withKnownRoot(place, cascade), nowMs));
    }
    const changes = this.#episodes.settle(findings, nowMs);
    await declare(changes.frames);
    changes.apply();
    counters.set("cascadesOpen", this.#episodes.openCount);
    return { counts: { evaluated, learning: 0, skipped: {} }, workMs: monotonicMs() - startMs };
  }

  #places(): Iterable<Place> {
    const places = new Map<string, Place>();
    for (const { tenant, environment, serviceId, detector, startedAtMs } of this.#context.state.anomalies.openAnomalies()) {
      if (detector === DETECTOR) continue;
      const key = JSON.stringify([tenant, environment]);
      const place = places.get(key) ?? { tenant, environment, onsets: [] };
      places.set(key, place);
      if (place.onsets.length < CASCADE_ONSETS_MAX) place.onsets.push({ serviceId, onsetMs: startedAtMs });
    }
    return places.values();
  }

  /** A cascade that grows keeps its root, so that it stays one alert. */
  #withKnownRoot({ tenant, environment }: Place, cascade: Cascade): Cascade {
    const known = cascade.members.find(
      (serviceId) => this.#episodes.startOf({ tenant, environment, serviceId, metricName: METRIC }) !== undefined,
    );
    return known === undefined ? cascade : { ...cascade, root: known };
  }

  async #callsAmong({ tenant, environment }: Place, services: ReadonlySet<string>, nowMs: number): Promise<Call[]> {
    const { state, breathe } = this.#context;
    const toMinute = Math.ceil(nowMs / MINUTE_MS) + 1;
    const rows = [
      ...state.series.range("call_minutes", { from: callMinuteKey(tenant, toMinute - CALLS_MINUTES), to: callMinuteKey(tenant, toMinute) }),
      ...scan(state.series, "call_sums"),
    ];
    const calls = new Map<string, Call>();
    for (const [i, { value }] of rows.entries()) {
      if (i % ROWS_PER_BREATH === ROWS_PER_BREATH - 1) await breathe();
      for (const { caller, callee } of decodeCallEdges(value)) {
        if (callee.tenant !== tenant || callee.environment !== environment || calls.size >= CASCADE_EDGES_MAX) continue;
        if (!services.has(caller.serviceId) || !services.has(callee.serviceId)) continue;
        calls.set(JSON.stringify([caller.serviceId, callee.serviceId]), { caller: caller.serviceId, callee: callee.serviceId });
      }
    }
    return [...calls.values()];
  }
}

function findingOf(
  { tenant, environment }: Place,
  { root, members, firstOnsetMs, orderedShare, gates }: Cascade,
  nowMs: number,
): RuleFinding {
  const others = members.filter((member) => member !== root);
  const named = others.slice(0, TOLD_MAX).join(", ");
  const rest = others.length > TOLD_MAX ? ` and ${others.length - TOLD_MAX} more` : "";
  return {
    tenant,
    environment,
    serviceId: root,
    metricName: METRIC,
    attributes: { members: members.slice(0, NAMED_MAX), ordered_share: orderedShare },
    direction: "high",
    startedAtMs: nowMs,
    verdict: ruleVerdict({
      detector: DETECTOR,
      observed: members.length,
      expected: 0,
      lower: 0,
      upper: SERVICES_MIN - 1,
      // A cascade is high, and tells more the more it takes down.
      z: TIER_Z.high + Math.log2(members.length / SERVICES_MIN),
      threshold: SERVICES_MIN,
      baselineValues: 0,
      baselineAgeSeconds: (nowMs - firstOnsetMs) / 1000,
      gates,
    }),
    explanation: `${members.length} services that call each other fail together since ${new Date(firstOnsetMs).toISOString().slice(0, 16)}Z, most likely because of ${root}: ${named}${rest}`,
  };
}
