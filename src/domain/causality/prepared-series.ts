// What is done to series before causes are looked for among them: seasons and trends correlate everything with everything, one outlier outweighs a day, and
// two wandering levels always seem to lead one another.
import { DAY_MS, HOUR_MS } from "../../core/time/durations.ts";
import { MAD_TO_SD, median } from "../detection/robust.ts";
import { unitRootTest } from "../forecast/autocorrelation.ts";
import { UNIT_ROOT_LAGS } from "../forecast/forecast.ts";
import { mean } from "../forecast/forecast-method.ts";
import { leastSquares } from "../forecast/linear-system.ts";
import { fTail } from "./probability-tails.ts";

export interface PreparationOptions {
  /** Distance of the values. */
  readonly stepMs: number;
}

/** Waves of a day that are taken out where the series covers six hours at least: a smooth daily season, never a fault of minutes. */
const HARMONICS = [1, 2];
const HARMONIC_COVERAGE_MIN = 0.25;
/** Hours that must show what recurs every hour, and the level, before it is taken out, minute by minute: jobs and scrapes of the hour are shared by many metrics. */
const HOURS_MIN = 6;
const HOURLY_P_MAX = 1e-6;
/** Values are clipped at so many robust standard deviations. */
const CLIP_SD = 5;
/** A series whose unit root is not refuted at this level is differenced. */
const UNIT_ROOT_P_MAX = 0.0001;

/** Without its line and daily waves, clipped, differenced where it wanders, standardised; undefined for a series that is then constant. */
export function preparedSeries(values: Float64Array, options: PreparationOptions): Float64Array | undefined {
  const flat = withoutHourlyCourse(withoutSeason(values, options), options);
  const clipped = clip(flat);
  const test = unitRootTest(clipped, UNIT_ROOT_LAGS);
  const isWandering = test !== undefined && test.p > UNIT_ROOT_P_MAX;
  const steady = isWandering ? clip(differences(clipped)) : clipped;
  const result = standardised(steady);
  return result.some((value) => value !== 0) ? result : undefined;
}

/** Residuals of a regression on a line and the waves of a day. */
function withoutSeason(values: Float64Array, { stepMs }: PreparationOptions): Float64Array {
  const n = values.length;
  const columns: Float64Array[] = [new Float64Array(n).fill(1), Float64Array.from({ length: n }, (_, t) => t / n - 0.5)];
  if (n * stepMs >= HARMONIC_COVERAGE_MIN * DAY_MS) {
    for (const harmonic of HARMONICS) {
      const angle = (t: number) => (2 * Math.PI * harmonic * t * stepMs) / DAY_MS;
      columns.push(
        Float64Array.from({ length: n }, (_, t) => Math.sin(angle(t))),
        Float64Array.from({ length: n }, (_, t) => Math.cos(angle(t))),
      );
    }
  }
  const center = median(values);
  const fit = leastSquares(
    columns,
    values.map((value) => value - center),
    1e-9,
  );
  if (fit === undefined) return values.map((value) => value - center);
  return values.map(
    (value, t) => value - center - columns.reduce((sum, column, i) => sum + (column[t] as number) * (fit.coefficients[i] as number), 0),
  );
}

/** Residuals of the means of each minute of the hour, where an analysis of variance finds that they differ. */
function withoutHourlyCourse(values: Float64Array, { stepMs }: PreparationOptions): Float64Array {
  const [n, phases] = [values.length, HOUR_MS / stepMs];
  if (!Number.isInteger(phases) || phases < 2 || n < HOURS_MIN * phases) return values;
  const [sums, counts] = [new Float64Array(phases), new Float64Array(phases)];
  const middle = mean(values);
  for (let t = 0; t < n; t++) {
    sums[t % phases] = (sums[t % phases] as number) + (values[t] as number) - middle;
    counts[t % phases] = (counts[t % phases] as number) + 1;
  }
  const course = sums.map((sum, phase) => sum / (counts[phase] as number));
  const explained = course.reduce((sum, own, phase) => sum + own ** 2 * (counts[phase] as number), 0);
  const left = values.reduce((sum, value) => sum + (value - middle) ** 2, 0) - explained;
  const f = explained / (phases - 1) / (left / (n - phases));
  return left > 0 && fTail(f, phases - 1, n - phases) < HOURLY_P_MAX
    ? values.map((value, t) => value - (course[t % phases] as number))
    : values;
}

/** Clipped around the median; a series whose middle half is constant is left as it is. */
function clip(values: Float64Array): Float64Array {
  const center = median(values);
  const spread = MAD_TO_SD * median(values.map((value) => Math.abs(value - center)));
  if (!(spread > 0)) return values;
  return values.map((value) => Math.min(center + CLIP_SD * spread, Math.max(center - CLIP_SD * spread, value)));
}

/** One value shorter; the first is left out so that series of equal ends stay aligned from the end. */
function differences(values: Float64Array): Float64Array {
  return Float64Array.from({ length: values.length }, (_, t) => (t === 0 ? 0 : (values[t] as number) - (values[t - 1] as number)));
}

// A series in units of its own standard deviation.

/** Mean 0 and sd 1; zeros for a constant series. */
function standardised(values: ArrayLike<number>): Float64Array {
  const n = values.length;
  let mean = 0;
  for (let t = 0; t < n; t++) mean += (values[t] as number) / n;
  let square = 0;
  for (let t = 0; t < n; t++) square += ((values[t] as number) - mean) ** 2;
  const sd = Math.sqrt(square / n);
  return Float64Array.from({ length: n }, (_, t) => (sd > 0 ? ((values[t] as number) - mean) / sd : 0));
}
