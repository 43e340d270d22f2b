// How two series move together: the largest correlation over lags of what neither its own past nor the load of all explains. Two daily series correlate by .6
// whatever they are, so a cubic trend and an AR filter come first (prewhitening), then the mean of all series is taken out.

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
/** Order of the filter. */
const OWN_LAGS = 3;
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

/** Innovation of each step: less a trend, less what the values before explain, scaled to a standard deviation of 1. */
export function whitened(series: GridSeries): GridSeries {
  const level = withoutTrend(series);
  const weights = autoregression(level);
  return scaled(level.map((value, i) => weights.reduce((left, weight, k) => left - weight * (level[i - 1 - k] ?? Number.NaN), value)));
}

/** A series without its cubic trend: of hours, what of a day shows in them. Legendre polynomials, one after another. */
function withoutTrend(series: GridSeries): GridSeries {
  const left = Float64Array.from(series);
  const last = Math.max(1, series.length - 1);
  // Twice, since the polynomials are not quite at right angles where values are missing.
  for (const polynomial of [...TREND, ...TREND]) {
    let products = 0;
    let squares = 0;
    for (let i = 0; i < left.length; i++) {
      if (Number.isNaN(left[i]!)) continue;
      const basis = polynomial((2 * i) / last - 1);
      products += basis * left[i]!;
      squares += basis * basis;
    }
    if (squares === 0) continue;
    for (let i = 0; i < left.length; i++) left[i]! -= (products / squares) * polynomial((2 * i) / last - 1);
  }
  return left;
}

const TREND: ReadonlyArray<(x: number) => number> = [() => 1, (x) => x, (x) => (3 * x * x - 1) / 2, (x) => (5 * x ** 3 - 3 * x) / 2];

/** Weights of the values before, by Durbin and Levinson's recursion over the correlations of a series with its own past. */
function autoregression(series: GridSeries): number[] {
  const own = Array.from({ length: OWN_LAGS }, (_, k) => correlationAt(series, series, k + 1).r);
  let weights: number[] = [];
  let left = 1;
  for (const [order, correlation] of own.entries()) {
    const explained = weights.reduce((sum, weight, k) => sum + weight * own[order - 1 - k]!, 0);
    const partial = (correlation - explained) / left;
    if (!(Math.abs(partial) < 1)) break;
    weights = [...weights.map((weight, k) => weight - partial * weights[order - 1 - k]!), partial];
    left *= 1 - partial * partial;
  }
  return weights;
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
  const strength = Math.abs(Math.atanh(Math.min(0.999_999, Math.abs(best.r))));
  return {
    r: (best.r * (best.count - 3)) / best.count,
    lag: best.lag,
    isSignificant: strength > limit && strength > limit * Math.sqrt(varianceInflation(origin, related)),
  };
}

/** Bartlett: by how much the variance of the correlation of two independent series is larger than 1/n for what is left of each one's own past. */
function varianceInflation(one: GridSeries, other: GridSeries): number {
  let inflation = 1;
  for (let lag = 1; lag <= OWN_LAGS; lag++) inflation += 2 * correlationAt(one, one, lag).r * correlationAt(other, other, lag).r;
  return Math.max(1, inflation);
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
