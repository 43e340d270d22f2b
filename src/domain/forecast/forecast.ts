// The forecast of a series: by one method, or by the best of all of them in a rolling-origin trial, combined; with intervals from the errors of the same
// trial, within what the metric can be. 720 hours and 24 ahead take about 50 ms.
// Forecasts that repeat what was: the last value, the last cycle, the mean of the last cycles.
// Forecast by ARIMA on the seasonally adjusted series; the order by Akaike's criterion among a few (Hyndman & Khandakar 2008), differenced where a unit root
// is not refuted.
// Intervals around a forecast from its own errors at past moments (split conformal prediction; Vovk et al. 2005, by horizon as in Stankeviciute et al. 2021).
// The size of an error may only grow with the horizon: an isotonic curve through the mean errors by step carries the width, one quantile of the errors in
// units of that curve its level.
// How well ways to forecast would have done: each is applied at several past moments, and compared with what came (Tashman 2000).
import { median } from "../detection/robust.ts";
import { type ArimaFit, type ArimaOrder, fitArima, forecastArima } from "./arima.ts";
import { unitRootTest } from "./autocorrelation.ts";
import { type ForecastMethod, type ForecastTask, mean } from "./forecast-method.ts";
import { holtWinters } from "./holt-winters.ts";
import { lagRegression } from "./lag-regression.ts";
import { CYCLES_MIN } from "./seasonal-adjustment.ts";
import { adjusted, dampedTrend, theta } from "./smoothing-methods.ts";
import { temperedHistory } from "./tempered-history.ts";

/** Values that are left before the first origin, at least. */
const HISTORY_MIN = 12;

/** Errors of a forecast that was chosen by these very errors are smaller than those to come, the more so the farther ahead. */
const INFLATION_FIRST = 1.1;
const INFLATION_LAST = 1.2;

/** Errors of one origin depend on one another: the quantile is that of so many independent ones an origin. */
const INDEPENDENT_PER_ORIGIN = 10;

const ARIMA_VALUES_MIN = 20;

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
export const UNIT_ROOT_LAGS = 4;
const UNIT_ROOT_P_MAX = 0.05;

const CYCLES = 4;

/** The slope may be so many times what was seen. */
const SLOPE_FACTOR = 1.5;
/** Room beyond the extremes, as a share of their distance. */
const MARGIN = 0.1;
/** Fewest values that a slope is read from. */
const VALUES_MIN = 16;
/** The slope is the steepest of the whole history and of its last half and quarter. */
const PARTS = [1, 2, 4] as const;

export const FORECAST_ALGORITHMS = ["auto", "arima", "exponential_smoothing"] as const;
export type ForecastAlgorithm = (typeof FORECAST_ALGORITHMS)[number];

export interface ForecastOptions {
  readonly algorithm: ForecastAlgorithm;
  /** Level of the intervals, 0..1. */
  readonly level: number;
  /** Range of the values. */
  readonly range: { readonly lower: number; readonly upper: number };
}

/** A method's part in a forecast. */
export interface MethodShare {
  readonly name: string;
  /** 0..1; those of all parts add up to 1. */
  readonly weight: number;
  /** Mean absolute error over the trial, in the units of the values; null where there was no room for a trial. */
  readonly trialError: number | null;
}

export interface Forecast {
  readonly methods: readonly MethodShare[];
  readonly mean: Float64Array;
  readonly lower: Float64Array;
  readonly upper: Float64Array;
  /** Past moments at which it was tried. */
  readonly origins: number;
}

/** Fewest values to forecast from. */
export const FORECAST_VALUES_MIN = 24;
const ORIGINS_MAX = 6;
/** Methods that are combined by `auto`, weighed by 1 / error^2 (chosen on half of the M4 series, confirmed on the other half; ADR 104). */
const COMBINED_MAX = 3;
/** A trial foretells a third of the values at most: more would leave too little to learn from. */
const TRIAL_SHARE = 1 / 3;

