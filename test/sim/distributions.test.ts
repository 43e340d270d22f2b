// Histograms and summaries through a whole server: what is derived from them is the same whatever happens on the way, and whether the sender counts for ever or
// per interval. Points have no body of their own here: a JSON body of n bytes stands for the n-th list of them.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DistributionHandler } from "../../src/actors/engine/distributions/distribution-handler.ts";
import { DistributionIntake } from "../../src/actors/engine/distributions/distribution-intake.ts";
import { JsonDecoder } from "../../src/actors/engine/json/json-decoder.ts";
import type { EngineCounters } from "../../src/actors/engine/report/engine-counters.ts";
import type { DerivedSeries } from "../../src/actors/engine/shard/derived-series.ts";
import { StreamDefiner } from "../../src/actors/engine/unit/stream-definer.ts";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import type { StreamName } from "../../src/core/protocol/coordinator-frame.ts";
import { type Distribution, EMPTY_DISTRIBUTION } from "../../src/domain/distribution/distribution.ts";
import type { DistributionPoint } from "../../src/domain/otlp/otlp-items.ts";
import { explicitPoint, exponentialPoint } from "../support/distribution-points.ts";
import {
  DisturbedServer,
  disordered,
  expectSame,
  play,
  remoteBody,
  type Sent,
  START_MS,
  samplesOf,
  TICK_MS,
} from "../support/disturbed-server.ts";
import { generator } from "../support/generator.ts";
import { openLedger } from "../support/share-ledgers.ts";

const BOUNDS = [1, 2, 5, 10, 20, 50];
const SERVICES = 5;
const TICKS = 40;
const RESET_TICKS: readonly number[] = [13, 27];

const lists: DistributionPoint[][] = [];

function bodyOf(tick: number, points: DistributionPoint[]): Sent {
  return { tick, kind: BODY_JSON_BATCH, bytes: new Uint8Array(lists.push(points)), status: 200 };
}

beforeEach(() => {
  lists.length = 0;
  const sink = new DistributionIntake({ mayHave: () => true });
  vi.spyOn(JsonDecoder.prototype, "begin").mockImplementation((body, unit) => {
    for (const point of lists[body.bytes - 1] as DistributionPoint[])
      expect(sink.add(unit, { tenant: 0, tenantName: "default", wallMs: body.wallMs }, point)).toBeUndefined();
    return { status: 200, body: null };
  });
});

afterEach(() => {
  vi.restoreAllMocks();
});

type MakePoint = (samples: readonly number[]) => Distribution;

const MAKERS: ReadonlyArray<readonly [string, MakePoint]> = [
  ["explicit", (samples) => explicitPoint(samples, BOUNDS)],
  ["exponential", (samples) => exponentialPoint(samples, 3)],
];

/** Points of all services, one body a tick: `total.*` cumulative, `interval.*` of the same samples per interval, and summaries. */
function pointBodies(seed: number, emptyShare: number): Sent[] {
  const random = generator(seed);
  const sums = new Map<string, number[]>();
  let startMs = START_MS;
  return Array.from({ length: TICKS }, (_, tick) => {
    const timeMs = START_MS + (tick + 1) * TICK_MS;
    if (RESET_TICKS.includes(tick)) {
      sums.clear();
      startMs = timeMs - TICK_MS;
    }
    const points: DistributionPoint[] = [];
    for (let service = 0; service < SERVICES; service++) {
      for (const [kind, make] of MAKERS) {
        const names = { serviceId: `service-${service}`, environment: "", attributes: { route: "/a" } };
        const samples = samplesOf(random, emptyShare);
        const all = [...(sums.get(`${service} ${kind}`) ?? []), ...samples];
        sums.set(`${service} ${kind}`, all);
        const since = timeMs - TICK_MS;
        points.push({ ...make(all), ...names, metricName: `total.${kind}`, temporality: "cumulative", timeMs, startMs });
        if (samples.length > 0) points.push({ ...make(samples), ...names, metricName: `interval.${kind}`, timeMs, startMs: since });
        if (kind !== "explicit" || samples.length === 0) continue;
        const quantiles = [0.5, 0.999].map((quantile) => ({ quantile, value: samples[0] as number }));
        const sum = all.reduce((a, b) => a + b, 0);
        const summary = { ...EMPTY_DISTRIBUTION, kind: "summary" as const, count: all.length, sum, quantiles };
        points.push({ ...summary, ...names, metricName: "summary", timeMs, startMs });
      }
    }
    return bodyOf(tick, points);
  });
}

