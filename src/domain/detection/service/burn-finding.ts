// An SLO that burns its error budget too fast, as a finding of its service.
import { ruleVerdict, TIER_Z } from "../gates/rule-verdict.ts";
import type { RuleFinding } from "./rule-episode-set.ts";
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
}

/** Of several SLOs of one service in one environment the one that burns fastest is told. */
export class WorstBurns {
  readonly #worst = new Map<string, RuleFinding>();

  /** Judges one at `nowMs`: 10 to 30 us. */
  add(slo: BurningSlo, nowMs: number): void {
    const finding = findingOf(slo, nowMs);
    if (finding === undefined) return;
    const key = JSON.stringify([finding.tenant, finding.environment, finding.serviceId]);
    const other = this.#worst.get(key);
    if (other === undefined || finding.verdict.z > other.verdict.z) this.#worst.set(key, finding);
  }

  get findings(): RuleFinding[] {
    return [...this.#worst.values()];
  }
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
