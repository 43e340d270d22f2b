// How two series move together: the largest correlation over lags of what neither its own past nor the load of all explains. Two daily series correlate by .6
// whatever they are, so first differences and an AR(1) filter come first (prewhitening), then the mean of all series is taken out.

/** Values on one grid of time, NaN where there is none. */
export type GridSeries = Float64Array;

/** The correlation at the best lag. */
export interface LaggedCorrelation {
  /** -1 to 1, shrunk by the number of values. */
  readonly r: number;
  /** Steps by which the second series follows the first; negative where it leads. */
  readonly lag: number;
  readonly isSignificant: boolean;
}

/** Fewer common values say nothing. */
const VALUES_MIN = 20;
/** Two-sided 5 % of a normal over one lag; over more by Bonferroni's inequality. */
const SIGNIFICANT_TAIL = 0.05;
/** Lags reach a quarter of the series. */
const LAG_SHARE = 4;

/** Values put on a grid: the mean of those in each step. */
export function onGrid(times: ArrayLike<number>, values: ArrayLike<number>, fromMs: number, stepMs: number, steps: number): GridSeries {
  const sums = new Float64Array(steps);
  const counts = new Float64Array(steps);
  for (let i = 0; i < times.length; i++) {
    const step = Math.floor((times[i]! - fromMs) / stepMs);
    if (step < 0 || step >= steps) continue;
    sums[step]! += values[i]!;
    counts[step]!++;
  }
  return sums.map((sum, i) => (counts[i] === 0 ? Number.NaN : sum / counts[i]!));
}

/** What is new in each step: first differences less what the difference before explains, scaled to a standard deviation of 1. */
export function whitened(series: GridSeries): GridSeries {
  const differences = series.map((value, i) => (i === 0 ? Number.NaN : value - series[i - 1]!));
  let products = 0;
  let squares = 0;
  for (let i = 1; i < differences.length; i++) {
    const product = differences[i]! * differences[i - 1]!;
    if (Number.isNaN(product)) continue;
    products += product;
    squares += differences[i - 1]! ** 2;
  }
  const phi = squares === 0 ? 0 : Math.max(-0.95, Math.min(0.95, products / squares));
  return scaled(differences.map((value, i) => (i === 0 ? Number.NaN : value - phi * differences[i - 1]!)));
}

/** Series without what the mean of all of them explains of each. */
export function withoutCommon(all: readonly GridSeries[]): GridSeries[] {
  const steps = all[0]?.length ?? 0;
  const mean = Float64Array.from({ length: steps }, (_, i) => {
    const known = all.map((series) => series[i]!).filter((value) => !Number.isNaN(value));
    return known.length === 0 ? Number.NaN : known.reduce((sum, value) => sum + value, 0) / known.length;
  });
  const common = scaled(mean);
  return all.map((series) => {
    const share = correlationAt(common, series, 0).r;
    return scaled(series.map((value, i) => value - (Number.isNaN(common[i]!) ? 0 : share * common[i]!)));
  });
}

/** The best lag of two whitened series; undefined where they have too little in common. */
export function laggedCorrelation(origin: GridSeries, related: GridSeries, lagMax: number): LaggedCorrelation | undefined {
  const reach = Math.min(lagMax, Math.floor(origin.length / LAG_SHARE));
  let best: { r: number; lag: number; count: number } | undefined;
  for (let lag = -reach; lag <= reach; lag++) {
    const { r, count } = correlationAt(origin, related, lag);
    if (count < VALUES_MIN) continue;
    if (best === undefined || Math.abs(r) > Math.abs(best.r) || (Math.abs(r) === Math.abs(best.r) && Math.abs(lag) < Math.abs(best.lag)))
      best = { r, lag, count };
  }
  if (best === undefined) return undefined;
  const limit = normalQuantile(SIGNIFICANT_TAIL / 2 / (2 * reach + 1)) / Math.sqrt(best.count - 3);
  return {
    r: (best.r * (best.count - 3)) / best.count,
    lag: best.lag,
    isSignificant: Math.abs(Math.atanh(Math.min(0.999_999, Math.abs(best.r)))) > limit,
  };
}

function correlationAt(origin: GridSeries, related: GridSeries, lag: number): { r: number; count: number } {
  let count = 0;
  let [sumA, sumB, squaresA, squaresB, products] = [0, 0, 0, 0, 0];
  for (let i = Math.max(0, -lag); i < Math.min(origin.length, related.length - lag); i++) {
    const a = origin[i]!;
    const b = related[i + lag]!;
    if (Number.isNaN(a) || Number.isNaN(b)) continue;
    count++;
    sumA += a;
    sumB += b;
    squaresA += a * a;
    squaresB += b * b;
    products += a * b;
  }
  const spread = Math.sqrt((squaresA - sumA ** 2 / count) * (squaresB - sumB ** 2 / count));
  return { r: count === 0 || !(spread > 0) ? 0 : (products - (sumA * sumB) / count) / spread, count };
}

function scaled(series: GridSeries): GridSeries {
  const known = series.filter((value) => !Number.isNaN(value));
  const mean = known.reduce((sum, value) => sum + value, 0) / Math.max(1, known.length);
  const sd = Math.sqrt(known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, known.length - 1));
  return series.map((value) => (sd > 0 ? (value - mean) / sd : Number.isNaN(value) ? value : 0));
}

/** Upper quantile of a standard normal (Abramowitz & Stegun 26.2.23), to 5e-4. */
function normalQuantile(tail: number): number {
  const t = Math.sqrt(-2 * Math.log(tail));
  return t - (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t ** 3);
}
