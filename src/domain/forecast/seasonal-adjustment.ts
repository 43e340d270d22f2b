// Seasons taken out of a series and put back into its forecast: the profile of each period around a moving average, shorter periods first, recent cycles
// weighing more.

export interface SeasonalAdjustment {
  /** The values without their seasons. */
  readonly adjusted: Float64Array;
  /** Sum of the seasons at place t, beyond the end as well. */
  season(t: number): number;
}

/** A cycle weighs so much of the one after it. */
const CYCLE_WEIGHT = 0.8;
/** A period takes part when so many of its cycles are there. */
export const CYCLES_MIN = 2;

/** Additive adjustment for those of the periods that have cycles enough. */
export function seasonalAdjustment(values: Float64Array, periods: readonly number[]): SeasonalAdjustment {
  const usable = periods.filter((period) => period > 1 && values.length >= CYCLES_MIN * period);
  const longest = usable.at(-1);
  if (longest === undefined) return { adjusted: values, season: () => 0 };
  const level = movingLevel(values, longest);
  const rest = values.map((value, t) => value - (level[t] as number));
  const profiles = usable.map((period) => {
    const profile = phaseProfile(rest, period);
    for (let t = 0; t < rest.length; t++) rest[t] = (rest[t] as number) - (profile[t % period] as number);
    return profile;
  });
  const season = (t: number) => profiles.reduce((sum, profile) => sum + (profile[t % profile.length] as number), 0);
  return { adjusted: values.map((value, t) => value - season(t)), season };
}

/** Centred mean over a period; at both ends that of the nearest whole period. */
function movingLevel(values: Float64Array, period: number): Float64Array {
  const sums = new Float64Array(values.length + 1);
  for (let t = 0; t < values.length; t++) sums[t + 1] = (sums[t] as number) + (values[t] as number);
  return values.map((_, t) => {
    const from = Math.min(Math.max(0, t - (period >> 1)), values.length - period);
    return ((sums[from + period] as number) - (sums[from] as number)) / period;
  });
}

function phaseProfile(rest: Float64Array, period: number): Float64Array {
  const sums = new Float64Array(period);
  const weights = new Float64Array(period);
  for (let t = 0; t < rest.length; t++) {
    const weight = CYCLE_WEIGHT ** Math.floor((rest.length - 1 - t) / period);
    const phase = t % period;
    sums[phase] = (sums[phase] as number) + weight * (rest[t] as number);
    weights[phase] = (weights[phase] as number) + weight;
  }
  const profile = sums.map((sum, phase) => sum / (weights[phase] as number));
  const mean = profile.reduce((sum, value) => sum + value, 0) / period;
  return profile.map((value) => value - mean);
}
