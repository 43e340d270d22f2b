// Cross-correlation by lag: how alike two series are when one is shifted against the other.

/** Correlations for lags -`lagMax`..`lagMax`; a positive lag means that x leads y. */
export interface CrossCorrelation {
  readonly lags: Int32Array;
  /** Sum over the overlap of both departures from their means, by n sd(x) sd(y). */
  readonly biased: Float64Array;
  /** Lag with the largest |biased|, and its value. */
  readonly bestLag: number;
  readonly bestValue: number;
}

/** For series of equal length; zeros where one is constant. */
export function crossCorrelation(x: ArrayLike<number>, y: ArrayLike<number>, lagMax: number): CrossCorrelation {
  const [a, b] = [standardised(x), standardised(y)];
  const n = x.length;
  const lags = Int32Array.from({ length: 2 * lagMax + 1 }, (_, i) => i - lagMax);
  const biased = Float64Array.from(lags, (lag) => {
    let sum = 0;
    for (let t = Math.max(0, -lag); t < n - Math.max(0, lag); t++) sum += (a[t] as number) * (b[t + lag] as number);
    return sum / n;
  });
  let best = 0;
  for (let i = 1; i < biased.length; i++) if (Math.abs(biased[i] as number) > Math.abs(biased[best] as number)) best = i;
  return { lags, biased, bestLag: lags[best] as number, bestValue: biased[best] as number };
}

/** Mean 0 and sd 1; zeros for a constant series. */
export function standardised(values: ArrayLike<number>): Float64Array {
  const n = values.length;
  let mean = 0;
  for (let t = 0; t < n; t++) mean += (values[t] as number) / n;
  let square = 0;
  for (let t = 0; t < n; t++) square += ((values[t] as number) - mean) ** 2;
  const sd = Math.sqrt(square / n);
  return Float64Array.from({ length: n }, (_, t) => (sd > 0 ? ((values[t] as number) - mean) / sd : 0));
}
