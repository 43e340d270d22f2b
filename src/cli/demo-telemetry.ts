// The demo's telemetry: six services of a shop with ordinary noise, daily shape and counters, and anomalies planted at known ticks. Seeded, so
// that every run sends the same values.

/** Seconds between two samples of a series, in telemetry time. */
export const STEP_SECONDS = 15;
/** Ticks of one run: 40 minutes of telemetry. */
export const STEPS = 160;

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
  readonly steps: number;
  readonly factor: number;
  readonly story: string;
}

export const PLANTED: readonly PlantedAnomaly[] = [
  { service: "checkout", metric: "latency_p95_ms", at: 90, steps: 4, factor: 3.2, story: "a slow database query" },
  { service: "payments", metric: "requests_total", at: 100, steps: 5, factor: 0.15, story: "traffic to payments breaks off" },
  { service: "search", metric: "cpu_percent", at: 110, steps: 6, factor: 2.1, story: "a reindex takes the processors" },
  { service: "inventory", metric: "queue_depth", at: 120, steps: 3, factor: 5, story: "a consumer hangs" },
  { service: "shipping", metric: "latency_p95_ms", at: 130, steps: 2, factor: 2.4, story: "a carrier's interface times out" },
  { service: "storefront", metric: "requests_total", at: 140, steps: 3, factor: 2.5, story: "a crawler arrives" },
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

/** Behind the run, where the demo goes on: one of the planted anomalies every three minutes, in turn. */
const LIVE_PERIOD_STEPS = 12;
const LIVE_QUIET_STEPS = 4;

function factorOf(service: string, metric: string, step: number): number {
  const isOf = (one: PlantedAnomaly) => one.service === service && one.metric === metric;
  if (step < STEPS) return PLANTED.find((one) => isOf(one) && step >= one.at && step < one.at + one.steps)?.factor ?? 1;
  const period = Math.floor((step - STEPS) / LIVE_PERIOD_STEPS);
  const index = ((step - STEPS) % LIVE_PERIOD_STEPS) - LIVE_QUIET_STEPS;
  const planted = PLANTED[period % PLANTED.length] as PlantedAnomaly;
  return isOf(planted) && index >= 0 && index < planted.steps ? planted.factor : 1;
}

/** Yields the records of each tick, without end; `name` makes a run's service ids, `startMs` is the time of tick 0. */
export function* demoSteps(
  name: (service: string) => string,
  startMs: number,
  formatTime: (ms: number) => string,
): Generator<DemoRecord[], never> {
  const random = makeRandom(20261121);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const totals = new Map<string, number>();
  for (let step = 0; ; step++) {
    const timestamp = formatTime(startMs + step * STEP_SECONDS * 1000);
    yield SERVICES.flatMap((service) =>
      SHAPES.map((shape) => {
        const factor = factorOf(service, shape.metric, step);
        const level = shape.base * (1 + 0.05 * Math.sin(step / 25)) * factor + shape.noise * normal();
        const key = `${service} ${shape.metric}`;
        const value = shape.counter ? Math.round((totals.get(key) ?? 1e6) + level) : Math.round(level * 100) / 100;
        totals.set(key, value);
        const attributes = { environment: "demo", ...(shape.counter ? { metric_type: "counter" } : {}) };
        return { service_id: name(service), metric_name: shape.metric, value, timestamp, attributes };
      }),
    );
  }
}

/** An OTLP request by which a sender says that the series of these records end: points without a recorded value. */
export function endOfSeries(records: readonly DemoRecord[], atMs: number): unknown {
  const timeUnixNano = String(BigInt(Math.round(atMs)) * 1_000_000n);
  const attribute = ([key, value]: readonly [string, string]) => ({ key, value: { stringValue: value } });
  const resourceMetrics = [...new Set(records.map(({ service_id }) => service_id))].map((service) => ({
    resource: { attributes: [attribute(["service.name", service]), attribute(["deployment.environment", "demo"])] },
    scopeMetrics: [
      {
        metrics: records
          .filter(({ service_id }) => service_id === service)
          .map(({ metric_name, attributes }) => {
            const dataPoints = [{ timeUnixNano, flags: 1, attributes: Object.entries(attributes).map(attribute) }];
            return attributes.metric_type === "counter"
              ? { name: metric_name, sum: { isMonotonic: true, aggregationTemporality: 2, dataPoints } }
              : { name: metric_name, gauge: { dataPoints } };
          }),
      },
    ],
  }));
  return { resourceMetrics };
}
