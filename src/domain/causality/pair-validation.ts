// Is one metric a cause of another? Granger's test on prepared series, with what a p-value alone does not say: how much the cause explains, whether the other
// direction explains more, and whether forecasts of values that were not fitted get better.
import { leastSquares } from "../forecast/linear-system.ts";
import { type GrangerStatistics, grangerTest, laggedColumns } from "./granger-test.ts";
import { preparedSeries } from "./prepared-series.ts";

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
