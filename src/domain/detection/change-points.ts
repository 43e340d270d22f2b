// Where a series changes its level once: the split with the fewest squares around the means of both sides. Its index is the first of the new level.

export interface Split {
  /** 1..n - 1; 0 where there is nothing to split. */
  readonly index: number;
  /** Squares that two levels leave, and by how much these are fewer than around one. */
  readonly squares: number;
  readonly gain: number;
}

/** The single change of level that leaves the fewest squares; the first of equals. */
export function bestSplit(values: ArrayLike<number>): Split {
  const n = values.length;
  let mean = 0;
  for (let i = 0; i < n; i++) mean += (values[i] as number) / n;
  let total = 0;
  for (let i = 0; i < n; i++) total += ((values[i] as number) - mean) ** 2;
  let gain = 0;
  let index = 0;
  let sum = 0;
  for (let i = 1; i < n; i++) {
    sum += (values[i - 1] as number) - mean;
    const here = (sum * sum * n) / (i * (n - i));
    if (here > gain) {
      gain = here;
      index = i;
    }
  }
  return { index, squares: total - gain, gain };
}
