// Forecast by ARIMA on the seasonally adjusted series; the order by Akaike's criterion among a few (Hyndman & Khandakar 2008), differenced where a unit root
// is not refuted.
import { type ArimaFit, type ArimaOrder, fitArima, forecastArima } from "./arima.ts";
import { unitRootTest } from "./autocorrelation.ts";
import type { ForecastMethod } from "./forecast-method.ts";
import { adjusted } from "./smoothing-methods.ts";

const VALUES_MIN = 20;
/** Newest values that are fitted: more change the fit little and cost in proportion. */
const VALUES_MAX = 400;
const ORDERS = [
  [1, 0],
  [2, 0],
  [1, 1],
  [0, 1],
  [2, 1],
] as const;
const EVALUATIONS_MAX = 70;
const UNIT_ROOT_LAGS = 4;
const UNIT_ROOT_P_MAX = 0.05;

export const arima: ForecastMethod = {
  name: "arima",
  forecast: (task) => adjusted(task, (values, horizon) => arimaForecast(values, horizon)),
};

function arimaForecast(values: Float64Array, horizon: number): Float64Array | undefined {
  if (values.length < VALUES_MIN) return undefined;
  const newest = values.subarray(Math.max(0, values.length - VALUES_MAX));
  const test = unitRootTest(newest, UNIT_ROOT_LAGS);
  const d = test === undefined || test.p > UNIT_ROOT_P_MAX ? 1 : 0;
  let best: ArimaFit | undefined;
  for (const [p, q] of ORDERS) {
    const order: ArimaOrder = { p, d, q, hasMean: d === 0 };
    const fit = fitArima(newest, order, EVALUATIONS_MAX);
    if (fit !== undefined && Number.isFinite(fit.aicc) && (best === undefined || fit.aicc < best.aicc)) best = fit;
  }
  return best && forecastArima(newest, best, horizon).mean;
}
