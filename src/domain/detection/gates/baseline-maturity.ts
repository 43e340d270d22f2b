// How long a service has been known (rule 1.1.13), and how much that moves its thresholds.

import { HOUR_MS } from "../../../core/base/durations.ts";

export type Maturity = "young" | "settling" | "mature";

const SETTLING_FROM_MS = 24 * HOUR_MS;
const MATURE_FROM_MS = 7 * 24 * HOUR_MS;
/** Factor of the threshold: younger services are somewhat more sensitive. */
const THRESHOLD_FACTOR: Readonly<Record<Maturity, number>> = { young: 0.9, settling: 0.95, mature: 1 };

/** Tier by the age of the baseline: young below 24 hours, settling below 7 days. */
export function maturityOf(baselineSinceMs: number, nowMs: number): Maturity {
  const age = nowMs - baselineSinceMs;
  if (age < SETTLING_FROM_MS) return "young";
  return age < MATURE_FROM_MS ? "settling" : "mature";
}

/** WATCHDOG_Z_SCORE_THRESHOLD as it holds for a service of this maturity. */
export function thresholdFor(maturity: Maturity, threshold: number): number {
  return threshold * THRESHOLD_FACTOR[maturity];
}
