// Two independent detectors on one service within a short window raise the tier by one (rule 1.1.7). Detectors of one family look at the same
// thing and count once for each metric; quantiles of one histogram are one metric.
import type { Tier } from "../detection/anomaly-score.ts";
import { atLeast, type GateResult } from "../detection/gates/gate-result.ts";
import { baseNameOf } from "../distribution/derived-values.ts";

const WINDOW_MS = 120_000;
const INDEPENDENT_MIN = 2;
const RAISED: Readonly<Record<Tier, Tier>> = { low: "medium", medium: "high", high: "high" };

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

/** One detector's finding on a service. */
export interface EnsembleSignal {
  readonly family: DetectorFamily;
  readonly metricName: string;
  readonly atMs: number;
}

export interface EnsembleVerdict {
  readonly tier: Tier;
  readonly gate: GateResult;
}

/** The tier of `own` with what else was raised on its service; signals later than `own` do not count. */
export function ensembleTier(tier: Tier, own: EnsembleSignal, others: readonly EnsembleSignal[]): EnsembleVerdict {
  const sources = new Set([sourceOf(own)]);
  for (const other of others) {
    const age = own.atMs - other.atMs;
    if (age >= 0 && age <= WINDOW_MS) sources.add(sourceOf(other));
  }
  const gate = atLeast("ensemble", sources.size, INDEPENDENT_MIN);
  return { tier: gate.passed ? RAISED[tier] : tier, gate };
}

/** Whether another detector has confirmed this one: what the rules of saturation call corroborated. */
export function isCorroborated(own: EnsembleSignal, others: readonly EnsembleSignal[]): boolean {
  return ensembleTier("low", own, others).gate.passed;
}

/** What counts as one detector. */
export function sourceOf({ family, metricName }: EnsembleSignal): string {
  return family === "metric" ? `metric ${baseNameOf(metricName)}` : family;
}
