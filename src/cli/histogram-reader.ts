// Reads the detection latency histogram back from the text of /metrics.

export interface HistogramBucket {
  /** Upper bound in seconds. */
  readonly bound: number;
  /** Observations at or below the bound. */
  readonly count: number;
}

const BUCKET = /^svc_detection_latency_seconds_bucket\{le="([^"]+)"\} (\S+)$/gm;

/** The buckets, by ascending bound. */
export function latencyHistogram(text: string): HistogramBucket[] {
  return [...text.matchAll(BUCKET)].map(([, bound, count]) => ({
    bound: bound === "+Inf" ? Number.POSITIVE_INFINITY : Number(bound),
    count: Number(count),
  }));
}

/** The bucket that holds a quantile, as text for people: "at most 5 ms". */
export function quantileOf(buckets: readonly HistogramBucket[], quantile: number): string {
  const total = buckets.at(-1)?.count ?? 0;
  if (total === 0) return "unknown (nothing observed)";
  const bucket = buckets.find(({ count }) => count >= quantile * total) as HistogramBucket;
  return bucket.bound === Number.POSITIVE_INFINITY ? "over 10 s" : `at most ${bucket.bound * 1000} ms`;
}
