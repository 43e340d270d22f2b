// How well ways to forecast would have done: each is applied at several past moments, and compared with what came (Tashman 2000).
import type { ForecastMethod, ForecastTask } from "./forecast-method.ts";

/** Forecasts of a method at each origin; a row is undefined where it could make none. */
export interface TrialForecasts {
  readonly method: ForecastMethod;
  readonly forecasts: readonly (Float64Array | undefined)[];
  /** Mean absolute error over all origins; infinite where a forecast is missing or no number. */
  readonly error: number;
}

export interface Trials {
  /** Values after each origin. */
  readonly actual: readonly Float64Array[];
  readonly methods: readonly TrialForecasts[];
}

/** Values that are left before the first origin, at least. */
const HISTORY_MIN = 12;

/** Ends of history at which forecasts are tried: up to `originsMax`, a horizon apart where there is room, all with more history than horizon. */
export function trialOrigins(length: number, horizon: number, originsMax: number): number[] {
  const origins: number[] = [];
  for (let at = length - horizon; at >= HISTORY_MIN && at >= horizon && origins.length < originsMax; at -= horizon) origins.push(at);
  return origins;
}

export function runTrials(task: ForecastTask, methods: readonly ForecastMethod[], origins: readonly number[]): Trials {
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
