// An SLO that burns its error budget too fast, as a finding of its service.
import { ruleVerdict, TIER_Z } from "../gates/rule-verdict.ts";
import type { EpisodeFate, RuleFinding, RuleScope } from "./rule-episode-set.ts";
import { type BurnEvaluation, type BurnFinding, OBJECTIVE_DEFAULT, type SloBurn } from "./slo-burn.ts";

export const DETECTOR_BURN = "slo_burn";
const METRIC = "slo.burn";

/** The good ratios of one SLO. */
export interface BurningSlo {
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly burn: SloBurn;
  /** Null where its records name none. */
  readonly objective: number | null;
  /** Time of its newest record. */
  readonly newestMs: number;
}

/** Worst burns: of several SLOs of one service in one environment the one that burns fastest is reported. */
export class WorstBurns {
  readonly #isOpen: (scope: RuleScope) => boolean;
  readonly #worst = new Map<string, RuleFinding>();
  readonly #judged = new Set<string>();

  /** `isOpen` says of a place whether it is reported already. */
  constructor(isOpen: (scope: RuleScope) => boolean) {
    this.#isOpen = isOpen;
  }

  /** Judges one at `nowMs`: 10 to 30 us. One that is told is judged again with its next record: without records nothing is over. */
  add(slo: BurningSlo, nowMs: number): void {
    const { tenant, environment, serviceId } = slo;
    const key = keyKey(slo);
    this.#judged.add(key);
    const isOpen = this.#isOpen({ tenant, environment, serviceId, metricName: METRIC });
    const finding = findingOf(slo, nowMs) ?? (isOpen && slo.newestMs < nowMs ? findingOf(slo, slo.newestMs) : undefined);
    if (finding === undefined) return;
    const other = this.#worst.get(key);
    if (other === undefined || finding.verdict.z > other.verdict.z) this.#worst.set(key, finding);
  }

  get findings(): RuleFinding[] {
    return [...this.#worst.values()];
  }

  /** Fate of a finding that is no longer one: over, or without any record left. */
  fateOf(scope: RuleScope): EpisodeFate {
    return this.#judged.has(keyKey(scope)) ? "close" : "end";
  }
}

function keyKey({ tenant, environment, serviceId }: Pick<RuleScope, "tenant" | "environment" | "serviceId">): string {
  return JSON.stringify([tenant, environment, serviceId]);
}

function findingOf(window: BurningSlo, nowMs: number): RuleFinding | undefined {
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
    observedAtMs: Math.min(window.newestMs, nowMs),
    verdict: burnVerdict(finding, gates),
    explanation: burnText(metricName, objective, finding),
  };
}

function burnVerdict({ tier, rate, longBurn }: BurnFinding, gates: BurnEvaluation["gates"]) {
  return ruleVerdict({
    detector: DETECTOR_BURN,
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
