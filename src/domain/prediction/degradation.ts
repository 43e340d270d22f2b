// Metrics that get worse slowly: a trend that no single value shows, by medians of steps, tested against chance, relative to the metric's own size.
import { MAD_TO_SD, median, robustStatistics } from "../detection/robust.ts";
import { CYCLES_MIN, seasonalAdjustment } from "../forecast/seasonal-adjustment.ts";
import { senSlope, TREND_POINTS_MAX, trendTest } from "../saturation/trend.ts";

export interface DegradationTrend {
  /** Value of the line now. */
  readonly currentValue: number;
  /** In the metric's units. */
  readonly slopePerHour: number;
  /** |slope| over the median, an hour. */
  readonly relativeSlope: number;
  /** From now until `threshold` is passed, 0 where it already is; null in more than a week. */
  readonly breachMinutes: number | null;
  readonly threshold: number;
  /** 1 - p of Mann and Kendall's test, 0..1. */
  readonly confidence: number;
}

const P_MAX = 0.01;
const POINTS_MIN = 8;
const BAND_SD = 3;
const WEEK_MINUTES = 7 * 24 * 60;
/** The change over the whole time, in robust standard deviations of what is left around the line. */
const CHANGE_SD_MIN = 1;
/** Newest values that say where the line stands now: it may have bent. */
const NEWEST = 5;

/**
 * The trend of values at even distances of `stepHours`, where it is one: of at least `slopeMin` of the median an hour. `direction` 1: worse when it rises,
 * -1: when it falls, 0: either. `limit` is what it must not pass where that is known. `lateSteps` is how long ago the values ended, in steps and parts of one.
 */
export function degradationTrend(
  values: Float64Array,
  {
    stepHours,
    slopeMin,
    direction,
    limit,
    lateSteps,
  }: {
    readonly stepHours: number;
    readonly slopeMin: number;
    readonly direction: -1 | 0 | 1;
    readonly limit: number | null;
    readonly lateSteps: number;
  },
): DegradationTrend | undefined {
  const group = Math.ceil(values.length / TREND_POINTS_MAX);
  const points = Float64Array.from({ length: Math.floor(values.length / group) }, (_, i) =>
    median(values.subarray(i * group, (i + 1) * group)),
  );
  if (points.length < POINTS_MIN) return undefined;
  // A value is the mean of its step, and a point the median of its group: both belong to the middle.
  const hours = points.map((_, i) => (i + 0.5) * group * stepHours);
  const line = senSlope(hours, points);
  const residuals = points.map((value, i) => value - line.intercept - line.slope * (hours[i] as number));
  const { p } = trendTest(points, residuals);
  const center = Math.abs(median(points));
  const relativeSlope = center > 0 ? Math.abs(line.slope) / center : 0;
  const sd = MAD_TO_SD * robustStatistics(residuals).mad;
  const change = Math.abs(line.slope) * ((hours.at(-1) as number) - (hours[0] as number));
  const isWorse = direction === 0 || Math.sign(line.slope) === direction;
  if (!isWorse || p >= P_MAX || relativeSlope < slopeMin || change < CHANGE_SD_MIN * sd) return undefined;
  const current = standing(values, line, stepHours) + line.slope * (values.length + lateSteps) * stepHours;
  const threshold = limit ?? bandEdge(points, Math.sign(line.slope));
  const minutes = ((threshold - current) / line.slope) * 60;
  return {
    currentValue: current,
    slopePerHour: line.slope,
    relativeSlope,
    breachMinutes: minutes <= WEEK_MINUTES ? Math.max(0, minutes) : null,
    threshold,
    confidence: 1 - p,
  };
}

/**
 * Values without the daily and weekly course that the values before them had; as they are where those are fewer than two cycles, and where both together are too
 * few as well. `periods` are lengths of seasons in steps.
 */
export function withoutSeason(before: Float64Array, values: Float64Array, periods: readonly number[]): Float64Array {
  const least = CYCLES_MIN * Math.min(...periods);
  const known = before.length >= least ? before : Float64Array.of(...before, ...values);
  if (known.length < least) return values;
  const { season } = seasonalAdjustment(known, periods);
  return values.map((value, at) => value - season(before.length + at));
}

/** The line's value at the beginning of the values, so that it goes through the newest of them. */
function standing(values: Float64Array, { slope }: { readonly slope: number }, stepHours: number): number {
  const first = Math.max(0, values.length - NEWEST);
  return median(values.subarray(first).map((value, i) => value - slope * (first + i + 0.5) * stepHours));
}

/** Where a value is unusual by the first half of what was seen, before most of the trend. */
function bandEdge(points: Float64Array, sign: number): number {
  const { median: center, mad } = robustStatistics(points.subarray(0, Math.ceil(points.length / 2)));
  return center + sign * BAND_SD * Math.max(MAD_TO_SD * mad, 0.1 * Math.abs(center));
}
