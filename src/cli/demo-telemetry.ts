// The demo's telemetry: six services of a shop with ordinary noise, daily shape and counters, and anomalies planted at known ticks. Seeded, so
// that every run sends the same values.

/** Seconds between two samples of a series, in telemetry time. */
export const TICK_SECONDS = 15;
/** Ticks of one run: 40 minutes of telemetry. */
export const TICKS = 160;

const SERVICES = ["storefront", "checkout", "payments", "inventory", "search", "shipping"] as const;

interface Shape {
  readonly metric: string;
  readonly base: number;
  readonly noise: number;
  readonly counter: boolean;
}

const SHAPES: readonly Shape[] = [
  { metric: "latency_p95_ms", base: 120, noise: 6, counter: false },
  { metric: "cpu_percent", base: 42, noise: 3, counter: false },
  { metric: "requests_total", base: 900, noise: 25, counter: true },
  { metric: "queue_depth", base: 30, noise: 4, counter: false },
];

/** An anomaly that the demo plants: from tick `at`, for `ticks` ticks, the value is multiplied. */
export interface PlantedAnomaly {
  readonly service: string;
  readonly metric: string;
  readonly at: number;
  readonly ticks: number;
  readonly factor: number;
  readonly story: string;
}

export const PLANTED: readonly PlantedAnomaly[] = [
  { service: "checkout", metric: "latency_p95_ms", at: 90, ticks: 4, factor: 3.2, story: "a slow database query" },
  { service: "payments", metric: "requests_total", at: 100, ticks: 5, factor: 0.15, story: "traffic to payments breaks off" },
  { service: "search", metric: "cpu_percent", at: 110, ticks: 6, factor: 2.1, story: "a reindex takes the processors" },
  { service: "inventory", metric: "queue_depth", at: 120, ticks: 3, factor: 5, story: "a consumer hangs" },
  { service: "shipping", metric: "latency_p95_ms", at: 130, ticks: 2, factor: 2.4, story: "a carrier's interface times out" },
  { service: "storefront", metric: "requests_total", at: 140, ticks: 3, factor: 2.5, story: "a crawler arrives" },
];

/** mulberry32: 32 bits of state, good enough for noise. */
export function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A JSON telemetry record. */
export interface DemoRecord {
  readonly service_id: string;
  readonly metric_name: string;
  readonly value: number;
  readonly timestamp: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Yields the records of each tick; `name` makes a run's service ids, `startMs` is the time of tick 0. */
export function* demoTicks(
  name: (service: string) => string,
  startMs: number,
  formatTime: (ms: number) => string,
): Generator<DemoRecord[]> {
  const random = makeRandom(20261121);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const totals = new Map<string, number>();
  for (let tick = 0; tick < TICKS; tick++) {
    const timestamp = formatTime(startMs + tick * TICK_SECONDS * 1000);
    yield SERVICES.flatMap((service) =>
      SHAPES.map((shape) => {
        const factor =
          PLANTED.find((one) => one.service === service && one.metric === shape.metric && tick >= one.at && tick < one.at + one.ticks)
            ?.factor ?? 1;
        const level = shape.base * (1 + 0.05 * Math.sin(tick / 25)) * factor + shape.noise * normal();
        const key = `${service} ${shape.metric}`;
        const value = shape.counter ? Math.round((totals.get(key) ?? 1e6) + level) : Math.round(level * 100) / 100;
        totals.set(key, value);
        const attributes = { environment: "demo", ...(shape.counter ? { metric_type: "counter" } : {}) };
        return { service_id: name(service), metric_name: shape.metric, value, timestamp, attributes };
      }),
    );
  }
}
