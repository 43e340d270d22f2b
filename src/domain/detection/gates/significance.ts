// What an excursion must be worth by the class of its series (rule 1.1.8): operation-class ones clear twice the threshold, at least 6, and
// differ by half from their median; curated and aggregate ones take the threshold as configured.
import { FLAG_OPERATION, FLAG_PERCENT } from "../../../core/layout/stream-record.ts";
import { operationBar } from "../thresholds.ts";
import { above, atLeast, type GateResult } from "./gate-result.ts";

const SIGNIFICANT_DEVIATION = 0.5;
const MEDIAN_MIN = 1e-9;

export interface MetricClass {
  /** From spans, per operation; all others are curated business metrics and aggregates. */
  readonly operation: boolean;
  /** A utilization or percent-style name. */
  readonly percent: boolean;
}

/** Class of a stream by the flags that it was defined with (domain/series/classification.ts). */
export function metricClassOf(flags: number): MetricClass {
  return { operation: (flags & FLAG_OPERATION) !== 0, percent: (flags & FLAG_PERCENT) !== 0 };
}

/** |z| that a series of this class must be above, for WATCHDOG_Z_SCORE_THRESHOLD. */
export function barOf(metricClass: MetricClass, threshold: number): number {
  return metricClass.operation ? operationBar(threshold) : threshold;
}

export interface Excursion {
  /** Signed equivalent z. */
  readonly z: number;
  readonly value: number;
  /** Median of the baseline. */
  readonly median: number;
  /** WATCHDOG_Z_SCORE_THRESHOLD. */
  readonly threshold: number;
}

/** The bar, and for operation-class series that are no percentages the 50 % gate. */
export function significanceGates(metricClass: MetricClass, { z, value, median, threshold }: Excursion): GateResult[] {
  const bar = above(metricClass.operation ? "operation_bar" : "threshold", Math.abs(z), barOf(metricClass, threshold));
  if (!metricClass.operation || metricClass.percent) return [bar];
  const deviation = Math.abs(value - median) / Math.max(Math.abs(median), MEDIAN_MIN);
  return [bar, atLeast("practical_significance", deviation, SIGNIFICANT_DEVIATION)];
}
