// rate, increase, delta, irate and idelta (extrapolatedRate and instantValue in promql/functions.go of Prometheus).
import type { RangeWindow, WindowFunction } from "./range-window.ts";

/** Samples that stand further from an end of the range than 1.1 of their spacing are not extrapolated up to it. */
const EXTRAPOLATION_SPACINGS = 1.1;

/** The change over the whole range, extrapolated to its ends. */
export function extrapolatedChange(isCounter: boolean, isPerSecond: boolean): WindowFunction {
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
export function lastChange(isCounter: boolean): WindowFunction {
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
