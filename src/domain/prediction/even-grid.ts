// Samples at any times as values at even distances, for what needs such: means of each step, gaps filled along a line.

export interface EvenGrid {
  /** Time of the first step's beginning. */
  readonly startMs: number;
  readonly values: Float64Array;
  /** Steps that held a sample. */
  readonly filled: number;
}

/** After a gap of so many steps what was before it is left out: a line over it would be made up. */
export const GAP_STEPS_MAX = 12;

/** Steps of `stepMs`, aligned to UTC, from the first sample at or after `fromMs` to the last before `toMs`; empty where there is none. */
export function evenGrid(
  times: Float64Array,
  values: Float64Array,
  range: { readonly fromMs: number; readonly toMs: number; readonly stepMs: number },
): EvenGrid {
  const { fromMs, toMs, stepMs } = range;
  const sums = new Map<number, { sum: number; count: number }>();
  for (let at = 0; at < times.length; at++) {
    const time = times[at] as number;
    if (time < fromMs || time >= toMs) continue;
    const step = Math.floor(time / stepMs);
    const known = sums.get(step) ?? { sum: 0, count: 0 };
    sums.set(step, { sum: known.sum + (values[at] as number), count: known.count + 1 });
  }
  const steps = [...sums.keys()].sort((a, b) => a - b);
  const first = lastWithoutGap(steps);
  const retained = steps.slice(first);
  if (retained.length === 0) return { startMs: fromMs, values: new Float64Array(0), filled: 0 };
  const begin = retained[0] as number;
  const grid = new Float64Array((retained.at(-1) as number) - begin + 1);
  let before = begin;
  for (const step of retained) {
    const { sum, count } = sums.get(step) as { sum: number; count: number };
    grid[step - begin] = sum / count;
    const from = grid[before - begin] as number;
    for (let gap = before + 1; gap < step; gap++) grid[gap - begin] = from + ((sum / count - from) * (gap - before)) / (step - before);
    before = step;
  }
  return { startMs: begin * stepMs, values: grid, filled: retained.length };
}

/** Index of the first step behind the last long gap. */
function lastWithoutGap(steps: readonly number[]): number {
  for (let i = steps.length - 1; i > 0; i--) if ((steps[i] as number) - (steps[i - 1] as number) > GAP_STEPS_MAX) return i;
  return 0;
}

/** Combined grid of several streams of one metric: deltas are summed, percentiles take the largest, gauges are averaged. From the latest beginning on. */
export function joinedGrid(grids: readonly EvenGrid[], stepMs: number, how: "sum" | "max" | "mean"): EvenGrid {
  const known = grids.filter(({ values }) => values.length > 0);
  const [only] = known;
  if (only === undefined || known.length === 1) return only ?? { startMs: 0, values: new Float64Array(0), filled: 0 };
  const startMs = Math.min(...known.map((grid) => grid.startMs));
  const endMs = Math.max(...known.map((grid) => grid.startMs + grid.values.length * stepMs));
  const values = Float64Array.from({ length: Math.round((endMs - startMs) / stepMs) }, (_, step) => {
    const here = known.flatMap((grid) => grid.values[step - Math.round((grid.startMs - startMs) / stepMs)] ?? []);
    if (how === "max") return Math.max(...here);
    const sum = here.reduce((total, value) => total + value, 0);
    return how === "sum" ? sum : sum / here.length;
  });
  const holes = values.findLastIndex((value) => !Number.isFinite(value));
  return {
    startMs: startMs + (holes + 1) * stepMs,
    values: values.subarray(holes + 1),
    filled: Math.max(...known.map(({ filled }) => filled)),
  };
}
