// Mean and variance without cancellation: the slow twin of the kernel's window statistics.

/** `m2` is the sum of squared deviations; the sample variance is m2 / (count - 1), null below two values. */
export interface WindowStatistics {
  readonly count: number;
  readonly mean: number;
  readonly m2: number;
  readonly variance: number | null;
}

/** Exact to rounding: corrected two-pass around the newest value. */
export function windowStatistics(values: Float64Array): WindowStatistics {
  const count = values.length;
  if (count === 0) return { count, mean: 0, m2: 0, variance: null };
  const pivot = values[count - 1] as number;
  let sum = 0;
  let constant = true;
  for (let i = 0; i < count; i++) {
    sum += (values[i] as number) - pivot;
    constant &&= values[i] === pivot;
  }
  const mean = sum / count;
  let squares = 0;
  let rest = 0;
  for (let i = 0; i < count; i++) {
    const deviation = (values[i] as number) - pivot - mean;
    squares += deviation * deviation;
    rest += deviation;
  }
  const m2 = constant ? 0 : Math.max(0, squares - (rest * rest) / count);
  return { count, mean: pivot + mean, m2, variance: count > 1 ? m2 / (count - 1) : null };
}
