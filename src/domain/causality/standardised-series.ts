// A series in units of its own standard deviation.

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