/** The forecast; undefined where `values` has fewer than FORECAST_VALUES_MIN. */
export function forecastSeries(task: ForecastTask, { algorithm, level, range }: ForecastOptions): Forecast | undefined {
  const { horizon } = task;
  if (task.values.length < FORECAST_VALUES_MIN) return undefined;
  const values = temperedHistory(task.values, task.periods);
  const periods = task.periods.filter((period) => values.length >= CYCLES_MIN * period);
  const trialHorizon = Math.min(horizon, Math.floor(values.length * TRIAL_SHARE));
  const origins = trialOrigins(values.length, trialHorizon, ORIGINS_MAX);
  const trials = runTrials({ values, periods, horizon: trialHorizon }, methodsFor(algorithm, periods), origins);
  const chosen = chooseMethods(trials, { values, periods, horizon });
  if (chosen.length === 0) return undefined;
  const mean = withinReach(weighted(chosen.map(({ weight, forecast }) => ({ weight, values: forecast }))), values, periods);
  const errors = trials.actual.map((actual, origin) => {
    const said = weighted(chosen.map(({ weight, trial }) => ({ weight, values: trial[origin] as Float64Array })));
    return said.map((value, step) => Math.abs(value - (actual[step] as number)));
  });
  const widths = halfWidths(errors, level, horizon) ?? rangeWidths(values, horizon);
  const bounded = (value: number) => Math.min(range.upper, Math.max(range.lower, value));
  return {
    methods: chosen.map(({ name, weight, error }) => ({ name, weight, trialError: Number.isFinite(error) ? error : null })),
    mean: mean.map(bounded),
    lower: mean.map((value, step) => bounded(bounded(value) - (widths[step] as number))),
    upper: mean.map((value, step) => bounded(bounded(value) + (widths[step] as number))),
    origins: origins.length,
  };
}

function methodsFor(algorithm: ForecastAlgorithm, periods: readonly number[]): ForecastMethod[] {
  if (algorithm === "arima") return [arima];
  if (algorithm === "exponential_smoothing") return [dampedTrend, holtWinters];
  const seasonal = [...periods.map((_, index) => seasonalNaive(index)), seasonalMean];
  const flat = [dampedTrend, theta, arima, lagRegression].map(withoutSeasons);
  return [naive, ...seasonal, dampedTrend, theta, arima, lagRegression, ...(periods.length > 0 ? flat : [])];
}

/** The same method, blind to the seasons: of a series that has none, their profiles are noise. */
function withoutSeasons({ name, forecast }: ForecastMethod): ForecastMethod {
  return { name: `${name}_without_season`, forecast: (task) => forecast({ ...task, periods: [] }) };
}

interface ChosenMethod {
  readonly name: string;
  readonly weight: number;
  readonly error: number;
  readonly forecast: Float64Array;
  readonly trial: readonly (Float64Array | undefined)[];
}

function chooseMethods(trials: Trials, task: ForecastTask): ChosenMethod[] {
  const best = [...trials.methods].sort((a, b) => compareErrors(a.error, b.error));
  const chosen: Omit<ChosenMethod, "weight">[] = [];
  for (const { method, error, forecasts } of best) {
    if (chosen.length === COMBINED_MAX || (trials.actual.length > 0 && !Number.isFinite(error))) break;
    const forecast = method.forecast(task);
    if (forecast?.every(Number.isFinite)) chosen.push({ name: method.name, error, forecast, trial: forecasts });
  }
  const floor = 1e-9 * Math.max(...chosen.map(({ error }) => (Number.isFinite(error) ? error : 0)), Number.MIN_VALUE);
  const weights = chosen.map(({ error }) => (Number.isFinite(error) ? 1 / Math.max(floor, error) ** 2 : 1));
  const largest = Math.max(...weights);
  const scaled = weights.map((weight) => (largest === Number.POSITIVE_INFINITY ? Number(weight === largest) : weight / largest));
  const sum = scaled.reduce((total, weight) => total + weight, 0);
  return chosen.map((one, i) => ({ ...one, weight: (scaled[i] as number) / sum }));
}

function compareErrors(a: number, b: number): number {
  return a === b ? 0 : a - b;
}

