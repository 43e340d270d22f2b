// Forecasts that repeat what was: the last value, the last cycle, the mean of the last cycles.
import type { ForecastMethod } from "./forecast-method.ts";
import { mean } from "./mean.ts";

export const naive: ForecastMethod = {
  name: "naive",
  forecast: ({ values, horizon }) => (values.length === 0 ? undefined : new Float64Array(horizon).fill(values.at(-1) as number)),
};

/** The last cycle of the period at this place of the task's list. */
export function seasonalNaive(place: number): ForecastMethod {
  return {
    name: `seasonal_naive_${place + 1}`,
    forecast({ values, periods, horizon }) {
      const period = periods[place];
      if (period === undefined || values.length < period) return undefined;
      return Float64Array.from({ length: horizon }, (_, step) => values[values.length - period + (step % period)] as number);
    },
  };
}

const CYCLES = 4;

/** Mean of the last four cycles of the longest period, moved to the level of the last one. */
export const seasonalMean: ForecastMethod = {
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
