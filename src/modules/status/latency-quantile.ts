// Quantiles of the histogram of detection latency, as the status tells them.
import { LATENCY_BOUNDS_SECONDS, SLOT_LATENCY } from "../../core/layout/counters.ts";

/** Times from the arrival of a sample to its stored anomaly, since the start. */
export interface DetectionLatency {
  readonly count: number;
  /** Ms; null where there was none. Within a bucket evenly spread, as Prometheus takes it; beyond the last bound that bound. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

/** Detection latency from the coordinator's slots. */
export function detectionLatency(slots: Float64Array): DetectionLatency {
  const buckets = [...slots.subarray(SLOT_LATENCY, SLOT_LATENCY + LATENCY_BOUNDS_SECONDS.length + 1)];
  const count = buckets.reduce((sum, bucket) => sum + bucket, 0);
  return { count, p50Ms: quantileMs(buckets, count, 0.5), p99Ms: quantileMs(buckets, count, 0.99) };
}

function quantileMs(buckets: readonly number[], count: number, share: number): number | null {
  if (count === 0) return null;
  let before = 0;
  for (const [at, bucket] of buckets.entries()) {
    const rank = share * count - before;
    before += bucket;
    if (rank > bucket) continue;
    const lower = LATENCY_BOUNDS_SECONDS[at - 1] ?? 0;
    const upper = LATENCY_BOUNDS_SECONDS[at] ?? lower;
    return Math.round((lower + (upper - lower) * (rank / bucket)) * 1e5) / 100;
  }
  return null;
}
