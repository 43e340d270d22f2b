// Histograms and summaries through a whole server: what is derived from them is the same whatever happens on the way, and whether the sender counts for ever or
// per interval. Points have no body of their own here: a JSON body of n bytes stands for the n-th list of them.
import snappy from "snappy";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DistributionSink } from "../../src/actors/engine/distributions/distribution-sink.ts";
import { JsonDecoder } from "../../src/actors/engine/json-decoder.ts";
import { formatRfc3339, parseRfc3339 } from "../../src/core/base/rfc3339.ts";
import { BODY_JSON_BATCH, BODY_REMOTE_WRITE_1 } from "../../src/core/protocol/body-kind.ts";
import { type Distribution, EMPTY_DISTRIBUTION } from "../../src/domain/distribution/distribution.ts";
import type { DistributionPoint } from "../../src/domain/otlp/otlp-items.ts";
import { VirtualClock } from "../support/cluster.ts";
import { explicitPoint, exponentialPoint } from "../support/distribution-points.ts";
import { type Generator, generator } from "../support/generator.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { encodeBody, type Series } from "../support/remote-write-body.ts";
import { SimulatedServer } from "../support/simulation-server.ts";

const START = Date.UTC(2026, 0, 5, 12);
const TICK_MS = 10_000;
const BOUNDS = [1, 2, 5, 10, 20, 50];
const SERVICES = 5;
const TICKS = 40;
const RESET_TICKS: readonly number[] = [13, 27];

/** A body that the server is to take, at the earliest in its tick. */
interface Sent {
  readonly tick: number;
  readonly kind: number;
  readonly bytes: Uint8Array;
  readonly status: number;
}

const lists: DistributionPoint[][] = [];

function bodyOf(tick: number, points: DistributionPoint[]): Sent {
  return { tick, kind: BODY_JSON_BATCH, bytes: new Uint8Array(lists.push(points)), status: 200 };
}

function remoteBody(tick: number, series: readonly Series[]): Sent {
  return { tick, kind: BODY_REMOTE_WRITE_1, bytes: snappy.compressSync(Buffer.from(encodeBody(series))), status: 204 };
}

