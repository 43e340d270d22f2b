// Quantiles of histograms by the rules of Prometheus' histogram_quantile (promql/quantile.go): linear within a classic bucket, exponential within a
// native one (since 3.0). Where a point says its smallest and largest value, the outer buckets end there and no estimate lies beyond.
import type { Distribution, ExponentialBuckets } from "./distribution.ts";
import { lowerExponent } from "./exponential-buckets.ts";

/** Values that the buckets of a histogram cannot exceed, finite; null = unknown. */
interface Extremes {
  readonly min: number | null;
  readonly max: number | null;
}

const UNKNOWN: Extremes = { min: null, max: null };
/** Rounding that an index may have, as a share of a bucket's width on its logarithmic scale. */
const EDGE = 1e-6;

/** The estimate of a quantile, 0 to 1; NaN where the buckets say nothing. */
export function quantileOf(point: Distribution, quantile: number): number {
  return point.kind === "explicit"
    ? explicitQuantile(quantile, point.bounds, point.bucketCounts, extremesOf(point))
    : exponentialQuantile(quantile, point);
}

/** One that is no finite number says nothing. */
function extremesOf({ min, max }: Distribution): Extremes {
  return { min: Number.isFinite(min) ? min : null, max: Number.isFinite(max) ? max : null };
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * Of a histogram with rising upper bounds and one count more than bounds. As in Prometheus: NaN when it is empty or has no bounds, the lowest bound where that is not
 * above zero and the quantile lies below it, the highest where it lies above; -Infinity and Infinity for quantiles below 0 and above 1.
 */
export function explicitQuantile(
  quantile: number,
  bounds: readonly number[],
  counts: readonly number[],
  extremes: Extremes = UNKNOWN,
): number {
  if (quantile < 0) return Number.NEGATIVE_INFINITY;
  if (quantile > 1) return Number.POSITIVE_INFINITY;
  const count = total(counts);
  if (count === 0 || bounds.length === 0 || counts.length !== bounds.length + 1) return Number.NaN;
  let rank = quantile * count;
  let bucket = 0;
  while (bucket < bounds.length && rank > (counts[bucket] as number)) rank -= counts[bucket++] as number;
  const { min, max } = extremes;
  const low = bucket > 0 ? (bounds[bucket - 1] as number) : (min ?? Math.min(0, bounds[0] as number));
  const high = bucket < bounds.length ? (bounds[bucket] as number) : (max ?? low);
  if (bucket === bounds.length && max === null) return clamped(low, extremes);
  if (bucket === 0 && min === null && high <= 0) return clamped(high, extremes);
  return clamped(interpolated(low, Math.max(low, high), rank / (counts[bucket] as number)), extremes);
}

/**
 * The same from counts up to each of the first `length` rising bounds, the last of which is +Infinity, as classic buckets come. The counts may not fall.
 * About 20 ns.
 */
export function classicQuantile(quantile: number, bounds: ArrayLike<number>, cumulative: ArrayLike<number>, length: number): number {
  if (quantile < 0) return Number.NEGATIVE_INFINITY;
  if (quantile > 1) return Number.POSITIVE_INFINITY;
  const count = cumulative[length - 1] as number;
  if (length < 2 || count === 0) return Number.NaN;
  const rank = quantile * count;
  let bucket = 0;
  while (bucket < length - 1 && (cumulative[bucket] as number) < rank) bucket++;
  if (bucket === length - 1) return bounds[length - 2] as number;
  const high = bounds[bucket] as number;
  if (bucket === 0 && high <= 0) return high;
  const low = bucket === 0 ? 0 : (bounds[bucket - 1] as number);
  const before = bucket === 0 ? 0 : (cumulative[bucket - 1] as number);
  return interpolated(low, high, (rank - before) / ((cumulative[bucket] as number) - before));
}

/** Finite also where the two are further apart than the largest number. */
function interpolated(low: number, high: number, fraction: number): number {
  const width = high - low;
  return width < Number.POSITIVE_INFINITY ? low + width * fraction : low * (1 - fraction) + high * fraction;
}

function clamped(value: number, { min, max }: Extremes): number {
  return Math.min(Math.max(value, min ?? Number.NEGATIVE_INFINITY), max ?? Number.POSITIVE_INFINITY);
}

function magnitudeAt(scale: number, index: number, fraction: number): number {
  return Math.min(2 ** lowerExponent(scale, index + fraction), Number.MAX_VALUE);
}

function exponentialQuantile(quantile: number, point: Distribution): number {
  const extremes = extremesOf(point);
  const { scale, positive, negative, zeroCount } = point;
  const count = total(positive.counts) + total(negative.counts) + zeroCount;
  if (count === 0) return Number.NaN;
  let rank = quantile * count;
  for (let i = negative.counts.length - 1; i >= 0; i--) {
    const bucketCount = negative.counts[i] as number;
    if (bucketCount > 0 && rank <= bucketCount) return clamped(-magnitudeAt(scale, negative.offset + i, 1 - rank / bucketCount), extremes);
    rank -= bucketCount;
  }
  if (zeroCount > 0 && rank <= zeroCount) return clamped(inZero(point, rank / zeroCount), extremes);
  rank -= zeroCount;
  for (let i = 0; i < positive.counts.length; i++) {
    const bucketCount = positive.counts[i] as number;
    if (bucketCount > 0 && rank <= bucketCount)
      return clamped(magnitudeAt(scale, positive.offset + i, Math.max(0, rank) / bucketCount), extremes);
    rank -= bucketCount;
  }
  return clamped(largest(point), extremes);
}

/** Linear; a side on which no values lie is left out. */
function inZero({ positive, negative, zeroThreshold }: Distribution, fraction: number): number {
  const hasNegative = total(negative.counts) > 0;
  const hasPositive = total(positive.counts) > 0;
  const low = hasNegative || !hasPositive ? -zeroThreshold : 0;
  const high = hasPositive || !hasNegative ? zeroThreshold : 0;
  return low + (high - low) * fraction;
}

/** Where the last value lies at most: rounding of the rank passed the last bucket. */
function largest(point: Distribution): number {
  const last = (buckets: ExponentialBuckets) => buckets.counts.findLastIndex((bucketCount) => bucketCount > 0);
  const at = last(point.positive);
  if (at >= 0) return magnitudeAt(point.scale, point.positive.offset + at, 1);
  return point.zeroCount > 0 ? point.zeroThreshold : -magnitudeAt(point.scale, point.negative.offset, 0);
}

/** Width of the bucket that an estimate of `quantileOf` lies in, in its units; 0 where it is not known, as that of the last one of a histogram that says no largest value. */
export function widthOf(point: Distribution, estimate: number): number {
  const extremes = extremesOf(point);
  if (point.kind !== "explicit") return exponentialWidth(point, estimate, extremes);
  const { bounds } = point;
  const { min, max } = extremes;
  let bucket = 0;
  while (bucket < bounds.length && (bounds[bucket] as number) < estimate) bucket++;
  const low = bucket > 0 ? (bounds[bucket - 1] as number) : (min ?? Math.min(0, estimate));
  const high = bucket < bounds.length ? (bounds[bucket] as number) : (max ?? low);
  return between(low, high, extremes);
}

/** The same for `classicQuantile`. */
export function classicWidth(estimate: number, bounds: ArrayLike<number>, length: number): number {
  let bucket = 0;
  while (bucket < length && (bounds[bucket] as number) < estimate) bucket++;
  const high = bounds[bucket] as number;
  const low = bucket > 0 ? (bounds[bucket - 1] as number) : Math.min(0, estimate);
  return high - low < Number.POSITIVE_INFINITY ? high - low : 0;
}

function exponentialWidth(point: Distribution, estimate: number, extremes: Extremes): number {
  const magnitude = Math.abs(estimate);
  if (magnitude <= point.zeroThreshold) {
    const hasNegative = total(point.negative.counts) > 0;
    return between(hasNegative ? -point.zeroThreshold : 0, point.zeroThreshold, extremes);
  }
  // The estimate of a whole bucket is its upper bound, give or take the rounding of the logarithm.
  const index = Math.ceil(Math.log2(magnitude) * 2 ** point.scale - EDGE) - 1;
  const [low, high] = [magnitudeAt(point.scale, index, 0), magnitudeAt(point.scale, index, 1)];
  return estimate < 0 ? between(-high, -low, extremes) : between(low, high, extremes);
}

/** The part of a bucket in which values may lie. */
function between(low: number, high: number, { min, max }: Extremes): number {
  const width = Math.min(high, max ?? high) - Math.max(low, min ?? low);
  return width > 0 && width < Number.POSITIVE_INFINITY ? width : 0;
}
