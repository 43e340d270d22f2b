// Which metrics of a service, and which of their streams, make its vector. Metrics are taken in the order of their names and streams in that of their hashes, so
// that a vector, and what a model learns of it, is the same for any number of engines and after any restart.
import { SERVICE_METRICS_MAX, SERVICE_VECTOR_STREAMS_MAX } from "../../../core/config/limits.ts";

/** Values that the regularity of a metric is known from. */
const REGULAR_FROM = 12;

/** All names, or of too many those whose values come most regularly, sorted. `unevennessOf` is asked only where there are too many. */
export function chosenMetrics(names: readonly string[], unevennessOf: (name: string) => number): string[] {
  const chosen = [...names];
  if (chosen.length > SERVICE_METRICS_MAX) {
    const unevenness = new Map(chosen.map((name) => [name, unevennessOf(name)]));
    chosen.sort((a, b) => (unevenness.get(a) as number) - (unevenness.get(b) as number) || (a < b ? -1 : 1));
    chosen.length = SERVICE_METRICS_MAX;
  }
  return chosen.sort();
}

/** Coefficient of variation of the times between `count` values; above that of any other with few of them. */
export function unevenness(times: Float64Array, count: number): number {
  if (count < REGULAR_FROM) return Number.MAX_VALUE;
  const mean = ((times[count - 1] as number) - (times[0] as number)) / (count - 1);
  let squares = 0;
  for (let i = 1; i < count; i++) squares += ((times[i] as number) - (times[i - 1] as number) - mean) ** 2;
  return mean > 0 ? Math.sqrt(squares / (count - 1)) / mean : Number.MAX_VALUE;
}

/** Streams of each of so many metrics that a vector is made of. */
export function streamsPerMetric(metrics: number): number {
  return Math.max(1, Math.floor(SERVICE_VECTOR_STREAMS_MAX / Math.max(1, metrics)));
}

/** Index of the first stream of each metric; one more for the end of the last. */
export function startsOf(lengths: readonly number[]): Uint16Array {
  const starts = new Uint16Array(lengths.length + 1);
  for (const [column, length] of lengths.entries()) starts[column + 1] = (starts[column] as number) + length;
  return starts;
}