beforeEach(() => {
  lists.length = 0;
  stumbles = 0;
  const sink = new DistributionSink({ mayHave: () => true });
  vi.spyOn(JsonDecoder.prototype, "decode").mockImplementation((body, unit) => {
    for (const point of lists[body.bytes - 1] as DistributionPoint[])
      expect(sink.add(unit, { tenant: 0, tenantName: "default", wallMs: body.wallMs }, point)).toBeUndefined();
    return { status: 200, body: null };
  });
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Faults of a run; none for the run that the others are compared with. */
interface Disturbance {
  readonly random: Generator;
  readonly killShare: number;
}

/** A machine whose server is started, killed and asked. */
class Machine {
  readonly clock = new VirtualClock(START);
  readonly #machine = { clock: this.clock, disk: new MemoryDisk(), control: new Map(), series: new Map() };
  #epoch = 0;
  server!: SimulatedServer;

  async start(engines: number, idleMs = Number.POSITIVE_INFINITY): Promise<void> {
    const sizes = {
      segmentBytes: 16_384,
      blockBytes: 4096,
      checkpointRoundBytes: 2 ** 14,
      checkpointLogShare: 0,
      checkpointPartBytes: 256,
      commitTurnsMax: 3,
      idleMs,
    };
    this.server = new SimulatedServer({ engines, epoch: ++this.#epoch, seed: this.#epoch, ...sizes }, this.#machine);
    await this.server.open();
    await this.server.rest();
  }

  /** Sends a body until it is answered; with a disturbance the server may be killed meanwhile, and the body come again. */
  async send({ kind, bytes, status }: Sent, disturbance: Disturbance | undefined): Promise<void> {
    for (let answer = 0; answer === 0; ) {
      const engine = disturbance === undefined ? 0 : Math.floor(disturbance.random.uniform() * this.server.engines);
      this.server.submit(engine, kind, bytes, "", (given) => {
        expect(given.status, given.body ?? "").toBe(status);
        answer = given.status;
      });
      if (disturbance !== undefined && disturbance.random.uniform() < disturbance.killShare) await this.#stumble(disturbance.random);
      else await this.server.rest();
      if (disturbance !== undefined && answer !== 0 && disturbance.random.uniform() < 0.1) answer = 0;
    }
  }

  async #stumble(random: Generator): Promise<void> {
    for (let steps = Math.floor(random.uniform() * 60); steps > 0; steps--) {
      this.server.cluster.step(Math.floor(random.uniform() * this.server.engines));
      if (random.uniform() < 0.3) await this.server.stepCoordinator();
      if (random.uniform() < 0.1) this.clock.advance(100);
    }
    stumbles++;
    if (random.uniform() < 0.8) this.server.kill();
    else {
      await this.server.rest();
      await this.server.stop();
    }
    await this.start(1 + Math.floor(random.uniform() * 3));
  }

  /** Values by time, by service and metric. */
  async holdings(): Promise<Map<string, Map<number, number>>> {
    const { series } = (await this.server.query("series", { limit: "1000" })) as {
      series: Array<{ service_id: string; metric_name: string }>;
    };
    const held = new Map<string, Map<number, number>>();
    for (const { service_id, metric_name } of series) {
      const { points } = (await this.server.query("seriesData", { service_id, metric_name, limit: "1000" })) as {
        points: Array<{ timestamp: string; value: number }>;
      };
      held.set(`${service_id} ${metric_name}`, new Map(points.map(({ timestamp, value }) => [parseRfc3339(timestamp) as number, value])));
    }
    return held;
  }
}

/** Kills and orderly stops of the runs so far. */
let stumbles = 0;

async function play(bodies: readonly Sent[], disturbance?: Disturbance): Promise<Map<string, Map<number, number>>> {
  const machine = new Machine();
  await machine.start(disturbance === undefined ? 1 : 2);
  let tick = 0;
  for (const body of bodies) {
    if (body.tick > tick) machine.clock.advance(TICK_MS * (body.tick - tick));
    tick = Math.max(tick, body.tick);
    await machine.send(body, disturbance);
  }
  await machine.server.rest();
  const held = await machine.holdings();
  await machine.server.stop();
  return held;
}

/** Bodies of neighbouring ticks change places. */
function disordered(bodies: readonly Sent[], random: Generator, reach: number): Sent[] {
  return bodies
    .map((body) => ({ body, at: body.tick + random.uniform() * reach }))
    .sort((a, b) => a.at - b.at)
    .map(({ body }, i, all) => ({ ...body, tick: Math.max(...all.slice(0, i + 1).map((one) => one.body.tick)) }));
}

function expectSame(held: Map<string, Map<number, number>>, wanted: Map<string, Map<number, number>>): void {
  expect([...held.keys()].sort()).toEqual([...wanted.keys()].sort());
  for (const [name, points] of wanted) expect([name, ...(held.get(name) ?? [])]).toEqual([name, ...points]);
}

/** Samples of one tick: whole numbers, so that sums have no rounding; a share of the ticks has none. */
function samplesOf(random: Generator, emptyShare: number): number[] {
  const count = random.uniform() < emptyShare ? 0 : 1 + Math.floor(random.uniform() * 30);
  return Array.from({ length: count }, () => 1 + Math.floor(Math.exp(3 * random.uniform() + random.normal() * 0.5)));
}

type MakePoint = (samples: readonly number[]) => Distribution;

const MAKERS: ReadonlyArray<readonly [string, MakePoint]> = [
  ["explicit", (samples) => explicitPoint(samples, BOUNDS)],
  ["exponential", (samples) => exponentialPoint(samples, 3)],
];

/** Points of all services, one body a tick: `total.*` cumulative, `interval.*` of the same samples per interval, and summaries. */
function pointBodies(seed: number, emptyShare: number): Sent[] {
  const random = generator(seed);
  const sums = new Map<string, number[]>();
  let startMs = START;
  return Array.from({ length: TICKS }, (_, tick) => {
    const timeMs = START + (tick + 1) * TICK_MS;
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
    const held = await play(pointBodies(1, 0.1));
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
      expectSame(await play(disordered(bodies, random, isOrdered ? 0 : 2.5), { random, killShare: 0.3 }), wanted);
    }
    expect(stumbles).toBeGreaterThan(20);
  }, 60_000);
});

/** Classic buckets, each family's in two bodies of one tick, or in one. */
function bucketBodies(seed: number, apart: boolean): Sent[] {
  const random = generator(seed);
  const sums = new Map<number, number[]>();
  return Array.from({ length: TICKS }, (_, tick) => {
    const time = START + tick * TICK_MS;
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

const quantilesOf = (held: Map<string, Map<number, number>>) => new Map([...held].filter(([name]) => /\.p\d\d$/.test(name)));

describe("classic buckets", () => {
  it("give the quantiles of what each interval added", async () => {
    const held = quantilesOf(await play(bucketBodies(1, false)));
    expect(held.size).toBe(SERVICES * 3);
    for (const points of held.values()) {
      expect(points.size).toBeGreaterThan(TICKS / 2);
      expect(points.has(START)).toBe(false);
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
      expectSame(quantilesOf(await play(disordered(apart, random, 0.9), { random, killShare: 0.15 })), wanted);
    }
    expect(stumbles).toBeGreaterThan(20);
  }, 60_000);
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
  const p50 = async (machine: Machine) => [...((await machine.holdings()).get("service-0 latency.p50")?.values() ?? [])];
  const send = (machine: Machine, series: readonly Series[]) => machine.send(remoteBody(0, series), undefined);

  it("waits for all known buckets, 30 seconds at most, and takes what comes later as a correction", async () => {
    const machine = new Machine();
    await machine.start(2);
    for (const i of [0, 1, 2]) {
      await send(machine, family(START + i, { 1: 10 * i, 2: 20 * i, "+Inf": 20 * i }));
      expect(await p50(machine)).toHaveLength(i);
    }
    await send(machine, family(START + 3, { 1: 25, "+Inf": 60 }));
    expect(await p50(machine)).toEqual([1, 1]);
    for (let second = 0; second < 29; second++) {
      machine.clock.advance(1000);
      await machine.server.rest();
    }
    expect(await p50(machine)).toEqual([1, 1]);
    machine.clock.advance(2000);
    await machine.server.rest();
    expect(await p50(machine)).toEqual([1, 1, 1]);
    await send(machine, family(START + 3, { 2: 58 }));
    expect(await p50(machine)).toEqual([1, 1, 1 + 5 / 13]);
    await machine.server.stop();
  });

  it("does not wait for a bucket that is gone for good", async () => {
    const machine = new Machine();
    await machine.start(1);
    await send(machine, family(START, { 1: 0, 2: 0, "+Inf": 0 }));
    for (let i = 1; i <= 4; i++) await send(machine, family(START + i, { 1: 10 * i, "+Inf": 20 * i }));
    expect(await p50(machine)).toHaveLength(4);
    await machine.server.stop();
  });

  it("may come with many times of each bucket in one body, and as JSON", async () => {
    vi.restoreAllMocks();
    const machine = new Machine();
    await machine.start(2);
    const times = Array.from({ length: 100 }, (_, i) => START + i);
    const whole = family(START, { 1: 0, 2: 0, "+Inf": 0 }).map(({ labels }, i) => ({
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
        timestamp: formatRfc3339(START + n),
        attributes: { le, metric_type: "counter" },
      })),
    );
    await machine.send(
      { tick: 0, kind: BODY_JSON_BATCH, bytes: new TextEncoder().encode(JSON.stringify(records)), status: 200 },
      undefined,
    );
    expect([...((await machine.holdings()).get("service-1 wait.p99") ?? [])]).toEqual([[START + 2, 0.99]]);
    await machine.server.stop();
  });

  it("ends with its buckets, and comes back with them", async () => {
    const machine = new Machine();
    await machine.start(2);
    const isEnded = async () => {
      const { series } = (await machine.server.query("series", { limit: "1000" })) as {
        series: Array<{ metric_name: string; ended?: boolean }>;
      };
      return series.find(({ metric_name }) => metric_name === "latency.p50")?.ended;
    };
    for (const i of [0, 1, 2]) await send(machine, family(START + i, { 1: i, "+Inf": i }));
    expect(await isEnded()).toBe(false);
    await send(machine, family(START + 3, { 1: STALE.getFloat64(0), "+Inf": STALE.getFloat64(0) }));
    expect(await isEnded()).toBe(true);
    await send(machine, family(START + 4, { 1: 7, "+Inf": 7 }));
    expect([await isEnded(), (await p50(machine)).length]).toEqual([false, 3]);
    await machine.server.stop();
  });

  it("goes on after its buckets have left memory, and leaves other names that end so alone", async () => {
    const machine = new Machine();
    const idleMs = 60_000;
    await machine.start(2, idleMs);
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
    await machine.start(1, idleMs);
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
      const time = START + tick * TICK_MS;
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
    const held = await play(bodies, { random, killShare: 0.1 });
    const [, ...wanted] = [...(held.get("service-0 requests") as Map<number, number>)];
    expect(wanted).toHaveLength(59);
    expect([...(held.get("service-0 requests_total") as Map<number, number>)]).toEqual(wanted);
  });
});
