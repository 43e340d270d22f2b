// Quantiles of values and of classic buckets (promql/quantile.go of Prometheus).

/** The quantile of values, between two of them by their distance. Sorts them. */
export function quantileOf(quantile: number, values: Float64Array): number {
  if (values.length === 0 || Number.isNaN(quantile)) return Number.NaN;
  if (quantile < 0) return -Infinity;
  if (quantile > 1) return Infinity;
  sortValues(values);
  const rank = quantile * (values.length - 1);
  const lower = Math.floor(rank);
  const weight = rank - lower;
  return (values[lower] as number) * (1 - weight) + (values[Math.min(values.length - 1, lower + 1)] as number) * weight;
}

/** The order of typed arrays puts NaN last, which is cheaper than a comparison of our own. */
function sortValues(values: Float64Array): void {
  values.sort();
  let nans = 0;
  while (nans < values.length && Number.isNaN(values[values.length - 1 - nans])) nans++;
  if (nans === 0) return;
  values.copyWithin(nans, 0, values.length - nans);
  values.fill(Number.NaN, 0, nans);
}

/** Buckets of one histogram at one step: cumulative counts by upper bound. */
export interface Buckets {
  bounds: number[];
  counts: number[];
}

/** How far counts had to be raised so that none decreases. */
export interface Raise {
  readonly leastBound: number;
  readonly greatestBound: number;
  readonly differenceMax: number;
}

/** A quantile of buckets, and whether they had to be raised. */
export interface BucketQuantile {
  readonly value: number;
  readonly raise: Raise | undefined;
}

/** Differences of counts that are rounding. */
const TOLERANCE = 1e-12;
const LEAST_NORMAL = 2 ** -1022;

/** The quantile of a classic histogram, within a bucket by its share. The buckets must be ascending by bound; their counts are mended in place. */
export function bucketQuantile(quantile: number, input: Buckets): BucketQuantile {
  const without = (value: number): BucketQuantile => ({ value, raise: undefined });
  if (Number.isNaN(quantile)) return without(Number.NaN);
  if (quantile < 0) return without(-Infinity);
  if (quantile > 1) return without(Infinity);
  if (input.bounds.at(-1) !== Infinity) return without(Number.NaN);
  const buckets = coalesced(input);
  const raise = makeMonotonic(buckets);
  const count = buckets.counts.at(-1) as number;
  if (buckets.bounds.length < 2 || count === 0) return without(Number.NaN);
  return { value: interpolate(buckets, quantile * count), raise };
}

function interpolate({ bounds, counts }: Buckets, rank: number): number {
  const last = bounds.length - 1;
  let bucket = counts.findIndex((count, index) => index < last && count >= rank);
  if (bucket < 0) bucket = last;
  const bound = bounds[bucket] as number;
  if (bucket === last) return bounds[last - 1] as number;
  if (bucket === 0 && bound <= 0) return bound;
  const below = bucket === 0 ? 0 : (counts[bucket - 1] as number);
  const start = bucket === 0 ? 0 : (bounds[bucket - 1] as number);
  return start + (bound - start) * ((rank - below) / ((counts[bucket] as number) - below));
}

/** One bucket of those with the same bound. */
function coalesced({ bounds, counts }: Buckets): Buckets {
  const merged: Buckets = { bounds: [], counts: [] };
  for (let i = 0; i < bounds.length; i++) {
    const last = merged.bounds.length - 1;
    if (last >= 0 && merged.bounds[last] === bounds[i]) merged.counts[last] = (merged.counts[last] as number) + (counts[i] as number);
    else {
      merged.bounds.push(bounds[i] as number);
      merged.counts.push(counts[i] as number);
    }
  }
  return merged;
}

/** Takes rounding away, and raises counts that decrease. */
function makeMonotonic({ bounds, counts }: Buckets): Raise | undefined {
  let raise: Raise | undefined;
  let before = counts[0] as number;
  for (let i = 1; i < counts.length; i++) {
    const count = counts[i] as number;
    if (isAlmostEqual(before, count)) counts[i] = before;
    else if (count < before) {
      counts[i] = before;
      raise = {
        leastBound: raise?.leastBound ?? (bounds[i] as number),
        greatestBound: bounds[i] as number,
        differenceMax: Math.max(raise?.differenceMax ?? 0, before - count),
      };
    } else before = count;
  }
  return raise;
}

function isAlmostEqual(a: number, b: number): boolean {
  if (a === b) return true;
  const sum = Math.abs(a) + Math.abs(b);
  const difference = Math.abs(a - b);
  if (a === 0 || b === 0 || sum < LEAST_NORMAL) return difference < TOLERANCE * LEAST_NORMAL;
  return difference / Math.min(sum, Number.MAX_VALUE) < TOLERANCE;
}

/** Share of a classic histogram's observations between two values. The buckets must be ascending by bound. */
export function bucketFraction(lower: number, upper: number, input: Buckets): number {
  if (input.bounds.at(-1) !== Infinity) return Number.NaN;
  const buckets = coalesced(input);
  const count = buckets.counts.at(-1) as number;
  if (count === 0 || Number.isNaN(lower) || Number.isNaN(upper)) return Number.NaN;
  if (lower >= upper) return 0;
  return (Math.min(count, rankOf(upper, buckets)) - Math.min(count, rankOf(lower, buckets))) / count;
}

/** How many observations are below a value: of a bucket that begins nowhere all, else by the value's share. */
function rankOf(value: number, { bounds, counts }: Buckets): number {
  let rank = 0;
  let start = (bounds[0] as number) > 0 ? 0 : -Infinity;
  for (let i = 0; i < bounds.length; i++) {
    const end = bounds[i] as number;
    const count = counts[i] as number;
    if (start >= value) return rank;
    if (end > value) return start === -Infinity ? count : rank + ((count - rank) * (value - start)) / (end - start);
    rank = count;
    start = end;
  }
  return rank;
}
