// Series of remote-write that the bench of queries sends: counters with history for queries, and gauges with spikes for detection.
import { compressSync } from "snappy";
import { generator } from "../../support/generator.ts";
import { encodeBody, type Series } from "../../support/remote-write-body.ts";

const SERIES_PER_BODY = 500;
const COUNTER_SAMPLES_PER_BODY = 20;

/** Name, how many series, how many samples of each, and how far they lie from one another. */
export interface FeedShape {
  readonly name: string;
  readonly series: number;
  readonly samples: number;
  readonly stepMs: number;
  readonly endMs: number;
}

/** A series' labels: 100 services, ten zones, a pod of its own. */
function seriesLabels(name: string, index: number): Array<readonly [string, string]> {
  return [
    ["__name__", name],
    ["pod", `pod-${index}`],
    ["service_id", `service-${index % 100}`],
    ["zone", `zone-${index % 10}`],
  ];
}

/** Bodies of counters in the order of time; the last sample is at `endMs`. */
export function* counterBodies({ name, series, samples, stepMs, endMs }: FeedShape): Generator<Uint8Array> {
  const random = generator(7);
  const counts = Float64Array.from({ length: series }, (_, index) => 1_000 * index);
  const next = (index: number) => (counts[index] = (counts[index] as number) + Math.floor(200 * random.uniform()));
  for (let from = 0; from < samples; from += COUNTER_SAMPLES_PER_BODY) {
    const times = Array.from(
      { length: Math.min(COUNTER_SAMPLES_PER_BODY, samples - from) },
      (_, at) => endMs - (samples - 1 - from - at) * stepMs,
    );
    for (let first = 0; first < series; first += SERIES_PER_BODY) {
      const indexes = Array.from({ length: Math.min(SERIES_PER_BODY, series - first) }, (_, at) => first + at);
      const rows: Series[] = indexes.map((index) => ({
        labels: seriesLabels(name, index),
        samples: times.map((time) => ({ time, value: next(index) })),
      }));
      yield compressSync(Buffer.from(encodeBody(rows)));
    }
  }
}

/** Uniform noise is never three deviations from its mean; a spike is sixty. */
const LEVEL = 100;
const SPIKE = 140;

/** The metric of a gauge: each has one of its own, since what deviates together within a service and metric is one anomaly. */
export function gaugeName(index: number): string {
  return `bench_level_${index}`;
}

/** A body of one sample of each of some gauges: quiet noise, and a spike of one of them. */
export function gaugeBody(indexes: readonly number[], timeMs: number, uniform: () => number, spike?: number): Uint8Array {
  const series: Series[] = indexes.map((index) => ({
    labels: seriesLabels(gaugeName(index), index),
    samples: [{ time: timeMs, value: index === spike ? SPIKE : LEVEL + 2 * uniform() }],
  }));
  return compressSync(Buffer.from(encodeBody(series)));
}

/** Whether an observed value is a spike. */
export function isSpike(observed: number): boolean {
  return observed >= SPIKE;
}
