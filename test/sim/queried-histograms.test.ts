// What queries read of histograms of OTLP: `_bucket`, `_count` and `_sum` as a classic histogram of Prometheus has them, counted here from the observations themselves. They
// survive kills, stops and leaving memory, and nothing that is judged changes by them.
import { afterEach, describe, expect, it, vi } from "vitest";
import { QueriedHistogram } from "../../src/actors/engine/distributions/queried-histogram.ts";
import { otlpBodyKind } from "../../src/core/protocol/otlp-kind.ts";
import { formatPlain } from "../../src/core/text/plain-number.ts";
import { DisturbedServer, type Sent, START_MS, samplesOf, TICK_MS } from "../support/disturbed-server.ts";
import { generator } from "../support/generator.ts";
import { bodyOf, metricsOf, ns, text } from "../support/otlp-requests.ts";
import { type QueriedSeries, queriedSeries } from "../support/stored-queries.ts";

const BOUNDS = [0.5, 1, 5, 20];
const LATER_BOUNDS = [1, 5, 10];
const TICKS = 36;
const RESET_TICK = 13;
const BOUNDS_TICK = 25;
const HOUR_MS = 3_600_000;
const ALL = '{__name__=~".*_(bucket|count|sum)"}';

afterEach(() => {
  vi.restoreAllMocks();
});

type Expected = Map<string, Map<number, number>>;

const boundsAt = (tick: number) => (tick < BOUNDS_TICK ? BOUNDS : LATER_BOUNDS);
const timeAt = (tick: number) => START_MS + (tick + 1) * TICK_MS;

/** The value of each series of a histogram of these observations, by its labels. */
function countedOf(metric: string, observed: readonly number[], bounds: readonly number[]): Array<readonly [string, number]> {
  const of = (part: string, bound = "") => `{__name__="${metric}_${part}", ${bound}route="/a", service_id="shop"}`;
  return [
    ...bounds.map((bound) => [of("bucket", `le="${formatPlain(bound)}", `), observed.filter((one) => one <= bound).length] as const),
    [of("bucket", 'le="+Inf", '), observed.length],
    [of("count"), observed.length],
    [of("sum"), observed.reduce((sum, one) => sum + one, 0)],
  ];
}

function pointOf(observed: readonly number[], bounds: readonly number[], startMs: number, timeMs: number): object {
  const all = [...bounds, Number.POSITIVE_INFINITY];
  const bucketCounts = all.map(
    (bound, i) => observed.filter((one) => one <= bound && one > (bounds[i - 1] ?? Number.NEGATIVE_INFINITY)).length,
  );
  return {
    attributes: [text("route", "/a")],
    startTimeUnixNano: ns(startMs),
    timeUnixNano: ns(timeMs),
    count: String(observed.length),
    sum: observed.reduce((sum, one) => sum + one, 0),
    explicitBounds: bounds,
    bucketCounts: bucketCounts.map(String),
  };
}

/** Bodies of one service: `total` cumulative, with a restart, and `interval` of the same observations in delta temporality; and what queries then find. */
function workload(seed: number): { readonly bodies: Sent[]; readonly expected: Expected } {
  const random = generator(seed);
  const expected: Expected = new Map();
  const put = (series: string, timeMs: number, value: number) =>
    expected.set(series, (expected.get(series) ?? new Map()).set(timeMs, value));
  let [total, interval]: number[][] = [[], []];
  let startMs = START_MS;
  const bodies = Array.from({ length: TICKS }, (_, tick): Sent => {
    const timeMs = timeAt(tick);
    const bounds = boundsAt(tick);
    if (tick === RESET_TICK) [total, startMs] = [[], timeMs - TICK_MS / 2];
    // Of other bounds the buckets so far say nothing.
    if (tick === BOUNDS_TICK) {
      interval = [];
      for (const metric of ["total", "interval"])
        for (const [series] of countedOf(
          metric,
          [],
          BOUNDS.filter((bound) => !LATER_BOUNDS.includes(bound)),
        ).slice(0, 2))
          put(series, timeMs, Number.NaN);
    }
    const observed = samplesOf(random, 0.1);
    total = [...(total as number[]), ...observed];
    interval = [...(interval as number[]), ...observed];
    for (const [series, value] of [...countedOf("total", total, bounds), ...countedOf("interval", interval, bounds)])
      put(series, timeMs, value);
    const histogram = (aggregationTemporality: number, point: object) => ({ aggregationTemporality, dataPoints: [point] });
    const metrics = [
      { name: "total", histogram: histogram(2, pointOf(total, bounds, startMs, timeMs)) },
      { name: "interval", histogram: histogram(1, pointOf(observed, bounds, timeMs - TICK_MS, timeMs)) },
    ];
    const encoding = tick % 2 === 0 ? "json" : "protobuf";
    return { tick, kind: otlpBodyKind("metrics", encoding), bytes: bodyOf("metrics", encoding, metricsOf(metrics)), status: 200 };
  });
  return { bodies, expected };
}

