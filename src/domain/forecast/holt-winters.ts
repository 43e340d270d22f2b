// Holt-Winters with an additive season, fitted: weights by search, and for each choice of weights the start that is best for it. One-step forecasts are linear
// in the start, so that start is a least squares problem of period + 2 unknowns instead of as many more dimensions of the search.
import { forecastSmoothing, runSmoothing, type SmoothingRun, type SmoothingStart, type SmoothingWeights } from "./exponential-smoothing.ts";
import type { ForecastMethod } from "./forecast-method.ts";
import { leastSquares } from "./linear-system.ts";
import { simplexSearch } from "./simplex-search.ts";

export interface HoltWintersFit {
  readonly weights: Required<SmoothingWeights>;
  readonly run: SmoothingRun;
}

/** Seasons that are longer make the least squares too dear: period^2 x values products for each choice of weights. */
const PERIOD_MAX = 24;
const CYCLES_MIN = 3;
/** Newest values that are fitted. */
const VALUES_MAX = 336;
const EVALUATIONS_MAX = 40;
/** Level and season can be moved against each other: a trace of ridge decides. */
const RIDGE = 1e-9;
const PHI = 0.98;

/** Undefined for a period over 24, and for fewer than three cycles. `phi` 1 is an undamped trend. */
export function fitHoltWinters(values: Float64Array, period: number, phi = 1): HoltWintersFit | undefined {
  if (period > PERIOD_MAX || values.length < CYCLES_MIN * period) return undefined;
  const runWith = (at: readonly number[]) => {
    const weights = weightsAt(at, phi);
    const start = bestStart(values, period, weights);
    return start && { weights, run: runSmoothing(values, weights, start) };
  };
  const error = (at: readonly number[]) => runWith(at)?.run.squaredError ?? Number.POSITIVE_INFINITY;
  const starts = [
    [-1, -4, -3],
    [-6, -6, -6],
  ];
  const found = starts.map((start) => simplexSearch(error, start, 1, EVALUATIONS_MAX / starts.length));
  return runWith(found.reduce((a, b) => (error(b) < error(a) ? b : a)));
}

export const holtWinters: ForecastMethod = {
  name: "holt_winters",
  forecast({ values, periods, horizon }) {
    const period = periods[0];
    if (period === undefined) return undefined;
    const newest = values.subarray(Math.max(0, values.length - VALUES_MAX));
    const fit = fitHoltWinters(newest, period, PHI);
    return fit && forecastSmoothing(fit.run, newest.length, horizon, { phi: PHI });
  },
};

function weightsAt([a = 0, b = 0, c = 0]: readonly number[], phi: number): Required<SmoothingWeights> {
  const share = (x: number) => 1 / (1 + Math.exp(-x));
  return { alpha: share(a), beta: share(b), gamma: share(c), phi };
}

/** The start with the least squared error: the errors of a run of zeros from each unit start are the columns. */
function bestStart(values: Float64Array, period: number, weights: SmoothingWeights): SmoothingStart | undefined {
  const zeros = new Float64Array(values.length);
  const none = new Float64Array(period);
  const units: SmoothingStart[] = [
    { level: 1, season: none },
    { level: 0, trend: 1, season: none },
    ...Array.from({ length: period }, (_, phase) => ({ level: 0, season: none.map((_value, i) => Number(i === phase)) })),
  ];
  const base = runSmoothing(values, weights, { level: 0, season: none }).oneStep;
  const columns = units.map((unit) => runSmoothing(zeros, weights, unit).oneStep);
  const fit = leastSquares(
    columns,
    values.map((value, t) => value - (base[t] as number)),
    RIDGE,
  );
  if (fit === undefined) return undefined;
  const [level, trend, ...season] = fit.coefficients as unknown as [number, number, ...number[]];
  return { level, trend, season };
}
