// Functions over ranges by name (promql/functions.go of Prometheus). Those over the time of each sample are in rate.ts and regression.ts.
import { quantileOf } from "./quantile.ts";
import type { RangeWindow, WindowFunction } from "./range-window.ts";
import { extrapolatedChange, lastChange } from "./rate.ts";
import { deriv, predictLinear } from "./regression.ts";
import { KahanSum, Mean } from "./summation.ts";

/** A function whose result is always there. */
function always(compute: (window: RangeWindow) => number): WindowFunction {
  return (window) => {
    window.result = compute(window);
    return true;
  };
}

function sum({ values, from, to }: RangeWindow): number {
  const total = new KahanSum();
  for (let i = from; i < to; i++) total.add(values[i] as number);
  return Math.abs(total.sum) === Infinity ? total.sum : total.total;
}

function average({ values, from, to }: RangeWindow): number {
  const mean = new Mean(values[from] as number);
  for (let i = from + 1; i < to; i++) mean.add(values[i] as number);
  return mean.mean;
}

function greatest({ values, from, to }: RangeWindow): number {
  let most = values[from] as number;
  for (let i = from + 1; i < to; i++) {
    const value = values[i] as number;
    if (value > most || Number.isNaN(most)) most = value;
  }
  return most;
}

function least({ values, from, to }: RangeWindow): number {
  let most = values[from] as number;
  for (let i = from + 1; i < to; i++) {
    const value = values[i] as number;
    if (value < most || Number.isNaN(most)) most = value;
  }
  return most;
}

/** Welford's variance with compensated sums. */
function variance({ values, from, to }: RangeWindow): number {
  const mean = new KahanSum();
  const squares = new KahanSum();
  for (let i = from; i < to; i++) {
    const value = values[i] as number;
    const difference = value - mean.total;
    mean.add(difference / (i - from + 1));
    squares.add(difference * (value - mean.total));
  }
  return squares.total / (to - from);
}

function resets({ values, from, to }: RangeWindow): number {
  let count = 0;
  for (let i = from + 1; i < to; i++) if ((values[i] as number) < (values[i - 1] as number)) count++;
  return count;
}

function changes({ values, from, to }: RangeWindow): number {
  let count = 0;
  for (let i = from + 1; i < to; i++) {
    const [value, before] = [values[i] as number, values[i - 1] as number];
    if (value !== before && !(Number.isNaN(value) && Number.isNaN(before))) count++;
  }
  return count;
}

/** Functions of a range by name. */
export const WINDOW_FUNCTIONS: Readonly<Record<string, WindowFunction>> = {
  rate: extrapolatedChange(true, true),
  increase: extrapolatedChange(true, false),
  delta: extrapolatedChange(false, false),
  irate: lastChange(true),
  idelta: lastChange(false),
  deriv,
  predict_linear: predictLinear,
  sum_over_time: always(sum),
  avg_over_time: always(average),
  max_over_time: always(greatest),
  min_over_time: always(least),
  count_over_time: always(({ count }) => count),
  present_over_time: always(() => 1),
  absent_over_time: always(() => 1),
  first_over_time: always(({ values, from }) => values[from] as number),
  last_over_time: always(({ values, to }) => values[to - 1] as number),
  stdvar_over_time: always(variance),
  stddev_over_time: always((window) => Math.sqrt(variance(window))),
  quantile_over_time: always(({ values, from, to, parameter }) => quantileOf(parameter, values.slice(from, to))),
  resets: always(resets),
  changes: always(changes),
};
