// Exponential smoothing: level, optional damped trend and season (Hyndman & Athanasopoulos, chapter 8; recursions of Holt and Winters).

/** Weights of a recursion. Without `beta` there is no trend, without `gamma` no season. `phi` 1 is Holt's trend, below 1 a damped one. */
export interface SmoothingWeights {
  readonly alpha: number;
  readonly beta?: number;
  readonly phi?: number;
  readonly gamma?: number;
}

export interface SmoothingStart {
  readonly level: number;
  readonly trend?: number;
  /** One value a phase; phase 0 is that of the first value. */
  readonly season?: ArrayLike<number>;
  /** Effect of the season on the level; additive if absent. */
  readonly seasonal?: "additive" | "multiplicative";
}

/** Result of a run. */
export interface SmoothingRun {
  /** Forecast of each value from those before it. */
  readonly oneStep: Float64Array;
  readonly level: number;
  readonly trend: number;
  readonly season: Float64Array;
  readonly squaredError: number;
}

/** Runs through all values. */
export function runSmoothing(values: ArrayLike<number>, weights: SmoothingWeights, start: SmoothingStart): SmoothingRun {
  const { alpha, beta = 0, phi = 1, gamma = 0 } = weights;
  const isMultiplicative = start.seasonal === "multiplicative";
  const season = Float64Array.from(start.season ?? [isMultiplicative ? 1 : 0]);
  const period = season.length;
  const oneStep = new Float64Array(values.length);
  let level = start.level;
  let trend = start.trend ?? 0;
  let squaredError = 0;
  for (let t = 0; t < values.length; t++) {
    const value = values[t] as number;
    const phase = t % period;
    const seasonal = season[phase] as number;
    const expected = level + phi * trend;
    const forecast = isMultiplicative ? expected * seasonal : expected + seasonal;
    oneStep[t] = forecast;
    squaredError += (value - forecast) ** 2;
    const next = alpha * (isMultiplicative ? value / seasonal : value - seasonal) + (1 - alpha) * expected;
    const share = isMultiplicative ? value / expected : value - expected;
    if (gamma > 0) season[phase] = gamma * share + (1 - gamma) * seasonal;
    trend = beta * (next - level) + (1 - beta) * phi * trend;
    level = next;
  }
  return { oneStep, level, trend, season, squaredError };
}

/** The next `horizon` values after a run over `length` values. */
export function forecastSmoothing(
  { level, trend, season }: SmoothingRun,
  length: number,
  horizon: number,
  {
    phi = 1,
    seasonal = "additive",
  }: { readonly phi?: number | undefined; readonly seasonal?: "additive" | "multiplicative" | undefined } = {},
): Float64Array {
  let damping = 0;
  return Float64Array.from({ length: horizon }, (_, step) => {
    damping += phi ** (step + 1);
    const phase = season[(length + step) % season.length] as number;
    return seasonal === "multiplicative" ? (level + damping * trend) * phase : level + damping * trend + phase;
  });
}
