// Granger's test for one pair: do past values of the cause help to foretell the effect beyond the effect's own past (and that of controls)?
// Granger 1969; statistics as in statsmodels' grangercausalitytests.
import { leastSquares } from "../forecast/linear-system.ts";
import { chiSquareTail, fTail } from "./probability-tails.ts";

/** Statistics of one test with `lag` lags. */
export interface GrangerStatistics {
  readonly lag: number;
  readonly f: number;
  readonly p: number;
  readonly chiSquare: number;
  readonly chiSquareP: number;
  readonly numerator: number;
  readonly denominator: number;
  /** Share of the restricted model's squared error that the cause explains, 0..1. */
  readonly gain: number;
}

/**
 * Test of `cause` -> `effect` with lags 1..`lag` of both and of every control, and a constant, on the sample that is left after `lag`. Undefined where
 * the sample is too short, or its columns depend on one another.
 */
export function grangerTest(
  cause: Float64Array,
  effect: Float64Array,
  lag: number,
  controls: readonly Float64Array[] = [],
): GrangerStatistics | undefined {
  const rows = effect.length - lag;
  const own = [effect, ...controls].flatMap((series) => laggedColumns(series, lag));
  const restrictedColumns = [new Float64Array(Math.max(0, rows)).fill(1), ...own];
  const denominator = rows - restrictedColumns.length - lag;
  if (denominator < 1) return undefined;
  const y = effect.subarray(lag);
  const restricted = leastSquares(restrictedColumns, y);
  const full = leastSquares([...restrictedColumns, ...laggedColumns(cause, lag)], y);
  if (restricted === undefined || full === undefined || !(full.rss > 0)) return undefined;
  const f = (restricted.rss - full.rss) / lag / (full.rss / denominator);
  const chiSquare = (rows * (restricted.rss - full.rss)) / full.rss;
  return {
    lag,
    f,
    p: fTail(f, lag, denominator),
    chiSquare,
    chiSquareP: chiSquareTail(chiSquare, lag),
    numerator: lag,
    denominator,
    gain: 1 - full.rss / restricted.rss,
  };
}

/** Lags 1..`lag` of a series as columns: row t holds the value at t + lag - k. */
export function laggedColumns(series: Float64Array, lag: number): Float64Array[] {
  return Array.from({ length: lag }, (_, k) => series.subarray(lag - k - 1, series.length - k - 1));
}
