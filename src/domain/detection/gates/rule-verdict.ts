// The verdict of a detector that is a rule and not a statistic: saturation, SLO burn, stale service, cascade. The same record as any other
// verdict (verdict.ts); its tail probability is that of the equivalent z which the rule's tier stands for.
import type { Tier } from "../anomaly-score.ts";
import { logNormalTail, reportedProbability } from "../tail-probability.ts";
import type { Verdict } from "../verdict.ts";
import { firstFailed, type GateResult } from "./gate-result.ts";

/** A verdict whose gates come from rules. */
export interface RuleVerdict extends Omit<Verdict, "gates"> {
  readonly gates: readonly GateResult[];
}

/** Observation of a rule; the rest of the record follows. */
export interface RuleObservation extends Pick<Verdict, "detector" | "observed" | "expected" | "lower" | "upper" | "z" | "threshold"> {
  readonly baselineValues: number;
  readonly baselineAgeSeconds: number;
  readonly gates: readonly GateResult[];
}

/** The z at which each tier begins, low where something is worth a line in the log (anomaly-score.ts: 0.15, 0.40, 0.70). */
export const TIER_Z: Readonly<Record<Tier, number>> = { low: 1, medium: 2, high: 3 };

/** Number that JSON can say: without end is as large as a number can be, and what could not be measured is 0. */
function finite(value: number): number {
  return Number.isNaN(value) ? 0 : Math.min(Number.MAX_VALUE, Math.max(-Number.MAX_VALUE, value));
}

export function ruleVerdict(of: RuleObservation): RuleVerdict {
  const { detector, expected, gates } = of;
  return {
    detector,
    observed: of.observed,
    expected,
    lower: of.lower,
    upper: of.upper,
    z: of.z,
    p: reportedProbability(logNormalTail(of.z)),
    threshold: of.threshold,
    baseline: { n: of.baselineValues, mean: expected, sd: 0, median: expected, bucket: null, age_seconds: of.baselineAgeSeconds },
    contributions: [],
    gates: gates.map((gate) => ({ ...gate, value: finite(gate.value), limit: finite(gate.limit) })),
    suppressed_by: firstFailed(gates)?.name ?? null,
    layers: [detector],
  };
}