function weighted(parts: readonly { readonly weight: number; readonly values: Float64Array }[]): Float64Array {
  const length = parts[0]?.values.length ?? 0;
  return Float64Array.from({ length }, (_, step) => parts.reduce((sum, { weight, values }) => sum + weight * (values[step] as number), 0));
}

/** Without a trial: as wide as all values, and wider with the horizon. */
function rangeWidths(values: Float64Array, horizon: number): Float64Array {
  const spread = Math.max(...values) - Math.min(...values);
  return Float64Array.from({ length: horizon }, (_, step) => spread * Math.sqrt(step + 1));
}

// How far a forecast may go beyond what has been: as far as the slope that the history really has would take it. A method that follows its last values away, or
// whose coefficients explode, is held there.

/** The forecast, each step within the reach of its history. `periods` are lengths of seasons in steps. */
function withinReach(forecast: Float64Array, values: Float64Array, periods: readonly number[]): Float64Array {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const margin = MARGIN * (high - low);
  const slopes = PARTS.map((part) => slopeOf(values.subarray(values.length - Math.floor(values.length / part)), periods));
  const up = SLOPE_FACTOR * Math.max(0, ...slopes);
  const down = SLOPE_FACTOR * Math.min(0, ...slopes);
  // The last peak of a season may lie a season back.
  const back = Math.max(0, ...periods);
  return forecast.map((value, step) =>
    Math.min(high + margin + up * (step + 1 + back), Math.max(low - margin + down * (step + 1 + back), value)),
  );
}

/** Median slope a step over half of the values, whole seasons where they fit. */
function slopeOf(values: Float64Array, periods: readonly number[]): number {
  if (values.length < VALUES_MIN) return 0;
  const half = Math.floor(values.length / 2);
  const period = Math.max(1, ...periods.filter((one) => one <= half));
  const span = half - (half % period);
  return median(values.subarray(span).map((value, at) => value - (values[at] as number))) / span;
}

const naive: ForecastMethod = {
  name: "naive",
  forecast: ({ values, horizon }) => (values.length === 0 ? undefined : new Float64Array(horizon).fill(values.at(-1) as number)),
};

/** The last cycle of the period at this place of the task's list. */
function seasonalNaive(index: number): ForecastMethod {
  return {
    name: `seasonal_naive_${index + 1}`,
    forecast({ values, periods, horizon }) {
      const period = periods[index];
      if (period === undefined || values.length < period) return undefined;
      return Float64Array.from({ length: horizon }, (_, step) => values[values.length - period + (step % period)] as number);
    },
  };
}

/** Mean of the last four cycles of the longest period, moved to the level of the last one. */
const seasonalMean: ForecastMethod = {
  name: "seasonal_mean",
  forecast({ values, periods, horizon }) {
    const period = periods.findLast((length) => values.length >= 2 * length);
    if (period === undefined) return undefined;
    const cycles = Math.min(CYCLES, Math.floor(values.length / period));
    const from = values.length - cycles * period;
    const profile = Float64Array.from({ length: period }, (_, phase) => {
      let sum = 0;
      for (let cycle = 0; cycle < cycles; cycle++) sum += values[from + cycle * period + phase] as number;
      return sum / cycles;
    });
    const shift = mean(values.subarray(values.length - period)) - mean(profile);
    return Float64Array.from({ length: horizon }, (_, step) => (profile[step % period] as number) + shift);
  },
};

const arima: ForecastMethod = {
  name: "arima",
  forecast: (task) => adjusted(task, (values, horizon) => arimaForecast(values, horizon)),
};