describe("histogram points", () => {
  it("give the same series cumulative and per interval, explicit and exponential", async () => {
    const { held } = await play(pointBodies(1, 0.1));
    for (let service = 0; service < SERVICES; service++) {
      for (const [kind] of MAKERS) {
        for (const suffix of ["p50", "p95", "p99", "count", "sum"]) {
          const total = held.get(`service-${service} total.${kind}.${suffix}`);
          expect([...(total ?? [])]).toEqual([...(held.get(`service-${service} interval.${kind}.${suffix}`) as Map<number, number>)]);
          expect(total?.size).toBeGreaterThan(TICKS / 2);
        }
      }
      expect(held.get(`service-${service} summary.p99.9`)?.size).toBeGreaterThan(TICKS / 2);
    }
    expect(held.size).toBe(SERVICES * (2 * 2 * 5 + 4));
  });

  it("give the same series through kills, starts with other numbers of engines, repetitions and disorder", async () => {
    for (const seed of [2, 3, 4]) {
      // What was said of a longer interval stays where the point that came late leaves nothing for its end: disorder is compared without such.
      const isOrdered = seed === 2;
      const bodies = pointBodies(seed, isOrdered ? 0.1 : 0);
      const wanted = await play(bodies);
      const random = generator(100 + seed);
      const disturbed = await play(disordered(bodies, random, isOrdered ? 0 : 2.5), { random, killShare: 0.3 });
      expectSame(disturbed.held, wanted.held);
      expect(disturbed.stumbles).toBeGreaterThan(5);
    }
  });
});

