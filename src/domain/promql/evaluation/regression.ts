// Lines through samples: deriv and predict_linear (linearRegression in promql/functions.go of Prometheus).
import type { RangeWindow } from "./range-window.ts";
import { KahanSum } from "./summation.ts";

interface Line {
  readonly slope: number;
  readonly intercept: number;
}

/** The slope of a range, a second. */
export function deriv(window: RangeWindow): boolean {
  if (window.count < 2) return false;
  window.result = regress(window, window.timesMs[window.from] as number).slope;
  return true;
}

/** The value that the line of a range has so many seconds after the step. */
export function predictLinear(window: RangeWindow): boolean {
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
