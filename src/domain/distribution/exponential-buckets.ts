// Exponential buckets brought to a common form: two points can be compared once they have the same scale and the same zero bucket.
import type { Distribution, ExponentialBuckets } from "./distribution.ts";

/** log2 of a bucket's lower bound, base^index; the upper bound is that of index + 1. */
export function lowerExponent(scale: number, index: number): number {
  return index * 2 ** -scale;
}

/** The same counts in buckets of a coarser scale: 2^steps neighbours become one (index >> steps, OpenTelemetry data model). */
function coarser({ offset, counts }: ExponentialBuckets, steps: number): ExponentialBuckets {
  if (steps === 0 || counts.length === 0) return { offset: counts.length === 0 ? 0 : offset, counts };
  const width = 2 ** steps;
  const first = Math.floor(offset / width);
  const merged = new Array<number>(Math.floor((offset + counts.length - 1) / width) - first + 1).fill(0);
  counts.forEach((count, i) => {
    const to = Math.floor((offset + i) / width) - first;
    merged[to] = (merged[to] as number) + count;
  });
  return { offset: first, counts: merged };
}

/** Takes the buckets that begin below 2^exponent out: how many values they hold, the log2 of where the last populated one ends, and the rest. */
function below({ offset, counts }: ExponentialBuckets, scale: number, exponent: number) {
  let taken = 0;
  let ends = exponent;
  let places = 0;
  while (places < counts.length && lowerExponent(scale, offset + places) < exponent) {
    const count = counts[places] as number;
    if (count > 0) ends = Math.max(ends, lowerExponent(scale, offset + places + 1));
    taken += count;
    places++;
  }
  return { taken, ends, rest: { offset: offset + places, counts: counts.slice(places) } };
}

function widenZero(point: Distribution, threshold: number): Distribution {
  if (threshold <= point.zeroThreshold) return point;
  const exponent = Math.log2(threshold);
  const positive = below(point.positive, point.scale, exponent);
  const negative = below(point.negative, point.scale, exponent);
  return {
    ...point,
    zeroCount: point.zeroCount + positive.taken + negative.taken,
    zeroThreshold: Math.max(threshold, 2 ** Math.max(positive.ends, negative.ends)),
    positive: positive.rest,
    negative: negative.rest,
  };
}

/** The same points with one scale, the coarser, and one width of the zero bucket, the larger (as Prometheus reconciles native histograms). */
export function aligned(one: Distribution, other: Distribution): readonly [Distribution, Distribution] {
  const scale = Math.min(one.scale, other.scale);
  let pair = [one, other].map((point) => ({
    ...point,
    scale,
    positive: coarser(point.positive, point.scale - scale),
    negative: coarser(point.negative, point.scale - scale),
  })) as [Distribution, Distribution];
  // A populated bucket that the wider zero bucket cuts widens it further: once more for the other point.
  for (let attempt = 0; attempt < 2 && pair[0].zeroThreshold !== pair[1].zeroThreshold; attempt++) {
    const threshold = Math.max(pair[0].zeroThreshold, pair[1].zeroThreshold);
    pair = [widenZero(pair[0], threshold), widenZero(pair[1], threshold)];
  }
  return pair;
}

/** Increase of each bucket since; `fell` when one holds less than before. */
export function bucketsSince(previous: ExponentialBuckets, current: ExponentialBuckets): { buckets: ExponentialBuckets; fell: boolean } {
  let fell = false;
  const counts = current.counts.map((count, i) => {
    const before = previous.counts[current.offset + i - previous.offset] ?? 0;
    if (count < before) fell = true;
    return Math.max(0, count - before);
  });
  const end = current.offset + current.counts.length;
  const lost = previous.counts.some((count, i) => count > 0 && (previous.offset + i < current.offset || previous.offset + i >= end));
  return { buckets: { offset: current.offset, counts }, fell: fell || lost };
}
