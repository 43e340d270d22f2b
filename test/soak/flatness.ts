// Whether a measure stayed flat: the Theil-Sen slope (median of the slopes of all pairs; Sen 1968), which single outliers do not move, over the second half
// of the run, in which caches, rings and heaps have filled.
import { quantile } from "./process-sampler.ts";

/** Points that the slope is taken of; more are thinned out, as pairs are their square. */
const POINTS_MAX = 400;

/** Growth of `values` over the whole of `seconds`, in their unit; NaN of fewer than three. */
export function growth(seconds: readonly number[], values: readonly number[]): number {
  const kept = values.map((value, i) => [seconds[i] as number, value] as const).filter(([, value]) => !Number.isNaN(value));
  const step = Math.max(1, Math.ceil(kept.length / POINTS_MAX));
  const points = kept.filter((_, i) => i % step === 0);
  if (points.length < 3) return Number.NaN;
  const slopes: number[] = [];
  for (let i = 0; i < points.length; i++) {
    const [x, y] = points[i] as readonly [number, number];
    for (let j = i + 1; j < points.length; j++) {
      const [x2, y2] = points[j] as readonly [number, number];
      if (x2 > x) slopes.push((y2 - y) / (x2 - x));
    }
  }
  return quantile(slopes, 0.5) * ((seconds.at(-1) as number) - (seconds[0] as number));
}

/** One line of the verdict. */
export interface FlatnessCheck {
  readonly what: string;
  readonly unit: string;
  readonly median: number;
  readonly growth: number;
  /** Growth over the second half that is still flat. */
  readonly bound: number;
  readonly why: string;
  readonly holds: boolean;
}

export interface FlatnessRule {
  readonly what: string;
  readonly unit: string;
  readonly values: readonly number[];
  readonly bound: (median: number) => number;
  readonly why: string;
}

/** Judges one measure over the second half of the run. */
export function checkFlatness(seconds: readonly number[], { what, unit, values, bound, why }: FlatnessRule): FlatnessCheck {
  const half = Math.floor(seconds.length / 2);
  const later = values.slice(half);
  const median = quantile(later, 0.5);
  const change = growth(seconds.slice(half), later);
  const most = bound(median);
  return { what, unit, median, growth: change, bound: most, why, holds: change <= most };
}
