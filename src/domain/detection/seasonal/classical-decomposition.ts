// Classical additive decomposition: y = trend + season + rest (Persons 1919; Hyndman & Athanasopoulos, section 3.4; R's decompose). It looks at whole
// histories, forward and back: for rebuilding and for showing what a season is worth, not for judging the newest value.

export interface Decomposition {
  /** Centred moving average over one period; NaN for half a period at both ends. */
  readonly trend: Float64Array;
  /** One value a phase, with mean 0; phase 0 is that of the first value. */
  readonly season: Float64Array;
  /** Remainder; NaN where the trend is. */
  readonly rest: Float64Array;
}

/** Decomposes values at even distances with a period of `period` values, at least 2. Throws RangeError for fewer than two periods. */
export function decompose(values: ArrayLike<number>, period: number): Decomposition {
  if (!Number.isInteger(period) || period < 2) throw new RangeError(`a season has a whole number of values, at least 2, got ${period}`);
  if (values.length < 2 * period) throw new RangeError(`${values.length} values are less than two periods of ${period}`);
  const trend = movingAverage(values, period);
  const season = phaseMeans(values, trend, period);
  const rest = Float64Array.from({ length: values.length }, (_, i) => at(values, i) - at(trend, i) - at(season, i % period));
  return { trend, season, rest };
}

/**
 * Share of the variance around the trend that the season explains, 0..1: 1 - Var(rest) / Var(values - trend) (Wang, Smith & Hyndman 2006). 0 where nothing
 * is left to explain.
 */
export function seasonalStrength(values: ArrayLike<number>, { trend, rest }: Decomposition): number {
  const detrended = Float64Array.from({ length: values.length }, (_, i) => at(values, i) - at(trend, i));
  const whole = variance(detrended);
  return whole === 0 ? 0 : Math.max(0, 1 - variance(rest) / whole);
}

/** Moving average; of an even period the two outermost values count half, so that the average is centred on a value (2 x m average). */
function movingAverage(values: ArrayLike<number>, period: number): Float64Array {
  const half = Math.floor(period / 2);
  const isEven = period % 2 === 0;
  const trend = new Float64Array(values.length).fill(Number.NaN);
  for (let i = half; i < values.length - half; i++) {
    let sum = 0;
    for (let j = i - half; j <= i + half; j++) sum += isEven && Math.abs(j - i) === half ? at(values, j) / 2 : at(values, j);
    trend[i] = sum / period;
  }
  return trend;
}

function phaseMeans(values: ArrayLike<number>, trend: Float64Array, period: number): Float64Array {
  const sums = new Float64Array(period);
  const counts = new Float64Array(period);
  trend.forEach((level, i) => {
    if (Number.isNaN(level)) return;
    sums[i % period] = at(sums, i % period) + at(values, i) - level;
    counts[i % period] = at(counts, i % period) + 1;
  });
  const means = sums.map((sum, phase) => sum / at(counts, phase));
  const center = means.reduce((sum, mean) => sum + mean, 0) / period;
  return means.map((mean) => mean - center);
}

function variance(values: Float64Array): number {
  const known = values.filter((value) => !Number.isNaN(value));
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  return known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / known.length;
}

function at(values: ArrayLike<number>, i: number): number {
  return values[i] as number;
}
