// Two hundred series of remote-write for a comparison of two servers: gauges, counters that begin anew, and buckets; two hours of a sample each 15 s.
import { compressSync } from "snappy";
import { generator } from "../support/generator.ts";
import { encodeBody, type Series } from "../support/remote-write-body.ts";

const FEED_STEP_MS = 15_000;
const SAMPLES = 480;
const SAMPLES_PER_BODY = 20;
const LE = ["0.01", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "+Inf"];

interface Fed {
  readonly labels: ReadonlyArray<readonly [string, string]>;
  readonly values: readonly number[];
}

function labels(name: string, index: number, more: ReadonlyArray<readonly [string, string]> = []) {
  return [
    ["__name__", name],
    ["instance", String(index % 10)],
    ...more,
    ["service_id", `s${Math.floor(index / 10)}`],
    ["zone", ["a", "b", "c"][index % 3] as string],
  ] as const;
}

function feed(): Fed[] {
  const random = generator(11);
  const gauge = () => {
    let value = 100 * random.normal();
    return Array.from({ length: SAMPLES }, () => (value += random.normal()));
  };
  const counter = (index: number) => {
    let value = 1_000 + index;
    return Array.from({ length: SAMPLES }, (_, at) => (value = at === 100 + index ? 3 : value + Math.round(20 + 5 * random.normal())));
  };
  const buckets = (index: number) => {
    const counts = LE.map(() => 500);
    const values = LE.map(() => [] as number[]);
    for (let at = 0; at < SAMPLES; at++) {
      for (let bucket = 0; bucket < LE.length; bucket++) {
        for (let above = bucket; above < LE.length; above++) counts[above] = (counts[above] as number) + ((at + bucket + index) % 4);
      }
      for (const [bucket, count] of counts.entries()) values[bucket]?.push(count);
    }
    return values;
  };
  return [
    ...Array.from({ length: 100 }, (_, index) => ({ labels: labels("depth", index), values: gauge() })),
    ...Array.from({ length: 60 }, (_, index) => ({ labels: labels("requests_total", index), values: counter(index) })),
    ...Array.from({ length: 4 }, (_, index) =>
      buckets(index).map((values, bucket) => ({ labels: labels("latency_seconds_bucket", index, [["le", LE[bucket] as string]]), values })),
    ).flat(),
  ];
}

/** Bodies of remote-write in the order of time; the last sample is at `endMs`. */
export function* feedBodies(endMs: number): Generator<Uint8Array> {
  const fed = feed();
  for (let from = 0; from < SAMPLES; from += SAMPLES_PER_BODY) {
    const series: Series[] = fed.map(({ labels: own, values }) => ({
      labels: own,
      samples: values
        .slice(from, from + SAMPLES_PER_BODY)
        .map((value, index) => ({ value, time: endMs - (SAMPLES - 1 - from - index) * FEED_STEP_MS })),
    }));
    yield compressSync(Buffer.from(encodeBody(series)));
  }
}
