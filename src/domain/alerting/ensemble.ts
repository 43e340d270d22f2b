// Two independent detectors that fire on one service within a short window raise the tier of both by one (rule 1.1.7), whichever came first: the later one when it
// fires, the earlier one then too, the stronger of them first. What counts is when a finding fired; one that only goes on corroborates nothing. Detectors of one
// family look at the same thing and count once for each metric; quantiles of one histogram are one metric, and how full a metric is says nothing that its departure
// does not. Metrics of one family are one detector several times: of many metrics two are always at it by chance, three corroborate what is weak, which is medium then,
// and make nothing high.
import type { Tier } from "../detection/anomaly-score.ts";
import { atLeast, type GateResult } from "../detection/gates/gate-result.ts";
import { baseNameOf } from "../distribution/derived-values.ts";

const WINDOW_MS = 120_000;
const INDEPENDENT_MIN = 2;
/** Metrics of one family that corroborate each other. */
const METRICS_MIN = 3;
const RAISED: Readonly<Record<Tier, Tier>> = { low: "medium", medium: "high", high: "high" };
const WEAK_RAISED: Readonly<Record<Tier, Tier>> = { ...RAISED, medium: "medium" };

export const DETECTOR_FAMILIES = [
  "metric",
  "multivariate",
  "saturation",
  "slo_burn",
  "stale",
  "cascade",
  "logs",
  "external",
  "manual",
] as const;
export type DetectorFamily = (typeof DETECTOR_FAMILIES)[number];

/** Families that look at values of one metric: two of them on the same metric see the same thing. */
const OF_ONE_METRIC: ReadonlySet<DetectorFamily> = new Set<DetectorFamily>(["metric", "saturation"]);

/** One detector's finding on a service; `atMs` is when it fired. */
export interface EnsembleSignal {
  readonly family: DetectorFamily;
  readonly metricName: string;
  readonly atMs: number;
  /** Usual time between values of what it was found in; absent, or 0, where that is not known. */
  readonly intervalMs?: number;
}

export interface EnsembleVerdict {
  readonly tier: Tier;
  readonly gate: GateResult;
}

/** The tier of `own` with what else has fired on its service. */
export function ensembleTier(tier: Tier, own: EnsembleSignal, others: readonly EnsembleSignal[]): EnsembleVerdict {
  const sources = new Set([sourceOf(own)]);
  let isOfOneFamily = true;
  for (const other of others) {
    if (Math.abs(own.atMs - other.atMs) > windowMs(own, other) || seeTheSame(own, other)) continue;
    sources.add(sourceOf(other));
    if (other.family !== own.family) isOfOneFamily = false;
  }
  const gate = atLeast("ensemble", sources.size, isOfOneFamily ? METRICS_MIN : INDEPENDENT_MIN);
  const raised = isOfOneFamily ? WEAK_RAISED[tier] : RAISED[tier];
  return { tier: gate.passed ? raised : tier, gate };
}

/** Whether another detector has confirmed this one: what the rules of saturation call corroborated. */
export function isCorroborated(own: EnsembleSignal, others: readonly EnsembleSignal[]): boolean {
  return ensembleTier("low", own, others).gate.passed;
}

/** Values that come more seldom than that show what happens at one time an interval apart. */
function windowMs(one: EnsembleSignal, other: EnsembleSignal): number {
  return Math.max(WINDOW_MS, Math.min(one.intervalMs ?? 0, other.intervalMs ?? 0));
}

function seeTheSame(one: EnsembleSignal, other: EnsembleSignal): boolean {
  const ofOneMetric = OF_ONE_METRIC.has(one.family) && OF_ONE_METRIC.has(other.family);
  return ofOneMetric && baseNameOf(one.metricName) === baseNameOf(other.metricName);
}

/** Name of a detector's source: findings with the same one count as one detector. */
export function sourceOf({ family, metricName }: EnsembleSignal): string {
  return family === "metric" ? `metric ${baseNameOf(metricName)}` : family;
}
