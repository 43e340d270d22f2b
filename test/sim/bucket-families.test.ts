// Classic buckets through a whole server: the quantiles of a family are the same however its buckets come and whatever happens meanwhile.
import { describe, expect, it } from "vitest";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import {
  DisturbedServer,
  disordered,
  expectSame,
  type Holdings,
  play,
  remoteBody,
  type Sent,
  START_MS,
  samplesOf,
  TICK_MS,
} from "../support/disturbed-server.ts";
import { generator } from "../support/generator.ts";
import type { Series } from "../support/remote-write-body.ts";

const BOUNDS = [1, 2, 5, 10, 20, 50];
const SERVICES = 5;
const TICKS = 40;
const RESET_TICKS: readonly number[] = [13, 27];

/** Classic buckets, each family's in two bodies of one tick, or in one. */
function bucketBodies(seed: number, apart: boolean): Sent[] {
  const random = generator(seed);
  const sums = new Map<number, number[]>();
  return Array.from({ length: TICKS }, (_, tick) => {
    const time = START_MS + tick * TICK_MS;
    if (RESET_TICKS.includes(tick)) sums.clear();
    const halves: Series[][] = [[], []];
    for (let service = 0; service < SERVICES; service++) {
      const all = [...(sums.get(service) ?? []), ...samplesOf(random, 0.1)];
      sums.set(service, all);
      [...BOUNDS, Number.POSITIVE_INFINITY].forEach((bound, i) => {
        const labels: Series["labels"] = [
          ["__name__", "latency_bucket"],
          ["job", `service-${service}`],
          ["le", bound === Number.POSITIVE_INFINITY ? "+Inf" : String(bound)],
          ["zone", "a"],
        ];
        const samples = [{ value: all.filter((sample) => sample <= bound).length, time }];
        (halves[i % 2] as Series[]).push({ labels, samples });
      });
    }
    return apart ? halves.map((series) => remoteBody(tick, series)) : [remoteBody(tick, halves.flat())];
  }).flat();
}

const quantilesOf = ({ held }: { readonly held: Holdings }) => new Map([...held].filter(([name]) => /\.p\d\d$/.test(name)));

describe("classic buckets", () => {
  it("give the quantiles of what each interval added", async () => {
    const held = quantilesOf(await play(bucketBodies(1, false)));
    expect(held.size).toBe(SERVICES * 3);
    for (const points of held.values()) {
      expect(points.size).toBeGreaterThan(TICKS / 2);
      expect(points.has(START_MS)).toBe(false);
      for (const value of points.values()) expect(value).toBeLessThanOrEqual(50);
    }
  });

  it("give them on two connections too, and through kills, starts with other numbers of engines, repetitions and disorder", async () => {
    for (const seed of [2, 3, 4]) {
      const wanted = quantilesOf(await play(bucketBodies(seed, false)));
      const random = generator(200 + seed);
      const apart = bucketBodies(seed, true);
      expectSame(quantilesOf(await play(apart)), wanted);
      // An older cumulative value of a stream is covered by the next: buckets keep their order, their halves do not.
      const disturbed = await play(disordered(apart, random, 0.9), { random, killShare: 0.15 });
      expectSame(quantilesOf(disturbed), wanted);
      expect(disturbed.stumbles).toBeGreaterThan(5);
    }
  });
});

/** Buckets of one family, by bound, at a time. */
function family(time: number, buckets: Readonly<Record<string, number>>, metric = "latency_bucket"): Series[] {
  return Object.entries(buckets).map(([le, value]) => ({
    labels: [
      ["__name__", metric],
      ["job", "service-0"],
      ["le", le],
    ],
    samples: [{ value, time }],
  }));
}

const STALE = new DataView(new ArrayBuffer(8));
STALE.setBigUint64(0, 0x7ff0000000000002n);

