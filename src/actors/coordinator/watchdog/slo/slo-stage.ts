// The Watchdog's stage over SLOs: how fast each burns its error budget. Of several of one service the worst is told.
import { ruleVerdict, TIER_Z } from "../../../../domain/detection/gates/rule-verdict.ts";
import { type BurnEvaluation, type BurnFinding, OBJECTIVE_DEFAULT } from "../../../../domain/detection/service/slo-burn.ts";
import { RuleEpisodes, type RuleFinding } from "../rule-episodes.ts";
import type { StagesContext } from "../stages-context.ts";
import type { Cycle, StageOutcome, WatchdogStage } from "../watchdog.ts";
import type { SloWindow } from "./slo-book.ts";

const DETECTOR = "slo_burn";
const METRIC = "slo.burn";
/** An evaluation adds up 4,320 minutes for each pair of windows: 10 to 30 us. */
const WINDOWS_PER_BREATH = 50;
/** Cycles between two looks for rows that are past. */
const FORGET_CYCLES = 60;

export class SloStage implements WatchdogStage {
  readonly name = "slo_burn";
  readonly every = 1;
  readonly #context: StagesContext;
  readonly #episodes: RuleEpisodes;
  #isRestored = false;

  constructor(context: StagesContext) {
    this.#context = context;
    this.#episodes = new RuleEpisodes(DETECTOR, context);
  }

  async run({ number, nowMs }: Cycle): Promise<StageOutcome> {
    const { state, counters, monotonicMs, breathe, edit } = this.#context;
    const startMs = monotonicMs();
    this.#episodes.load();
    if (!this.#isRestored) {
      await state.slo.restore(state.series, nowMs, breathe);
      this.#isRestored = true;
    }
    const worst = new Map<string, RuleFinding>();
    let evaluated = 0;
    for (const window of [...state.slo.windows]) {
      const finding = findingOf(window, nowMs);
      if (++evaluated % WINDOWS_PER_BREATH === 0) await breathe();
      if (finding === undefined) continue;
      const key = JSON.stringify([finding.tenant, finding.environment, finding.serviceId]);
      const other = worst.get(key);
      if (other === undefined || finding.verdict.z > other.verdict.z) worst.set(key, finding);
    }
    await this.#episodes.settle([...worst.values()], nowMs);
    if (number % FORGET_CYCLES === 0) await edit(() => state.slo.forget(state.series, nowMs));
    counters.set("sloWindows", state.slo.size);
    counters.set("sloWindowsRefused", state.slo.refused);
    return { counts: { evaluated, learning: 0, skipped: {} }, workMs: monotonicMs() - startMs };
  }
}

function findingOf(window: SloWindow, nowMs: number): RuleFinding | undefined {
  const objective = window.objective ?? OBJECTIVE_DEFAULT;
  const { finding, gates } = window.burn.evaluate(nowMs, objective);
  if (finding === null) return undefined;
  const { tenant, environment, serviceId, metricName } = window;
  return {
    tenant,
    environment,
    serviceId,
    metricName: METRIC,
    attributes: { slo: metricName, objective, long_minutes: finding.longMinutes, short_minutes: finding.shortMinutes },
    direction: "high",
    startedAtMs: nowMs,
    verdict: burnVerdict(finding, gates),
    explanation: burnText(metricName, objective, finding),
  };
}

function burnVerdict({ tier, rate, longBurn }: BurnFinding, gates: BurnEvaluation["gates"]) {
  return ruleVerdict({
    detector: DETECTOR,
    observed: longBurn,
    expected: 1,
    lower: 0,
    upper: rate,
    // Grows within its tier with the burn, so that the worst of a service is found by it.
    z: TIER_Z[tier] + 0.9 * (1 - rate / Math.max(rate, longBurn)),
    threshold: rate,
    baselineValues: 0,
    baselineAgeSeconds: 0,
    gates,
  });
}

function burnText(metricName: string, objective: number, { longBurn, shortBurn, longMinutes, shortMinutes, rate }: BurnFinding): string {
  const share = `${figure(100 * objective)}%`;
  const windows = `${figure(longBurn)} times over the last ${duration(longMinutes)} and ${figure(shortBurn)} over ${duration(shortMinutes)}`;
  return `${metricName} burns the error budget of its objective ${share} ${windows} as fast as it may; ${figure(rate)} times is told`;
}

function duration(minutes: number): string {
  if (minutes >= 2 * 1440) return `${minutes / 1440} days`;
  return minutes >= 60 ? `${minutes / 60} h` : `${minutes} min`;
}

function figure(value: number): string {
  return String(Number(value.toPrecision(4)));
}
