// How far a forecast may go beyond what has been: as far as the slope that the history really has would take it. A method that follows its last values away, or
// whose coefficients explode, is held there.
import { median } from "../detection/robust.ts";

/** The slope may be so many times what was seen. */
const SLOPE_FACTOR = 1.5;
/** Room beyond the extremes, as a share of their distance. */
const ROOM = 0.1;
/** Fewest values that a slope is read from. */
const VALUES_MIN = 16;
/** The slope is the steepest of the whole history and of its last half and quarter. */
const PARTS = [1, 2, 4] as const;

/** The forecast, each step within the reach of its history. `periods` are lengths of seasons in steps. */
export function withinReach(forecast: Float64Array, values: Float64Array, periods: readonly number[]): Float64Array {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const room = ROOM * (high - low);
  const slopes = PARTS.map((part) => slopeOf(values.subarray(values.length - Math.floor(values.length / part)), periods));
  const up = SLOPE_FACTOR * Math.max(0, ...slopes);
  const down = SLOPE_FACTOR * Math.min(0, ...slopes);
  // The last peak of a season may lie a season back.
  const back = Math.max(0, ...periods);
  return forecast.map((value, step) =>
    Math.min(high + room + up * (step + 1 + back), Math.max(low - room + down * (step + 1 + back), value)),
  );
}

/** Median slope a step over half of the values, whole seasons where they fit. */
function slopeOf(values: Float64Array, periods: readonly number[]): number {
  if (values.length < VALUES_MIN) return 0;
  const half = Math.floor(values.length / 2);
  const period = Math.max(1, ...periods.filter((one) => one <= half));
  const span = half - (half % period);
  return median(values.subarray(span).map((value, at) => value - (values[at] as number))) / span;
}
