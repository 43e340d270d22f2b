// Functions over ranges by name (promql/functions.go of Prometheus). Lines through samples are deriv and predict_linear (linearRegression there), rates are rate,
// increase, delta, irate and idelta (extrapolatedRate and instantValue).
import { quantileOf } from "./quantile.ts";
import type { RangeWindow, WindowFunction } from "./range-window.ts";
import { KahanSum, Mean } from "./summation.ts";

/** Samples that stand further from an end of the range than 1.1 of their spacing are not extrapolated up to it. */
const EXTRAPOLATION_SPACINGS = 1.1;

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

interface Line {
  readonly slope: number;
  readonly intercept: number;
}

/** The slope of a range, a second. */
function deriv(window: RangeWindow): boolean {
  if (window.count < 2) return false;
  window.result = regress(window, window.timesMs[window.from] as number).slope;
  return true;
}

/** The value that the line of a range has so many seconds after the step. */
function predictLinear(window: RangeWindow): boolean {
  if (window.count < 2) return false;
  const { slope, intercept } = regress(window, window.evaluationMs);
  window.result = slope * window.parameter + intercept;
  return true;
}

/** Least squares; the intercept is the line's value at `originMs`. */
function regress({ timesMs, values, from, to }: RangeWindow, originMs: number): Line {
  const first = values[from] as number;
  let isConstant = true;
  const [sumX, sumY, sumXY, sumXX] = [new KahanSum(), new KahanSum(), new KahanSum(), new KahanSum()];
  for (let i = from; i < to; i++) {
    const y = values[i] as number;
    const x = ((timesMs[i] as number) - originMs) / 1_000;
    if (y !== first && i > from) isConstant = false;
    sumX.add(x);
    sumY.add(y);
    sumXY.add(x * y);
    sumXX.add(x * x);
  }
  if (isConstant) return Math.abs(first) === Infinity ? { slope: Number.NaN, intercept: Number.NaN } : { slope: 0, intercept: first };
  const count = to - from;
  const slope = (sumXY.total - (sumX.total * sumY.total) / count) / (sumXX.total - (sumX.total * sumX.total) / count);
  return { slope, intercept: sumY.total / count - (slope * sumX.total) / count };
}

/** The change over the whole range, extrapolated to its ends. */
function extrapolatedChange(isCounter: boolean, isPerSecond: boolean): WindowFunction {
  return (window) => {
    const { timesMs, from, to } = window;
    if (to - from < 2) return false;
    const change = isCounter ? counterChange(window) : gaugeChange(window);
    const sampledSeconds = ((timesMs[to - 1] as number) - (timesMs[from] as number)) / 1_000;
    const spacing = sampledSeconds / (to - from - 1);
    let toStart = ((timesMs[from] as number) - window.startMs) / 1_000;
    let toEnd = (window.endMs - (timesMs[to - 1] as number)) / 1_000;
    if (toStart >= spacing * EXTRAPOLATION_SPACINGS) toStart = spacing / 2;
    if (isCounter) toStart = Math.min(toStart, secondsToZero(window, change, sampledSeconds, toStart));
    if (toEnd >= spacing * EXTRAPOLATION_SPACINGS) toEnd = spacing / 2;
    const factor = (sampledSeconds + toStart + toEnd) / sampledSeconds;
    window.result = change * (isPerSecond ? factor / window.rangeSeconds : factor);
    return true;
  };
}

function gaugeChange({ values, from, to }: RangeWindow): number {
  return (values[to - 1] as number) - (values[from] as number);
}

/** A value below the one before is a reset to zero. */
function counterChange({ values, from, to }: RangeWindow): number {
  let before = values[from] as number;
  let change = (values[to - 1] as number) - before;
  for (let i = from + 1; i < to; i++) {
    const value = values[i] as number;
    if (value < before) change += before;
    before = value;
  }
  return change;
}

/** A counter was never below zero: when it was zero, at its mean slope. */
function secondsToZero({ values, from }: RangeWindow, change: number, sampledSeconds: number, otherwise: number): number {
  const first = values[from] as number;
  if (!(change > 0 && first >= 0)) return otherwise;
  const seconds = sampledSeconds * (first / change);
  return seconds < otherwise ? seconds : otherwise;
}

/** The change between the last two samples. */
function lastChange(isCounter: boolean): WindowFunction {
  return (window) => {
    const { timesMs, values, from, to } = window;
    if (to - from < 2) return false;
    const last = values[to - 1] as number;
    const before = values[to - 2] as number;
    const change = isCounter && last < before ? last : last - before;
    const intervalMs = (timesMs[to - 1] as number) - (timesMs[to - 2] as number);
    window.result = isCounter ? change / (intervalMs / 1_000) : change;
    return true;
  };
}
