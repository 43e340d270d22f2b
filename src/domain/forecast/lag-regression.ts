// Forecast by a ridge regression on lagged values: the newest ones, and those about a whole number of seasons ago. Applied to its own forecasts step by step.
import { type ForecastMethod, mean } from "./forecast-method.ts";
import { leastSquares } from "./linear-system.ts";

const RIDGE = 1e-3;
/** Rows that must be there for each lag. */
const ROWS_PER_LAG = 4;
/** Newest rows that are fitted. */
const ROWS_MAX = 720;
const SHORT_LAGS = [1, 2, 3];
/** Cycles back, and places around each. */
const CYCLES = [1, 2, 3, 4, 5, 6];
const AROUND = [-1, 0, 1];

export const lagRegression: ForecastMethod = {
  name: "lag_regression",
  forecast({ values, periods, horizon }) {
    const lags = lagsFor(values.length, periods);
    const longest = lags.at(-1);
    if (longest === undefined) return undefined;
    const level = mean(values);
    const scale = Math.sqrt(mean(values.map((value) => (value - level) ** 2))) || 1;
    const x = values.map((value) => (value - level) / scale);
    const from = Math.max(longest, x.length - ROWS_MAX);
    const columns = [new Float64Array(x.length - from).fill(1), ...lags.map((lag) => x.subarray(from - lag, x.length - lag))];
    const fit = leastSquares(columns, x.subarray(from), RIDGE);
    if (fit === undefined) return undefined;
    return applied(x, { lags, coefficients: fit.coefficients, horizon }).map((value) => level + scale * value);
  },
};

/** Those lags for which there are rows enough, ascending. */
function lagsFor(length: number, periods: readonly number[]): number[] {
  const lags = new Set(SHORT_LAGS);
  for (const [index, period] of periods.entries()) {
    const cycles = index === 0 ? CYCLES : CYCLES.slice(0, 2);
    for (const cycle of cycles) for (const around of cycle === 1 ? AROUND : [0]) lags.add(cycle * period + around);
  }
  const ascending = [...lags].sort((a, b) => a - b);
  while (ascending.length > 0) {
    if (length - (ascending.at(-1) as number) >= ROWS_PER_LAG * (ascending.length + 1)) return ascending;
    ascending.pop();
  }
  return ascending;
}

/** Bounded to where the values have been, and as far again on either side: an unstable recursion ends there. */
function applied(
  x: Float64Array,
  { lags, coefficients, horizon }: { readonly lags: readonly number[]; readonly coefficients: Float64Array; readonly horizon: number },
): Float64Array {
  const [low, high] = [Math.min(...x), Math.max(...x)];
  const whole = new Float64Array(x.length + horizon);
  whole.set(x);
  for (let t = x.length; t < whole.length; t++) {
    let next = coefficients[0] as number;
    for (const [i, lag] of lags.entries()) next += (coefficients[i + 1] as number) * (whole[t - lag] as number);
    whole[t] = Math.min(2 * high - low, Math.max(2 * low - high, next));
  }
  return whole.subarray(x.length);
}
