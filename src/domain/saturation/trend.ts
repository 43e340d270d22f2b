// Slopes that a few wild values cannot turn, and whether there is a trend at all. Theil (1950) and Sen (1968): the median of the slopes of
// all pairs breaks down at 29 % of bad points. Mann (1945) and Kendall (1975): the sign of all pairs; its variance is corrected for
// autocorrelation after Hamed & Rao (1998). With n = 144 points a slope takes 10,296 pairs, about 0.2 ms by selection.
import { selectIndex } from "../../core/collections/selection.ts";
import { logNormalTail, normalQuantile } from "../detection/tail-probability.ts";

/** Points that one trend takes; longer input is refused, as the pairs grow with its square. */
export const TREND_POINTS_MAX = 144;
const PAIRS_MAX = (TREND_POINTS_MAX * (TREND_POINTS_MAX - 1)) / 2;

/** Slope in value per unit of t, with the bounds of its confidence interval. */
export interface SenSlope {
  readonly slope: number;
  /** Median of y - slope * t. */
  readonly intercept: number;
  readonly lower: number;
  readonly upper: number;
}

export interface TrendTest {
  /** Kendall's tau-a in -1..1: (rising pairs - falling pairs) / pairs. */
  readonly tau: number;
  /** Two-sided. */
  readonly p: number;
  /** Factor by which autocorrelation raises the variance of the statistic, at least 1. */
  readonly inflation: number;
}

const slopesScratch = new Float64Array(PAIRS_MAX);

/**
 * Theil-Sen line through (t[i], y[i]) with Sen's interval of `confidence`. `inflation` (of trendTest) widens the interval for autocorrelated
 * points. Pairs with equal t are left out; without any pair all is 0 but the intercept.
 */
export function senSlope(t: Float64Array, y: Float64Array, inflation = 1, confidence = 0.95): SenSlope {
  const n = checkedLength(t, y);
  let pairs = 0;
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      const dt = (t[j] as number) - (t[i] as number);
      if (dt !== 0) slopesScratch[pairs++] = ((y[j] as number) - (y[i] as number)) / dt;
    }
  }
  if (pairs === 0) return { slope: 0, intercept: medianInPlace(Float64Array.from(y), n), lower: 0, upper: 0 };
  const slope = medianInPlace(slopesScratch, pairs);
  const intercept = medianInPlace(
    Float64Array.from(y, (value, i) => value - slope * (t[i] as number)),
    n,
  );
  const deviation = normalQuantile(Math.log(1 - confidence)) * Math.sqrt(kendallVariance(n, y) * inflation);
  const rank = (value: number): number => Math.min(pairs - 1, Math.max(0, value));
  const lower = selectIndex(slopesScratch, pairs, rank(Math.round((pairs - deviation) / 2) - 1));
  const upper = selectIndex(slopesScratch, pairs, rank(Math.round((pairs + deviation) / 2)));
  return { slope, intercept, lower, upper };
}

/** Mann-Kendall test of y in order. `residuals` are y without its trend: their autocorrelation corrects the variance; without them none is. */
export function trendTest(y: Float64Array, residuals?: Float64Array): TrendTest {
  const n = y.length;
  if (n < 3) return { tau: 0, p: 1, inflation: 1 };
  let s = 0;
  for (let i = 0; i < n; i++) {
    const yi = y[i] as number;
    for (let j = i + 1; j < n; j++) s += Math.sign((y[j] as number) - yi);
  }
  const inflation = residuals === undefined ? 1 : varianceInflation(residuals);
  const variance = kendallVariance(n, y) * inflation;
  const z = s === 0 || variance === 0 ? 0 : (s - Math.sign(s)) / Math.sqrt(variance);
  return { tau: s / ((n * (n - 1)) / 2), p: z === 0 ? 1 : Math.exp(logNormalTail(z)), inflation };
}

/**
 * Hamed and Rao's n / n* from the ranks of the residuals; only lags that are significant at 5 % count. Never below 1: negative correlation
 * is not taken as more certainty than independent points give.
 */
export function varianceInflation(residuals: Float64Array): number {
  const n = residuals.length;
  if (n < 4) return 1;
  const ranks = averageRanks(residuals);
  const mean = (n + 1) / 2;
  let power = 0;
  for (let i = 0; i < n; i++) power += ((ranks[i] as number) - mean) ** 2;
  if (power === 0) return 1;
  const significant = 1.959963984540054 / Math.sqrt(n);
  let sum = 0;
  for (let lag = 1; lag < n - 2; lag++) {
    let product = 0;
    for (let i = lag; i < n; i++) product += ((ranks[i] as number) - mean) * ((ranks[i - lag] as number) - mean);
    const rho = product / power;
    if (Math.abs(rho) > significant) sum += (n - lag) * (n - lag - 1) * (n - lag - 2) * rho;
  }
  return Math.max(1, 1 + (2 / (n * (n - 1) * (n - 2))) * sum);
}

/** Median of the first `n` values, which it reorders. */
export function medianInPlace(values: Float64Array, n: number): number {
  if (n === 0) return 0;
  const upper = selectIndex(values, n, n >> 1);
  if (n % 2 === 1) return upper;
  let lower = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < n >> 1; i++) lower = Math.max(lower, values[i] as number);
  return lower + (upper - lower) / 2;
}

/** Variance of Kendall's S under no trend, ties of y included. */
function kendallVariance(n: number, y: Float64Array): number {
  const sorted = Float64Array.from(y).sort();
  let ties = 0;
  for (let i = 0; i < n; ) {
    let end = i + 1;
    while (end < n && sorted[end] === sorted[i]) end++;
    const size = end - i;
    ties += size * (size - 1) * (2 * size + 5);
    i = end;
  }
  return (n * (n - 1) * (2 * n + 5) - ties) / 18;
}

/** Ranks 1..n, ties at their mean. */
function averageRanks(values: Float64Array): Float64Array {
  const order = Uint32Array.from(values, (_, i) => i).sort((a, b) => (values[a] as number) - (values[b] as number));
  const ranks = new Float64Array(values.length);
  for (let i = 0; i < order.length; ) {
    let end = i + 1;
    while (end < order.length && values[order[end] as number] === values[order[i] as number]) end++;
    for (let k = i; k < end; k++) ranks[order[k] as number] = (i + 1 + end) / 2;
    i = end;
  }
  return ranks;
}

function checkedLength(t: Float64Array, y: Float64Array): number {
  if (t.length !== y.length || t.length > TREND_POINTS_MAX) {
    throw new Error(`a trend takes as many times as values, at most ${TREND_POINTS_MAX}; got ${t.length} and ${y.length}`);
  }
  return t.length;
}
