// A finding of saturation: what an alert says of it, and the verdict that the ledger keeps.
import { MINUTE_MS } from "../../core/time/durations.ts";
import { momentText } from "../../core/time/rfc3339.ts";
import type { Tier } from "../detection/anomaly-score.ts";
import type { GateResult } from "../detection/gates/gate-result.ts";
import { type RuleVerdict, ruleVerdict, TIER_Z } from "../detection/gates/rule-verdict.ts";
import type { Bounds } from "./bounded-name.ts";
import type { Projection } from "./projection.ts";
import { TIER_MINUTES } from "./saturation-tier.ts";

export const DETECTOR_SATURATION = "saturation";
/** Gate that holds a breach which comes as those before it. */
export const NOT_A_HABIT = "not_a_habit";
/** Just below the z at which the next tier begins. */
const BELOW_NEXT = 0.001;
const Z_NEXT_AFTER_HIGH = 6;
const HOURS_REPORTED_MAX = 48;

export type SaturationRule = "time_to_exhaustion" | "headroom_breach" | "resident_high";

export interface SaturationFinding {
  readonly rule: SaturationRule;
  readonly tier: Tier;
  readonly kind: Bounds["kind"];
  /** In the series' unit. */
  readonly value: number;
  /** Limit that it runs into: the capacity of a utilization, 0 of what remains. */
  readonly limit: number;
  readonly unit: string;
  readonly instance: string | null;
  readonly projection: Projection | null;
  /** Null without a projection. */
  readonly exhaustedAtMs: number | null;
  readonly verdict: RuleVerdict;
  readonly text: string;
}

/** Gates are those of all rules that were asked, passed and failed. */
export interface SaturationEvaluation {
  readonly finding: SaturationFinding | null;
  /** Breach that would have been found, had it not come as those before it. */
  readonly habitual?: SaturationFinding;
  readonly gates: readonly GateResult[];
}

export interface SaturationObservation {
  readonly names: { readonly metricName: string; readonly instance: string | null };
  readonly nowMs: number;
  readonly bounds: Bounds;
  readonly value: number;
  readonly baseline: number;
  /** Five-minute medians that the finding rests on. */
  readonly baselineValues: number;
  readonly ageSeconds: number;
}

export interface FiredRule {
  readonly rule: SaturationRule;
  readonly tier: Tier;
  readonly projection: Projection | null;
  readonly gates: readonly GateResult[];
}

export function saturationFinding(of: SaturationObservation, fired: FiredRule): SaturationFinding {
  const { bounds, value, nowMs } = of;
  const limit = bounds.kind === "remaining" ? 0 : (bounds.capacity as number);
  const z = (bounds.kind === "remaining" ? -1 : 1) * zOf(fired);
  return {
    rule: fired.rule,
    tier: fired.tier,
    kind: bounds.kind,
    value,
    limit,
    unit: bounds.unit,
    instance: of.names.instance,
    projection: fired.projection,
    exhaustedAtMs: fired.projection === null ? null : Math.round(nowMs + fired.projection.minutes * MINUTE_MS),
    verdict: ruleVerdict({
      detector: DETECTOR_SATURATION,
      observed: value,
      expected: of.baseline,
      lower: Math.min(limit, of.baseline),
      upper: Math.max(limit, of.baseline),
      z,
      threshold: limit,
      baselineValues: of.baselineValues,
      baselineAgeSeconds: of.ageSeconds,
      gates: fired.gates,
    }),
    text: saturationText(of, fired, limit),
  };
}

/** The z that a tier stands for, growing within it as the end comes closer: 1 at 24 h, 2 at 6 h, 3 at 1 h, 6 at the end. */
function zOf({ tier, projection, rule }: FiredRule): number {
  const from = TIER_Z[tier];
  const next = tier === "high" ? Z_NEXT_AFTER_HIGH : TIER_Z[tier === "medium" ? "high" : "medium"];
  if (rule !== "time_to_exhaustion" || projection === null) return from;
  const minutes = Math.max(1, projection.minutes);
  const shorter = tier === "high" ? 1 : TIER_MINUTES[tier === "medium" ? "high" : "medium"];
  const share = Math.log(TIER_MINUTES[tier] / minutes) / Math.log(TIER_MINUTES[tier] / shorter);
  return Math.min(next - BELOW_NEXT, Math.max(from, from + share * (next - from)));
}

/** Such as: disk.used_percent on node-3 is 87.2% of 100%; rising 3.1%/h (2.7 to 3.6), projected full at 2026-01-05T14:20Z (in 4.1 h, range 3.6 h to 4.7 h). */
function saturationText({ names, bounds, value, nowMs, baseline }: SaturationObservation, fired: FiredRule, limit: number): string {
  const { unit, kind } = bounds;
  const name = names.instance === null ? names.metricName : `${names.metricName} on ${names.instance}`;
  const ends =
    bounds.capacity !== null && kind === "remaining"
      ? `${quantity(limit, unit)} (capacity ${quantity(bounds.capacity, unit)})`
      : quantity(limit, unit);
  const head = `${name} is ${quantity(value, unit)}${kind === "remaining" ? ", draining to" : " of"} ${ends}`;
  return `${head}; ${[levelText(fired.rule, baseline, unit), projectionText(fired.projection, unit, kind, nowMs)].filter((part) => part !== "").join("; ")}`;
}

function levelText(rule: SaturationRule, baseline: number, unit: string): string {
  if (rule === "headroom_breach") return `over 92% of its capacity, usually ${quantity(baseline, unit)}`;
  return rule === "resident_high"
    ? `more than half of what it usually leaves is gone (usually ${quantity(baseline, unit)}), with another anomaly`
    : "";
}

function projectionText(projection: Projection | null, unit: string, kind: Bounds["kind"], nowMs: number): string {
  if (projection === null) return "";
  const { perHour, perHourLower, perHourUpper, minutes, minutesEarliest, minutesLatest } = projection;
  const rate = `${kind === "remaining" ? "falling" : "rising"} ${quantity(perHour, unit)}/h (${figure(perHourLower)} to ${figure(perHourUpper)})`;
  const at = momentText(Math.round(nowMs / MINUTE_MS + minutes) * MINUTE_MS);
  const range = `range ${duration(minutesEarliest)} to ${duration(minutesLatest)}`;
  return `${rate}, projected ${kind === "remaining" ? "empty" : "full"} at ${at} (in ${duration(minutes)}, ${range})`;
}

function duration(minutes: number): string {
  if (minutes < 90) return `${Math.round(minutes)} min`;
  return minutes > HOURS_REPORTED_MAX * 60 ? `over ${HOURS_REPORTED_MAX} h` : `${(minutes / 60).toFixed(1)} h`;
}

function quantity(value: number, unit: string): string {
  return unit === "" || unit === "%" ? `${figure(value)}${unit}` : `${figure(value)} ${unit}`;
}

/** Three significant digits; whole numbers from 1,000 on. */
function figure(value: number): string {
  return Math.abs(value) >= 1000 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
