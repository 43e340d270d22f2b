// How long a service has been known (rule 1.1.13), and how much that moves its thresholds.
import { MATURE_FROM_MS, SETTLING_FROM_MS } from "../../../core/layout/service-age.ts";

/** All of them; the kernel knows them by their places (MATURITY_*). */
export const MATURITIES = ["mature", "settling", "young"] as const;
export type Maturity = (typeof MATURITIES)[number];

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
