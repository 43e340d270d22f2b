// Forecasts by exponential smoothing of the seasonally adjusted series: a damped trend, and the Theta method (Assimakopoulos & Nikolopoulos 2000; Hyndman &
// Billah 2003: simple smoothing with half the drift).
import { forecastSmoothing, runSmoothing, type SmoothingWeights } from "./exponential-smoothing.ts";
import type { ForecastMethod, ForecastTask } from "./forecast-method.ts";
import { seasonalAdjustment } from "./seasonal-adjustment.ts";
import { simplexSearch } from "./simplex-search.ts";

const VALUES_MIN = 8;
const EVALUATIONS_MAX = 90;
/** Bounds of the damping, as in the M competitions' damped trend. */
const PHI_MIN = 0.8;
const PHI_MAX = 0.98;
/** The start is read from so many values. */
const START_VALUES = 10;

export const dampedTrend: ForecastMethod = {
  name: "exponential_smoothing",
  forecast: (task) => adjusted(task, dampedForecast),
};

export const theta: ForecastMethod = {
  name: "theta",
  forecast: (task) => adjusted(task, thetaForecast),
};

/** Forecast of the series without its seasons, and the seasons on it. */
export function adjusted(
  { values, periods, horizon }: ForecastTask,
  forecast: (values: Float64Array, horizon: number) => Float64Array | undefined,
): Float64Array | undefined {
  if (values.length < VALUES_MIN) return undefined;
  const { adjusted: flat, season } = seasonalAdjustment(values, periods);
  return forecast(flat, horizon)?.map((value, step) => value + season(values.length + step));
}

function dampedForecast(values: Float64Array, horizon: number): Float64Array {
  const start = startOf(values);
  const weightsOf = ([a = 0, b = 0, c = 0]: readonly number[]): Required<Pick<SmoothingWeights, "alpha" | "beta" | "phi">> => ({
    alpha: 0.01 + 0.98 * logistic(a),
    beta: 0.5 * logistic(b),
    phi: PHI_MIN + (PHI_MAX - PHI_MIN) * logistic(c),
  });
  const best = simplexSearch((at) => runSmoothing(values, weightsOf(at), start).squaredError, [0, -3, 1], 1, EVALUATIONS_MAX);
  const weights = weightsOf(best);
  return forecastSmoothing(runSmoothing(values, weights, start), values.length, horizon, { phi: weights.phi });
}

function thetaForecast(values: Float64Array, horizon: number): Float64Array {
  const n = values.length;
  const start = { level: startOf(values).level };
  const alphaOf = ([a = 0]: readonly number[]) => 0.01 + 0.98 * logistic(a);
  const alpha = alphaOf(
    simplexSearch((at) => runSmoothing(values, { alpha: alphaOf(at) }, start).squaredError, [0], 1, EVALUATIONS_MAX / 3),
  );
  const { level } = runSmoothing(values, { alpha }, start);
  const half = slopeOf(values) / 2;
  return Float64Array.from({ length: horizon }, (_, h) => level + half * (h + 1 / alpha - (1 - alpha) ** n / alpha));
}

function startOf(values: Float64Array): { level: number; trend: number } {
  const first = values.subarray(0, Math.min(START_VALUES, values.length));
  return { level: first.reduce((sum, value) => sum + value, 0) / first.length, trend: slopeOf(first) };
}

/** Slope of the line through all values by least squares. */
function slopeOf(values: Float64Array): number {
  const middle = (values.length - 1) / 2;
  let top = 0;
  let bottom = 0;
  for (let t = 0; t < values.length; t++) {
    top += (t - middle) * (values[t] as number);
    bottom += (t - middle) ** 2;
  }
  return bottom > 0 ? top / bottom : 0;
}

function logistic(x: number): number {
  return 1 / (1 + Math.exp(-x));
}
