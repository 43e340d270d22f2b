// Histogram points made from samples, as an SDK would make them, and their sums.
import { type Distribution, EMPTY_DISTRIBUTION, type ExponentialBuckets } from "../../src/domain/distribution/distribution.ts";

/** A delta point with explicit buckets of samples. */
export function explicitPoint(samples: readonly number[], bounds: readonly number[]): Distribution {
  const bucketCounts = new Array<number>(bounds.length + 1).fill(0);
  for (const sample of samples) {
    const place = bounds.findIndex((bound) => sample <= bound);
    const at = place < 0 ? bounds.length : place;
    bucketCounts[at] = (bucketCounts[at] as number) + 1;
  }
  return { ...EMPTY_DISTRIBUTION, temporality: "delta", count: samples.length, sum: total(samples), bounds, bucketCounts };
}

/** The same with exponential buckets; what is nearer to zero than the threshold is zero. */
export function exponentialPoint(samples: readonly number[], scale: number, zeroThreshold = 0): Distribution {
  const indexOf = (magnitude: number) => Math.ceil(Math.log2(magnitude) * 2 ** scale) - 1;
  const beyond = samples.filter((sample) => Math.abs(sample) > zeroThreshold);
  return {
    ...EMPTY_DISTRIBUTION,
    temporality: "delta",
    kind: "exponential",
    count: samples.length,
    sum: total(samples),
    scale,
    zeroThreshold,
    zeroCount: samples.length - beyond.length,
    positive: bucketsOf(beyond.filter((sample) => sample > 0).map(indexOf)),
    negative: bucketsOf(beyond.filter((sample) => sample < 0).map((sample) => indexOf(-sample))),
  };
}

function total(samples: readonly number[]): number {
  return samples.reduce((sum, sample) => sum + sample, 0);
}

function bucketsOf(indexes: readonly number[]): ExponentialBuckets {
  if (indexes.length === 0) return { offset: 0, counts: [] };
  const offset = Math.min(...indexes);
  const counts = new Array<number>(Math.max(...indexes) - offset + 1).fill(0);
  for (const index of indexes) counts[index - offset] = (counts[index - offset] as number) + 1;
  return { offset, counts };
}
