// A histogram with explicit buckets as Prometheus' classic histograms have it: a counter for each bound, of all values up to it, one of all values, and one of their sum.
// Points of delta temporality are added up for that, as OpenTelemetry's deltatocumulative processor does.
import { formatPlain } from "../../core/text/plain-number.ts";
import type { Distribution } from "./distribution.ts";

export const BUCKET_SUFFIX = "_bucket";
export const CLASSIC_COUNT_SUFFIX = "_count";
export const CLASSIC_SUM_SUFFIX = "_sum";
/** The label of a bucket's bound. */
export const BOUND_LABEL = "le";
/** Bytes that the names of these series add to that of the histogram and to its attributes, at most: a bound of 5e-324 has 326 digits. */
export const CLASSIC_BYTES_MAX = 512;

/** Texts of the bounds as Prometheus' OTLP endpoint writes them, and that of all values. */
export function boundTexts(bounds: readonly number[]): string[] {
  return [...bounds.map(formatPlain), "+Inf"];
}

/** Values up to each bound, and all values. A sender may leave the buckets out where it sends no bounds. */
export function valuesUpTo({ bounds, bucketCounts, count }: Pick<Distribution, "bounds" | "bucketCounts" | "count">): number[] {
  let below = 0;
  const counts = bounds.map((_, index) => {
    below += bucketCounts[index] as number;
    return below;
  });
  return [...counts, count];
}

export function haveSameBounds(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((bound, index) => bound === other[index]);
}

/**
 * The sum of all points of delta temporality up to this one, where `total` is that of those before it; undefined for a point that is not later, which may be one
 * that came before. Of other bounds counting begins anew.
 */
export function totalWith(total: Distribution | undefined, point: Distribution): Distribution | undefined {
  if (total === undefined) return point;
  if (point.timeMs <= total.timeMs) return undefined;
  if (!haveSameBounds(total.bounds, point.bounds)) return point;
  return {
    ...point,
    startMs: total.startMs,
    count: total.count + point.count,
    sum: total.sum === null || point.sum === null ? null : total.sum + point.sum,
    bucketCounts: point.bucketCounts.map((count, index) => count + (total.bucketCounts[index] as number)),
  };
}
