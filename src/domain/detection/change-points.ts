// Where a series changes its level. Two-sided CUSUM (Page 1954), the best single split, and the best partition by dynamic programming with
// pruning (PELT: Killick, Fearnhead & Eckley 2012), all with the squares around each segment's mean as cost. A change point is the first
// index of the new segment.

/** Values a partition takes: its time grows with their square where nothing changes, to 15 ms. */
const PARTITION_VALUES_MAX = 2000;

export interface CusumSums {
  readonly plus: Float64Array;
  readonly minus: Float64Array;
  /** First index at which either sum is above h; -1 for none. Sums go on after it. */
  readonly firstAlarm: number;
}

/** Sums of what lies more than `slack` above and below `target`, never below 0; alarm above `h`. All in the unit of the values. */
export function cusum(values: ArrayLike<number>, target: number, slack: number, h: number): CusumSums {
  const plus = new Float64Array(values.length);
  const minus = new Float64Array(values.length);
  let up = 0;
  let down = 0;
  let firstAlarm = -1;
  for (let i = 0; i < values.length; i++) {
    const deviation = (values[i] as number) - target;
    up = Math.max(0, up + deviation - slack);
    down = Math.max(0, down - deviation - slack);
    plus[i] = up;
    minus[i] = down;
    if (firstAlarm < 0 && (up > h || down > h)) firstAlarm = i;
  }
  return { plus, minus, firstAlarm };
}

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

export interface Partition {
  readonly changePoints: readonly number[];
  /** Squares of all segments plus the penalty for each change point. */
  readonly cost: number;
}

/** The partition of least cost. Throws on more than 2,000 values. */
export function optimalPartition(values: ArrayLike<number>, penalty: number): Partition {
  const n = values.length;
  if (n > PARTITION_VALUES_MAX) throw new Error(`a partition takes at most ${PARTITION_VALUES_MAX} values, got ${n}`);
  const squares = segmentSquares(values);
  const best = new Float64Array(n + 1);
  const previous = new Int32Array(n + 1);
  best[0] = -penalty;
  const candidates = new Int32Array(n + 1);
  const costs = new Float64Array(n + 1);
  let open = 1;
  for (let end = 1; end <= n; end++) {
    let cost = Number.POSITIVE_INFINITY;
    for (let i = 0; i < open; i++) {
      const from = candidates[i] as number;
      costs[i] = (best[from] as number) + squares(from, end);
      if ((costs[i] as number) + penalty >= cost) continue;
      cost = (costs[i] as number) + penalty;
      previous[end] = from;
    }
    best[end] = cost;
    // What already costs more without the penalty can begin no segment of a later best partition.
    let kept = 0;
    for (let i = 0; i < open; i++) if ((costs[i] as number) <= cost) candidates[kept++] = candidates[i] as number;
    candidates[kept] = end;
    open = kept + 1;
  }
  const changePoints: number[] = [];
  for (let at = previous[n] ?? 0; at > 0; at = previous[at] as number) changePoints.unshift(at);
  return { changePoints, cost: n === 0 ? 0 : (best[n] as number) };
}

/** Squares around the mean of [from, to), from running sums of the values less their mean. */
function segmentSquares(values: ArrayLike<number>): (from: number, to: number) => number {
  const n = values.length;
  const sums = new Float64Array(n + 1);
  const powers = new Float64Array(n + 1);
  let mean = 0;
  for (let i = 0; i < n; i++) mean += (values[i] as number) / n;
  for (let i = 0; i < n; i++) {
    const value = (values[i] as number) - mean;
    sums[i + 1] = (sums[i] as number) + value;
    powers[i + 1] = (powers[i] as number) + value * value;
  }
  return (from, to) => {
    const sum = (sums[to] as number) - (sums[from] as number);
    return Math.max(0, (powers[to] as number) - (powers[from] as number) - (sum * sum) / (to - from));
  };
}