async function sendAll(
  machine: DisturbedServer,
  bodies: readonly Sent[],
  disturbance?: Parameters<DisturbedServer["send"]>[1],
): Promise<void> {
  for (const body of bodies) {
    machine.clock.advance(TICK_MS);
    await machine.send(body, disturbance);
  }
  await machine.server.rest();
}

function expectSeries(found: QueriedSeries, expected: Expected): void {
  expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
  for (const [series, values] of expected) expect([series, ...(found.get(series) ?? [])]).toEqual([series, ...values]);
}

describe("a histogram of OTLP", () => {
  it("reads as a classic one, of either temporality, through restarts of its sender and other bounds", async () => {
    const { bodies, expected } = workload(1);
    const machine = new DisturbedServer();
    await machine.start(1);
    await sendAll(machine, bodies);
    expectSeries(await queriedSeries(machine.server, ALL), expected);
    await machine.server.stop();
  });

  it("reads the same after kills, stops, other numbers of engines and repeated requests", async () => {
    for (const seed of [2, 3]) {
      const { bodies, expected } = workload(seed);
      const machine = new DisturbedServer();
      await machine.start(2);
      await sendAll(machine, bodies, { random: generator(100 + seed), killShare: 0.3 });
      expect(machine.stumbles).toBeGreaterThan(5);
      expectSeries(await queriedSeries(machine.server, ALL), expected);
      await machine.server.stop();
    }
  });

  it("reads the same once its series have left memory, and is in no list there", async () => {
    const { bodies, expected } = workload(4);
    const machine = new DisturbedServer();
    await machine.start(2, { idleMs: HOUR_MS });
    await sendAll(machine, bodies.slice(0, 20));
    const listed = async () => {
      const { series, total } = (await machine.server.query("series", { limit: "1000" })) as {
        readonly series: ReadonlyArray<{ metric_name: string }>;
        readonly total: number;
      };
      return [series.map(({ metric_name }) => metric_name).sort(), total];
    };
    const derived = ["interval", "total"].flatMap((metric) => ["count", "p50", "p95", "p99", "sum"].map((suffix) => `${metric}.${suffix}`));
    expect(await listed()).toEqual([derived, derived.length]);
    const soFar = new Map(
      [...expected].map(([series, values]) => [series, new Map([...values].filter(([timeMs]) => timeMs < timeAt(20)))]),
    );
    const known = new Map([...soFar].filter(([, { size }]) => size > 0));
    expectSeries(await queriedSeries(machine.server, ALL), known);
    for (let step = 0; step < 600; step++) {
      machine.clock.advance((4 * HOUR_MS) / 600);
      await machine.server.rest();
    }
    expect(machine.server.cluster.counter("streams")).toBe(0);
    expect(await listed()).toEqual([derived, derived.length]);
    expectSeries(await queriedSeries(machine.server, ALL), known);
    await sendAll(machine, bodies.slice(20));
    const ofTotal = new Map([...expected].filter(([series]) => series.includes('"total')));
    expectSeries(await queriedSeries(machine.server, '{__name__=~"total_.*"}'), ofTotal);
    expect(await listed()).toEqual([derived, derived.length]);
    await machine.server.stop();
  });

  it("leaves what is judged as it is", async () => {
    const { bodies } = workload(5);
    const outcome = async () => {
      const machine = new DisturbedServer();
      await machine.start(2);
      await sendAll(machine, bodies);
      const answers = [await machine.holdings(), await machine.server.query("series", { limit: "1000" })];
      for (const endpoint of ["anomalies", "services"] as const) answers.push((await machine.server.query(endpoint)) as never);
      const streams = machine.server.cluster.counter("streams");
      await machine.server.stop();
      return { answers, streams };
    };
    const both = await outcome();
    vi.spyOn(QueriedHistogram.prototype, "write").mockReturnValue(undefined);
    const judged = await outcome();
    expect(both.answers).toEqual(judged.answers);
    expect(both.streams - judged.streams).toBe(2 * (new Set([...BOUNDS, ...LATER_BOUNDS]).size + 3));
  });

  it("has all of its series or none, and leaves half of what a tenant may have", async () => {
    const needed = BOUNDS.length + 3;
    for (const [seriesLimit, found] of [
      [2 * (5 + needed), needed],
      [2 * (5 + needed) - 2, 0],
    ] as const) {
      const machine = new DisturbedServer();
      await machine.start(1, { seriesLimit });
      const metrics = [
        { name: "wait", histogram: { aggregationTemporality: 2, dataPoints: [pointOf([1, 2], BOUNDS, START_MS, timeAt(0))] } },
      ];
      const bytes = bodyOf("metrics", "json", metricsOf(metrics));
      await sendAll(machine, [{ tick: 0, kind: otlpBodyKind("metrics", "json"), bytes, status: 200 }]);
      expect((await queriedSeries(machine.server, ALL)).size).toBe(found);
      expect(machine.server.cluster.counter("histogramsNotQueried")).toBe(found === 0 ? 1 : 0);
      await machine.server.stop();
    }
  });
});