describe("points and their bounds", () => {
  const point: DistributionPoint = {
    ...explicitPoint([1, 2, 3], BOUNDS),
    serviceId: "service-0",
    environment: "",
    metricName: "latency",
    attributes: {},
    timeMs: START_MS,
  };

  it("are refused with a reason", () => {
    const sink = new DistributionIntake({ mayHave: (_tenant, { metricName }) => metricName !== "full.count" });
    const taken: number[] = [];
    const unit = { addMessage: (_kind: number, _partition: number, payload: Uint8Array) => void taken.push(payload.length) };
    const reason = (given: Partial<DistributionPoint>) =>
      sink.add(unit, { tenant: 0, tenantName: "default", wallMs: START_MS }, { ...point, ...given })?.reason;
    expect(reason({})).toBeUndefined();
    expect(reason({ timeMs: START_MS - 24 * 3600_000 })).toBeUndefined();
    expect(reason({ metricName: "" })).toBe("missing_metric_name");
    expect(reason({ serviceId: "" })).toBe("missing_service_id");
    expect(reason({ metricName: "x".repeat(1001) })).toBe("field_too_long");
    expect(reason({ attributes: Object.fromEntries(Array.from({ length: 132 }, (_, i) => [`a${i}`, i])) })).toBe("invalid_attributes");
    expect(reason({ attributes: { a: "x".repeat(8000), b: "x".repeat(8400) } })).toBe("invalid_attributes");
    const attributes = { a: "x".repeat(8000), b: "x".repeat(8000) };
    const wide = { bounds: Array.from({ length: 1000 }, (_, i) => i), bucketCounts: new Array(1001).fill(1) };
    expect(reason({ attributes })).toBeUndefined();
    expect(reason({ attributes, ...wide })).toBe("field_too_long");
    expect(reason({ timeMs: START_MS - 24 * 3600_000 - 1 })).toBe("timestamp_too_old");
    expect(reason({ timeMs: START_MS + 600_001 })).toBe("timestamp_in_future");
    expect(reason({ timeMs: Number.NaN })).toBe("invalid_timestamp");
    expect(reason({ count: Number.NaN })).toBe("invalid_value");
    expect(reason({ metricName: "full" })).toBe("series_limit_exceeded");
    expect(taken).toHaveLength(3);
  });

  it("stay within SERIES_LIMIT, in the ingest that takes them and in the shard", async () => {
    const definers = vi.spyOn(StreamDefiner.prototype, "beginSeries");
    const machine = new DisturbedServer();
    await machine.start(1, { seriesLimit: 6 });
    await machine.send(bodyOf(0, [point]), undefined);
    const labels = [
      ["__name__", "up"],
      ["job", "service-0"],
    ] as const;
    await machine.send(remoteBody(0, [{ labels, samples: [{ value: 1, time: START_MS }] }]), undefined);
    expect(machine.server.cluster.counter("streams")).toBe(6);
    const sink = new DistributionIntake(definers.mock.contexts[0] as StreamDefiner);
    const source = { tenant: 0, tenantName: "default", wallMs: START_MS };
    const unit = { addMessage: () => undefined };
    expect(sink.add(unit, source, point)).toBeUndefined();
    expect(sink.add(unit, source, { ...point, serviceId: "service-1" })?.reason).toBe("series_limit_exceeded");
    await machine.send(
      bodyOf(0, [
        { ...point, serviceId: "service-1" },
        { ...point, timeMs: START_MS + 1 },
      ]),
      undefined,
    );
    const { cluster } = machine.server;
    expect([cluster.counter("streams"), cluster.counter("derivedRefused"), cluster.counter("distributions")]).toEqual([6, 5, 2]);
    expect((await machine.holdings()).get("service-0 latency.count")?.size).toBe(2);
    await machine.server.stop();
  });

  it("end their series when the sender says so, and are forgotten when they are idle", async () => {
    const machine = new DisturbedServer();
    await machine.start(2, { idleMs: 60_000 });
    const ended = async () => {
      const { series } = (await machine.server.query("series", { limit: "1000" })) as {
        series: Array<{ metric_name: string; ended: boolean }>;
      };
      return series.filter(({ ended }) => ended).map(({ metric_name }) => metric_name);
    };
    const quantiles = [{ quantile: 0.9, value: 3 }];
    const summary = { ...point, metricName: "wait", kind: "summary" as const, temporality: "cumulative" as const, quantiles };
    await machine.send(bodyOf(0, [point, summary]), undefined);
    expect(await ended()).toEqual([]);
    const stale = { isStale: true, timeMs: START_MS + 1, count: Number.NaN };
    await machine.send(
      bodyOf(
        0,
        [point, summary].map((one) => ({ ...one, ...stale })),
      ),
      undefined,
    );
    const all = ["p50", "p95", "p99", "count", "sum"].map((suffix) => `latency.${suffix}`);
    expect((await ended()).sort()).toEqual([...all, "wait.p90"].sort());
    const queryOnly = BOUNDS.length + 3;
    expect(machine.server.cluster.counter("streams")).toBe(6 + queryOnly);
    expect(machine.server.cluster.counter("distributions")).toBe(2);
    for (let second = 0; second < 200; second++) {
      machine.clock.advance(1000);
      await machine.server.rest();
    }
    expect(machine.server.cluster.counter("distributions")).toBe(0);
    expect(machine.server.cluster.counter("distributionBytes")).toBe(0);
    await machine.server.stop();
  });

  it("are taken as they stand where temporality is not to be normalised", async () => {
    const series: Array<readonly [string, number, number]> = [];
    const handler = new DistributionHandler(
      { seriesLimit: 100, idleMs: Number.POSITIVE_INFINITY, normalize: false },
      {
        series: {
          openWithin: ({ metricName }: StreamName) => ({ ref: metricName }),
          open: ({ metricName }: StreamName) => ({ ref: metricName }),
          write: ({ ref }: { ref: string }, timeMs: number, value: number) => void series.push([ref, timeMs, value]),
          writeWidth: () => undefined,
          flush: () => undefined,
        } as unknown as DerivedSeries,
        counters: { add: () => undefined, set: () => undefined } as unknown as EngineCounters,
        streams: () => 0,
        shares: { series: openLedger(), bytes: openLedger() },
      },
    );
    const unit = {
      addMessage: (_: number, partition: number, payload: Uint8Array) => handler.take(partition, payload, { baseMs: 0, arrivalMs: 0 }),
    };
    const sink = new DistributionIntake({ mayHave: () => true });
    for (const n of [1, 2]) {
      const cumulative = {
        ...point,
        ...explicitPoint(new Array(10 * n).fill(2), BOUNDS),
        temporality: "cumulative" as const,
        timeMs: START_MS + n,
      };
      expect(sink.add(unit, { tenant: 0, tenantName: "default", wallMs: START_MS }, cumulative)).toBeUndefined();
    }
    expect(series.filter(([name]) => name === "latency.count")).toEqual([
      ["latency.count", START_MS + 1, 10],
      ["latency.count", START_MS + 2, 20],
    ]);
    expect(series.filter(([name]) => name === "latency.p50").map(([, , value]) => value)).toEqual([1.5, 1.5]);
  });
});
