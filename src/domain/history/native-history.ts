/**
 * Native histograms as Prometheus answers them: {"count", "sum", "buckets": [[sides, lower, upper, count], ...]}, only buckets that hold something, all
 * numbers but `sides` as text. The answer says neither schema nor kind, so both are found from the whole series.
 * https://prometheus.io/docs/prometheus/latest/querying/api/#native-histograms
 */
import { isObject } from "../../core/collections/own-member.ts";
import { BUCKETS_MAX, type Distribution, EMPTY_DISTRIBUTION, type ExponentialBuckets } from "../distribution/distribution.ts";
import { SCHEMA_MAX, SCHEMA_MIN } from "../remote-write/native-histogram.ts";
import { numberOfJson } from "./history-samples.ts";

/** Values in (lower, upper], or with other ends where `sides` says so: it matters only to the zero bucket, which holds both its ends. */
interface AnsweredBucket {
  readonly isZero: boolean;
  readonly lower: number;
  readonly upper: number;
  readonly count: number;
}

/** A histogram as it was answered; `sum` is null where it is no finite number. */
export interface AnsweredHistogram {
  readonly count: number;
  readonly sum: number | null;
  readonly buckets: readonly AnsweredBucket[];
}

/** Bucket k of a schema covers (2^((k-1) / 2^schema), 2^(k / 2^schema)]. */
interface GridBucket {
  readonly schema: number;
  readonly k: number;
}

const BOTH_ENDS = 3;
/** Rounding of a bucket's number: bounds are doubles, so 1e-10 at the finest schema. */
const ROUNDING = 1e-6;

/** A histogram of the answer; undefined for what is none. */
export function answeredHistogram(value: unknown): AnsweredHistogram | undefined {
  if (!isObject(value)) return undefined;
  const { buckets = [] } = value;
  const [count, sum] = [numberOfJson(value.count), numberOfJson(value.sum)];
  if (count === undefined || !(count >= 0) || sum === undefined || !Array.isArray(buckets)) return undefined;
  const read = buckets.map(answeredBucket);
  if (read.includes(undefined)) return undefined;
  return { count, sum: Number.isFinite(sum) ? sum : null, buckets: read as AnsweredBucket[] };
}

function answeredBucket(value: unknown): AnsweredBucket | undefined {
  if (!Array.isArray(value) || value.length !== 4) return undefined;
  const [lower, upper, count] = value.slice(1).map(numberOfJson) as [number | undefined, number | undefined, number | undefined];
  if (lower === undefined || upper === undefined || count === undefined || !(lower <= upper) || !(count >= 0)) return undefined;
  return { isZero: value[0] === BOTH_ENDS && lower === -upper, lower, upper, count };
}

/**
 * The histograms of one series, which have the buckets that they have live: exponential ones where all bounds are powers of a base, else those with bounds of
 * their own. Each stands for itself where a count is no whole number, as rates have them; else they are cumulative. Undefined where they have more buckets
 * than BUCKETS_MAX.
 */
export function distributionsOf(series: readonly AnsweredHistogram[]): Distribution[] | undefined {
  const isWhole = series.every(
    ({ count, buckets }) => Number.isInteger(count) && buckets.every((bucket) => Number.isInteger(bucket.count)),
  );
  const distributions = exponentialOnes(series) ?? explicitOnes(series);
  return distributions?.map((one) => ({ ...one, temporality: isWhole ? "cumulative" : "delta" }));
}

/** Undefined where they are no such; one without buckets has the schema of its neighbour. */
function exponentialOnes(series: readonly AnsweredHistogram[]): Distribution[] | undefined {
  const schemas = series.map(schemaOf);
  if (schemas.includes("none")) return undefined;
  let scale = (schemas.find((schema) => schema !== "any") as number | undefined) ?? 0;
  const made = series.map((histogram, i) => {
    scale = schemas[i] === "any" ? scale : (schemas[i] as number);
    return exponentialOf(histogram, scale);
  });
  return made.includes(undefined) ? undefined : (made as Distribution[]);
}

/** The schema that all buckets fit; "any" where there is none but the zero bucket. */
function schemaOf({ buckets }: AnsweredHistogram): number | "any" | "none" {
  let schema: number | "any" = "any";
  for (const bucket of buckets) {
    if (bucket.isZero) continue;
    const grid = gridBucket(bucket);
    if (grid === undefined || (schema !== "any" && schema !== grid.schema)) return "none";
    schema = grid.schema;
  }
  return schema;
}

function gridBucket({ lower, upper }: AnsweredBucket): GridBucket | undefined {
  const [near, far] = lower < 0 ? [-upper, -lower] : [lower, upper];
  if (!(near > 0 && far < Number.POSITIVE_INFINITY)) return undefined;
  const schema = Math.round(-Math.log2(Math.log2(far) - Math.log2(near)));
  if (!(schema >= SCHEMA_MIN && schema <= SCHEMA_MAX)) return undefined;
  const exact = Math.log2(far) * 2 ** schema;
  const k = Math.round(exact);
  const isFit = Math.abs(exact - k) < ROUNDING && Math.abs(Math.log2(near) * 2 ** schema - (k - 1)) < ROUNDING;
  return isFit ? { schema, k } : undefined;
}

function exponentialOf({ count, sum, buckets }: AnsweredHistogram, scale: number): Distribution | undefined {
  const zero = buckets.find(({ isZero }) => isZero);
  const sides = buckets.filter(({ isZero }) => !isZero);
  const positive = sideOf(sides.filter(({ lower }) => lower >= 0));
  const negative = sideOf(sides.filter(({ lower }) => lower < 0));
  if (positive === undefined || negative === undefined) return undefined;
  const inZero = { zeroCount: zero?.count ?? 0, zeroThreshold: zero?.upper ?? 0 };
  return { ...EMPTY_DISTRIBUTION, kind: "exponential", count, sum, scale, ...inZero, positive, negative };
}

function sideOf(buckets: readonly AnsweredBucket[]): ExponentialBuckets | undefined {
  const places = buckets.map((bucket) => (gridBucket(bucket) as GridBucket).k - 1);
  if (places.length === 0) return { offset: 0, counts: [] };
  const offset = places.reduce((least, index) => Math.min(least, index));
  const last = places.reduce((most, index) => Math.max(most, index));
  if (last - offset >= BUCKETS_MAX) return undefined;
  const counts = new Array<number>(last - offset + 1).fill(0);
  places.forEach((index, i) => {
    counts[index - offset] = (counts[index - offset] as number) + (buckets[i] as AnsweredBucket).count;
  });
  return { offset, counts };
}

/** With the bounds of all, so that each can be compared with the one before. */
function explicitOnes(series: readonly AnsweredHistogram[]): Distribution[] | undefined {
  const edges = new Set<number>();
  for (const { buckets } of series) {
    for (const { lower, upper } of buckets) {
      for (const edge of [lower, upper]) if (Number.isFinite(edge)) edges.add(edge === 0 ? 0 : edge);
      if (edges.size >= BUCKETS_MAX) return undefined;
    }
  }
  const bounds = [...edges].sort((a, b) => a - b);
  const places = new Map(bounds.map((bound, index) => [bound, index]));
  return series.map(({ count, sum, buckets }) => {
    const bucketCounts = new Array<number>(bounds.length + 1).fill(0);
    for (const { upper, count: bucketCount } of buckets) {
      const index = places.get(upper) ?? bounds.length;
      bucketCounts[index] = (bucketCounts[index] as number) + bucketCount;
    }
    return { ...EMPTY_DISTRIBUTION, kind: "explicit", count, sum, bounds, bucketCounts };
  });
}
