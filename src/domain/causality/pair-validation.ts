// Is one metric a cause of another? Granger's test on prepared series, with what a p-value alone does not say: how much the cause explains, whether the other
// direction explains more, and whether forecasts of values that were not fitted get better.
// Granger's test for one pair: do past values of the cause help to foretell the effect beyond the effect's own past (and that of controls)?
// Granger 1969; statistics as in statsmodels' grangercausalitytests.
import { leastSquares } from "../forecast/linear-system.ts";
import { preparedSeries } from "./prepared-series.ts";
import { chiSquareTail, fTail } from "./probability-tails.ts";

export interface PairValidation {
  readonly isCausal: boolean;
  /** Square root of the share of the effect's unexplained variance that the cause explains, 0..1. */
  readonly strength: number;
  /** Lag of the largest coefficient of the cause, in steps. */
  readonly lag: number;
  readonly p: number;
  /** 1 - p, less where the effect leads the cause as well, 0 for what is not causal. */
  readonly confidence: number;
  readonly f: number;
  readonly rows: number;
  /** Share by which the squared error of the last quarter falls, fitted on the first three; below 0 where it grows. */
  readonly heldOutGain: number;
  /** The same share as `strength` squared, of the other direction. */
  readonly reverseGain: number;
  readonly isFeedback: boolean;
}

const P_MAX = 0.01;
const GAIN_MIN = 0.01;
const REVERSE_P_MAX = 0.01;
const TRAINING_SHARE = 0.75;

/** Undefined where a series is constant, or shorter than its lags need. */
export function validatePair(
  cause: Float64Array,
  effect: Float64Array,
  options: { readonly stepMs: number; readonly lagMax: number },
): PairValidation | undefined {
  const [from, to] = [preparedSeries(cause, options), preparedSeries(effect, options)];
  if (from === undefined || to === undefined) return undefined;
  const test = bestTest(from, to, options.lagMax);
  if (test === undefined) return undefined;
  const reverse = grangerTest(to, from, test.lag);
  const heldOutGain = gainOnHeldOut(from, to, test.lag);
  const reverseGain = reverse === undefined || reverse.p > REVERSE_P_MAX ? 0 : reverse.gain;
  const isCausal = test.p < P_MAX && test.gain >= GAIN_MIN && heldOutGain > 0;
  const doubt = reverseGain > test.gain ? 0.5 : 1;
  return {
    isCausal,
    strength: Math.sqrt(Math.max(0, test.gain)),
    lag: strongestLag(from, to, test.lag),
    p: test.p,
    confidence: isCausal ? (1 - test.p) * doubt : 0,
    f: test.f,
    rows: from.length - test.lag,
    heldOutGain,
    reverseGain,
    isFeedback: isCausal && reverseGain >= GAIN_MIN,
  };
}

/** The number of lags with the least BIC of the full model. */
function bestTest(cause: Float64Array, effect: Float64Array, lagMax: number): GrangerStatistics | undefined {
  let best: GrangerStatistics | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (let lag = 1; lag <= lagMax; lag++) {
    const rows = effect.length - lag;
    const full = leastSquares([...laggedColumns(effect, lag), ...laggedColumns(cause, lag)], effect.subarray(lag), 1e-9);
    if (full === undefined || rows < 6 * lag) continue;
    const criterion = Math.log(full.rss / rows) + (2 * lag * Math.log(rows)) / rows;
    const test = criterion < least ? grangerTest(cause, effect, lag) : undefined;
    if (test === undefined) continue;
    least = criterion;
    best = test;
  }
  return best;
}

function strongestLag(cause: Float64Array, effect: Float64Array, lag: number): number {
  const columns = [...laggedColumns(cause, lag), ...laggedColumns(effect, lag)];
  const fit = leastSquares(columns, effect.subarray(lag), 1e-9);
  if (fit === undefined) return lag;
  const weights = Array.from(
    { length: lag },
    (_, k) => Math.abs(fit.coefficients[k] as number) / Math.sqrt(fit.inverseDiagonal[k] as number),
  );
  return weights.indexOf(Math.max(...weights)) + 1;
}

function gainOnHeldOut(cause: Float64Array, effect: Float64Array, lag: number): number {
  const own = laggedColumns(effect, lag);
  const rows = effect.length - lag;
  const split = Math.floor(TRAINING_SHARE * rows);
  const restricted = heldOutError(own, effect.subarray(lag), split);
  const full = heldOutError([...own, ...laggedColumns(cause, lag)], effect.subarray(lag), split);
  return restricted > 0 && Number.isFinite(full) ? 1 - full / restricted : 0;
}

function heldOutError(columns: readonly Float64Array[], y: Float64Array, split: number): number {
  const fit = leastSquares(
    columns.map((column) => column.subarray(0, split)),
    y.subarray(0, split),
    1e-9,
  );
  if (fit === undefined) return Number.POSITIVE_INFINITY;
  let error = 0;
  for (let t = split; t < y.length; t++) {
    let rest = y[t] as number;
    for (let i = 0; i < columns.length; i++) rest -= (fit.coefficients[i] as number) * ((columns[i] as Float64Array)[t] as number);
    error += rest * rest;
  }
  return error;
}

/** Statistics of one test with `lag` lags. */
interface GrangerStatistics {
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
function laggedColumns(series: Float64Array, lag: number): Float64Array[] {
  return Array.from({ length: lag }, (_, k) => series.subarray(lag - k - 1, series.length - k - 1));
}