function arimaForecast(values: Float64Array, horizon: number): Float64Array | undefined {
  if (values.length < ARIMA_VALUES_MIN) return undefined;
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

/**
 * Half the width of an interval of `level` 0..1 for each of `horizon` steps, never falling. `errors[origin][step]` are absolute; beyond their steps the
 * width grows with the square root, as that of a random walk. Undefined without any origin.
 */
function halfWidths(errors: readonly Float64Array[], level: number, horizon: number): Float64Array | undefined {
  const steps = errors[0]?.length ?? 0;
  if (steps === 0) return undefined;
  const curve = isotonic(Float64Array.from({ length: steps }, (_, step) => mean(errors.map((row) => row[step] as number))));
  const floor = (curve.at(-1) as number) * 1e-6;
  const ratios = errors.flatMap((row) => [...row].map((error, step) => (floor === 0 ? 0 : error / Math.max(floor, curve[step] as number))));
  const quantile = upperQuantile(ratios, level, errors.length * Math.min(steps, INDEPENDENT_PER_ORIGIN));
  return Float64Array.from({ length: horizon }, (_, step) => {
    const scale = step < steps ? (curve[step] as number) : (curve.at(-1) as number) * Math.sqrt((step + 1) / steps);
    return (INFLATION_FIRST + ((INFLATION_LAST - INFLATION_FIRST) * step) / Math.max(1, horizon - 1)) * quantile * scale;
  });
}

/** Least squares under the condition that no value is below the one before it (pool adjacent violators, Ayer et al. 1955). */
function isotonic(values: Float64Array): Float64Array {
  const blocks: { sum: number; count: number }[] = [];
  for (const value of values) {
    let block = { sum: value, count: 1 };
    for (let last = blocks.at(-1); last !== undefined && last.sum / last.count >= block.sum / block.count; last = blocks.at(-1)) {
      block = { sum: last.sum + block.sum, count: last.count + block.count };
      blocks.pop();
    }
    blocks.push(block);
  }
  return Float64Array.from(blocks.flatMap(({ sum, count }) => new Array<number>(count).fill(sum / count)));
}

/** The conformal quantile: at `level` of the ratios, or beyond the largest of them where `independent` of them cannot tell. */
function upperQuantile(ratios: readonly number[], level: number, independent: number): number {
  const sorted = [...ratios].sort((a, b) => a - b);
  const corrected = level * (1 + 1 / independent);
  const index = Math.min(sorted.length - 1, Math.ceil(corrected * sorted.length) - 1);
  const beyond = corrected > 1 ? corrected + 0.5 / independent : 1;
  return (sorted[index] as number) * beyond;
}

/** Forecasts of a method at each origin; a row is undefined where it could make none. */
interface TrialForecasts {
  readonly method: ForecastMethod;
  readonly forecasts: readonly (Float64Array | undefined)[];
  /** Mean absolute error over all origins; infinite where a forecast is missing or no number. */
  readonly error: number;
}

interface Trials {
  /** Values after each origin. */
  readonly actual: readonly Float64Array[];
  readonly methods: readonly TrialForecasts[];
}

/** Ends of history at which forecasts are tried: up to `originsMax`, a horizon apart where there is room, all with more history than horizon. */
function trialOrigins(length: number, horizon: number, originsMax: number): number[] {
  const origins: number[] = [];
  for (let at = length - horizon; at >= HISTORY_MIN && at >= horizon && origins.length < originsMax; at -= horizon) origins.push(at);
  return origins;
}

function runTrials(task: ForecastTask, methods: readonly ForecastMethod[], origins: readonly number[]): Trials {
  const { values, periods, horizon } = task;
  const actual = origins.map((origin) => values.subarray(origin, origin + horizon));
  const tried = methods.map((method) => {
    const forecasts = origins.map((origin) => method.forecast({ values: values.subarray(0, origin), periods, horizon }));
    return { method, forecasts, error: meanError(forecasts, actual) };
  });
  return { actual, methods: tried };
}

function meanError(forecasts: readonly (Float64Array | undefined)[], actual: readonly Float64Array[]): number {
  let sum = 0;
  let count = 0;
  for (const [origin, forecast] of forecasts.entries()) {
    if (forecast === undefined) return Number.POSITIVE_INFINITY;
    for (let step = 0; step < forecast.length; step++)
      sum += Math.abs((forecast[step] as number) - ((actual[origin] as Float64Array)[step] as number));
    count += forecast.length;
  }
  return count > 0 && Number.isFinite(sum) ? sum / count : Number.POSITIVE_INFINITY;
}
