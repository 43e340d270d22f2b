// The curve along which a series fills: a Theil-Sen line over 12 hours or 90 minutes, a parabola where the fill clearly bends, and the cycle
// that rides on it. All times in minutes relative to now.
import { bestSplit } from "../detection/change-points.ts";
import { MAD_TO_SD } from "../detection/robust.ts";
import { type Cycle, cycleAt, findCycle } from "./cycle.ts";
import { fitParabola, type Polynomial, residualsOf, valueAt } from "./least-squares.ts";
import type { Points } from "./saturation-history.ts";
import { medianInPlace, type SenSlope, senSlope, type TrendTest, trendTest, varianceInflation } from "./trend.ts";

/** Squared t of the bend at which a parabola replaces the line, after correction for autocorrelation. */
const BEND_F_MIN = 16;
/** Points farther from a first parabola than so many deviations are left out of the second. */
const OUTLIER_DEVIATIONS = 4;

export interface FillCurve {
  readonly shape: "line" | "parabola";
  readonly curve: Polynomial;
  readonly cycle: Cycle | null;
  readonly sen: SenSlope;
  readonly test: TrendTest;
  /** Robust standard deviation of the points around the curve. */
  readonly sd: number;
  /** Mean squares of what the curve leaves over, and of what one step between two levels would. */
  readonly error: number;
  readonly stepError: number;
  readonly points: number;
  readonly spanMinutes: number;
}

/** Curve through long points, with its bend and its cycle. */
export function longCurve(points: Points): FillCurve {
  const { t } = points;
  const start = fitParabola(t, points.y);
  const cycle = start === null ? null : findCycle(t, residualsOf(start, t, points.y));
  const level = withoutCycle(points, cycle);
  const line = senSlope(t, level);
  const straight: Polynomial = { c0: line.intercept, c1: line.slope, c2: 0 };
  const bent = significantParabola(t, level, straight);
  return assemble(bent === null ? "line" : "parabola", bent ?? straight, cycle, t, level);
}

/** Line through short points, without the cycle that the long ones showed. */
export function shortLine(points: Points, cycle: Cycle | null): FillCurve {
  const level = withoutCycle(points, cycle);
  const line = senSlope(points.t, level);
  return assemble("line", { c0: line.intercept, c1: line.slope, c2: 0 }, cycle, points.t, level);
}

/** Value of the curve with its cycle. */
export function fillAt(fill: FillCurve, t: number): number {
  return valueAt(fill.curve, t) + (fill.cycle === null ? 0 : cycleAt(fill.cycle, t));
}

function withoutCycle(points: Points, cycle: Cycle | null): Float64Array {
  if (cycle === null) return points.y;
  return Float64Array.from(points.y, (value, i) => value - cycleAt(cycle, points.t[i] as number));
}

/** Robust standard deviation of short points around their line. */
export function shortSpread(points: Points, cycle: Cycle | null): number {
  const level = withoutCycle(points, cycle);
  const { slope, intercept } = senSlope(points.t, level);
  return spreadOf(residualsOf({ c0: intercept, c1: slope, c2: 0 }, points.t, level));
}

function assemble(shape: FillCurve["shape"], curve: Polynomial, cycle: Cycle | null, t: Float64Array, level: Float64Array): FillCurve {
  const residuals = residualsOf(curve, t, level);
  const test = trendTest(level, residuals);
  const sen = senSlope(t, level, test.inflation);
  const spanMinutes = t.length === 0 ? 0 : (t[t.length - 1] as number) - (t[0] as number);
  const errors = { error: squares(residuals) / t.length, stepError: bestSplit(level).squares / t.length };
  return { shape, curve, cycle, sen, test, sd: spreadOf(residuals), ...errors, points: t.length, spanMinutes };
}

/** A bend downwards counts too: what levels off is not projected along its line. */
function significantParabola(t: Float64Array, level: Float64Array, line: Polynomial): Polynomial | null {
  const first = fitParabola(t, level);
  if (first === null) return null;
  const bent = refit(t, level, first) ?? first;
  const residuals = residualsOf(bent, t, level);
  const straight = squares(residualsOf(line, t, level));
  const left = squares(residuals);
  const f = (straight - left) / (left / (t.length - 3)) / varianceInflation(residuals);
  return left === 0 || f < BEND_F_MIN ? null : bent;
}

/** Once more without outliers, as long as three quarters stay. */
function refit(t: Float64Array, level: Float64Array, first: Polynomial): Polynomial | null {
  const residuals = residualsOf(first, t, level);
  const bound = OUTLIER_DEVIATIONS * spreadOf(residuals);
  const retained = t.map((_, i) => (Math.abs(residuals[i] as number) <= bound ? 1 : 0));
  const count = retained.reduce((sum, one) => sum + one, 0);
  if (count === t.length || count < 0.75 * t.length) return null;
  return fitParabola(
    t.filter((_, i) => retained[i] === 1),
    level.filter((_, i) => retained[i] === 1),
  );
}

function squares(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value * value, 0);
}

function spreadOf(residuals: Float64Array): number {
  const magnitudes = Float64Array.from(residuals, Math.abs);
  return MAD_TO_SD * medianInPlace(magnitudes, magnitudes.length);
}
