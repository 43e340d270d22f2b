// The levels that a sample is compared with, and the tables of them that the kernel reads: for each number n of values in the baseline the
// ratio |x - mean| / s (s with n - 1 in the denominator) at which the equivalent z is exactly the level. With x not in the window,
// t = ratio / sqrt(1 + 1/n) has Student's distribution with n - 1 degrees of freedom. Filling all tables takes about 20 ms.
import { finished } from "../../core/fairness/serial-work.ts";
import {
  TABLE_COLUMN_Z,
  TABLE_COLUMNS,
  TABLE_LEVEL_CLEAR,
  TABLE_LEVEL_OPEN,
  TABLE_LEVEL_SEVERE,
  TABLE_LEVEL_STRONG,
  TABLE_SET_OPERATION,
  TABLE_SET_ORDINARY,
} from "../../core/layout/kernel-event.ts";
import { WINDOW_MAX } from "../../core/layout/stream-record.ts";
import { MATURITIES, thresholdFor } from "./gates/baseline-maturity.ts";
import { equivalentZ, logNormalTail, studentQuantile } from "./tail-probability.ts";

/** Values below which nothing is scored (WATCHDOG_MIN_SAMPLES). */
const MINIMUM_SAMPLES_DEFAULT = 12;
const OPERATION_FACTOR = 2;
const OPERATION_FLOOR = 6;
const STRONG_FACTOR = 2;
const CLEAR_FACTOR = 0.7;
const SEVERE_Z = 3;
const LEVELS = 4;
/** Numbers in all tables: two sets of four levels. */
export const THRESHOLD_TABLE_VALUES = 2 * LEVELS * TABLE_COLUMNS;

/** Levels in units of z. */
export interface Levels {
  /** An excursion begins above this. */
  readonly open: number;
  /** Above this one sample is enough: where nothing is to be confirmed, the same as open. */
  readonly strong: number;
  /** Below this an evaluation counts towards the end of an episode. */
  readonly clear: number;
  /** Tier high. */
  readonly severe: number;
}

/** Bar of rule 1.1.8 for operation-class series: twice the threshold, at least 6. */
export function operationBar(threshold: number): number {
  return Math.max(OPERATION_FACTOR * threshold, OPERATION_FLOOR);
}

/** The levels of a stream for WATCHDOG_Z_SCORE_THRESHOLD. Without `confirmation` (WATCHDOG_CONFIRMATION) one sample over the threshold is enough. */
export function levelsFor(threshold: number, operationClass: boolean, confirmation = true): Levels {
  const open = operationClass ? operationBar(threshold) : threshold;
  return { open, strong: confirmation ? STRONG_FACTOR * open : open, clear: CLEAR_FACTOR * open, severe: SEVERE_Z };
}

/** |value - mean| / sd at which n values of baseline make the equivalent z equal to `z`. Infinity for n < 2. */
export function ratioForZ(z: number, n: number): number {
  return n < 2 ? Number.POSITIVE_INFINITY : studentQuantile(logNormalTail(z), n - 1) * Math.sqrt(1 + 1 / n);
}

/** Signed equivalent z of a ratio (value - mean) / sd over n values that do not hold the value. */
export function zOfRatio(ratio: number, n: number): number {
  return equivalentZ(ratio / Math.sqrt(1 + 1 / n), n - 1);
}

/** What all tables of a server have in common. */
export interface DeclarationRule {
  /** WATCHDOG_MIN_SAMPLES. */
  readonly samplesMin: number;
  /** WATCHDOG_CONFIRMATION: one sample over the threshold is not enough. On where it is not given. */
  readonly confirmation?: boolean | undefined;
}

/** Fills both sets of tables; `tables` begins at THRESHOLD_TABLES and holds THRESHOLD_TABLE_VALUES numbers. */
export function fillThresholdTables(
  tables: Float64Array,
  threshold: number,
  rule: DeclarationRule = { samplesMin: MINIMUM_SAMPLES_DEFAULT },
): void {
  finished(thresholdTableSteps(tables, threshold, rule));
}

/** The same in steps: yields behind each level, 2.5 ms. */
function* thresholdTableSteps(tables: Float64Array, threshold: number, rule: DeclarationRule): Generator<void, void> {
  if (!(threshold > 0)) throw new Error(`threshold must be above 0, got ${threshold}`);
  if (tables.length < THRESHOLD_TABLE_VALUES) throw new Error(`tables hold ${tables.length} numbers, ${THRESHOLD_TABLE_VALUES} are needed`);
  const { samplesMin, confirmation } = rule;
  yield* fillSet(tables, TABLE_SET_ORDINARY, levelsFor(threshold, false, confirmation), samplesMin);
  yield* fillSet(tables, TABLE_SET_OPERATION, levelsFor(threshold, true, confirmation), samplesMin);
}

/** The tables of a threshold for services of every maturity (rule 1.1.13), one behind the other; yields between steps. */
export function* profileTableSteps(threshold: number, rule: DeclarationRule): Generator<void, Float64Array> {
  const all = new Float64Array(MATURITIES.length * THRESHOLD_TABLE_VALUES);
  for (const [at, maturity] of MATURITIES.entries()) {
    const tables = all.subarray(at * THRESHOLD_TABLE_VALUES, (at + 1) * THRESHOLD_TABLE_VALUES);
    yield* thresholdTableSteps(tables, thresholdFor(maturity, threshold), rule);
  }
  return all;
}

function* fillSet(tables: Float64Array, set: number, levels: Levels, minimumSamples: number): Generator<void, void> {
  const byLevel: ReadonlyArray<readonly [number, number]> = [
    [TABLE_LEVEL_OPEN, levels.open],
    [TABLE_LEVEL_STRONG, levels.strong],
    [TABLE_LEVEL_CLEAR, levels.clear],
    [TABLE_LEVEL_SEVERE, levels.severe],
  ];
  for (const [level, z] of byLevel) {
    const start = (set * LEVELS + level) * TABLE_COLUMNS;
    tables.fill(Number.POSITIVE_INFINITY, start, start + TABLE_COLUMNS);
    for (let n = Math.max(2, minimumSamples); n <= WINDOW_MAX; n++) tables[start + n] = ratioForZ(z, n);
    tables[start + TABLE_COLUMN_Z] = z;
    yield;
  }
}