describe("a family of classic buckets", () => {
  const p50 = async (machine: DisturbedServer) => [...((await machine.holdings()).get("service-0 latency.p50")?.values() ?? [])];
  const send = (machine: DisturbedServer, series: readonly Series[]) => machine.send(remoteBody(0, series), undefined);

  it("waits for all known buckets, 30 seconds at most, and takes what comes later as a correction", async () => {
    const machine = new DisturbedServer();
    await machine.start(2);
    for (const i of [0, 1, 2]) {
      await send(machine, family(START_MS + i, { 1: 10 * i, 2: 20 * i, "+Inf": 20 * i }));
      expect(await p50(machine)).toHaveLength(i);
    }
    await send(machine, family(START_MS + 3, { 1: 25, "+Inf": 60 }));
    expect(await p50(machine)).toEqual([1, 1]);
    for (let second = 0; second < 29; second++) {
      machine.clock.advance(1000);
      await machine.server.rest();
    }
    expect(await p50(machine)).toEqual([1, 1]);
    machine.clock.advance(2000);
    await machine.server.rest();
    expect(await p50(machine)).toEqual([1, 1, 1]);
    await send(machine, family(START_MS + 3, { 2: 58 }));
    expect(await p50(machine)).toEqual([1, 1, 1 + 5 / 13]);
    await machine.server.stop();
  });

  it("does not wait for a bucket that is gone for good", async () => {
    const machine = new DisturbedServer();
    await machine.start(1);
    await send(machine, family(START_MS, { 1: 0, 2: 0, "+Inf": 0 }));
    for (let i = 1; i <= 4; i++) await send(machine, family(START_MS + i, { 1: 10 * i, "+Inf": 20 * i }));
    expect(await p50(machine)).toHaveLength(4);
    await machine.server.stop();
  });

  it("may come with many times of each bucket in one body, and as JSON", async () => {
    const machine = new DisturbedServer();
    await machine.start(2);
    const times = Array.from({ length: 100 }, (_, i) => START_MS + i);
    const whole = family(START_MS, { 1: 0, 2: 0, "+Inf": 0 }).map(({ labels }, i) => ({
      labels,
      samples: times.map((time, n) => ({ time, value: n * [5, 10, 10][i]! })),
    }));
    await send(machine, whole);
    expect(await p50(machine)).toEqual(new Array(99).fill(1));
    const records = [1, 2].flatMap((n) =>
      ["1", "2", "+Inf"].map((le) => ({
        service_id: "service-1",
        metric_name: "wait_bucket",
        value: 7 * n,
        timestamp: formatRfc3339(START_MS + n),
        attributes: { le, metric_type: "counter" },
      })),
    );
    await machine.send(
      { tick: 0, kind: BODY_JSON_BATCH, bytes: new TextEncoder().encode(JSON.stringify(records)), status: 200 },
      undefined,
    );
    expect([...((await machine.holdings()).get("service-1 wait.p99") ?? [])]).toEqual([[START_MS + 2, 0.99]]);
    await machine.server.stop();
  });

  it("ends with its buckets, and comes back with them", async () => {
    const machine = new DisturbedServer();
    await machine.start(2);
    const isEnded = async () => {
      const { series } = (await machine.server.query("series", { limit: "1000" })) as {
        series: Array<{ metric_name: string; ended?: boolean }>;
      };
      return series.find(({ metric_name }) => metric_name === "latency.p50")?.ended;
    };
    for (const i of [0, 1, 2]) await send(machine, family(START_MS + i, { 1: i, "+Inf": i }));
    expect(await isEnded()).toBe(false);
    await send(machine, family(START_MS + 3, { 1: STALE.getFloat64(0), "+Inf": STALE.getFloat64(0) }));
    expect(await isEnded()).toBe(true);
    await send(machine, family(START_MS + 4, { 1: 7, "+Inf": 7 }));
    expect([await isEnded(), (await p50(machine)).length]).toEqual([false, 3]);
    await machine.server.stop();
  });

  it("goes on after its buckets have left memory, and leaves other names that end so alone", async () => {
    const machine = new DisturbedServer();
    const idleMs = 60_000;
    await machine.start(2, { idleMs });
    const at = (i: number) => machine.clock.wallMs() + i;
    const round = async (count: number) => {
      await send(machine, [
        ...family(at(0), { 1: count, "+Inf": count }),
        ...family(at(0), { none: count }),
        ...family(at(0), { 1: count }, "_bucket"),
      ]);
      machine.clock.advance(1000);
    };
    await round(0);
    await round(4);
    expect(await p50(machine)).toEqual([0.5]);
    for (let i = 0; i < 600; i++) {
      machine.clock.advance(1000);
      await machine.server.rest();
    }
    expect(machine.server.cluster.counter("streams")).toBe(0);
    expect(machine.server.cluster.counter("bucketFamilies")).toBe(0);
    await round(10);
    await round(20);
    expect(await p50(machine)).toEqual([0.5, 0.5]);
    expect(machine.server.cluster.counter("bucketFamilies")).toBe(1);
    machine.server.kill();
    await machine.start(1, { idleMs });
    await round(30);
    expect(await p50(machine)).toEqual([0.5, 0.5, 0.5]);
    await machine.server.stop();
  });
});

describe("counters", () => {
  it("give the same series cumulative and per interval, through restarts of the sender", async () => {
    const random = generator(9);
    let total = 0;
    const bodies = Array.from({ length: 60 }, (_, tick) => {
      const time = START_MS + tick * TICK_MS;
      const added = Math.floor(random.uniform() * 50);
      total = tick % 20 === 19 ? added : total + added;
      const labels = (metric: string): Series["labels"] => [
        ["__name__", metric],
        ["job", "service-0"],
      ];
      return remoteBody(tick, [
        { labels: labels("requests_total"), samples: [{ value: total, time }] },
        { labels: labels("requests"), samples: [{ value: added, time }] },
      ]);
    });
    const { held } = await play(bodies, { random, killShare: 0.1 });
    const [, ...wanted] = [...(held.get("service-0 requests") as Map<number, number>)];
    expect(wanted).toHaveLength(59);
    expect([...(held.get("service-0 requests_total") as Map<number, number>)]).toEqual(wanted);
  });
});
