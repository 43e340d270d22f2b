// Streams leave memory and come back: what a client sees, the count of streams, and starts in between.
import { expect, it } from "vitest";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { SimulatedServer, type SimulatedServerOptions, SMALL_SIZES } from "../support/simulation-server.ts";

const START = Date.UTC(2026, 0, 5, 12);
const HOUR_MS = 3600 * 1000;

class Rig {
  readonly clock = new VirtualClock(START);
  readonly machine = { clock: this.clock, disk: new MemoryDisk(), control: new Map(), series: new Map() };
  readonly #options: Partial<SimulatedServerOptions>;
  #epoch = 0;
  server!: SimulatedServer;

  constructor(options: Partial<SimulatedServerOptions>) {
    this.#options = options;
  }

  async start(engines: number): Promise<void> {
    const options = { engines, epoch: ++this.#epoch, seed: 1, ...SMALL_SIZES, idleMs: HOUR_MS, ...this.#options };
    this.server = new SimulatedServer(options, this.machine);
    await this.server.open();
    await this.server.rest();
  }

  async send(engine: number, services: readonly number[], value: (service: number) => number): Promise<string> {
    const timestamp = formatRfc3339(this.clock.wallMs());
    const records = services.map((s) => ({ service_id: `service-${s}`, metric_name: "m", value: value(s), timestamp }));
    let answer = "none";
    this.server.submit(engine, BODY_JSON_BATCH, new TextEncoder().encode(JSON.stringify(records)), "", ({ status, body }) => {
      answer = status === 200 ? `${(JSON.parse(body as string) as { queued: number }).queued}` : `${status}`;
    });
    await this.server.rest();
    this.clock.advance(10_000);
    return answer;
  }

  /** Lets the time pass in which every partition is looked at. */
  async idle(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += ms / 300) {
      this.clock.advance(ms / 300);
      await this.server.rest();
    }
  }

  async series(): Promise<string[]> {
    const { series, total } = (await this.server.query("series", { limit: "100" })) as {
      series: Array<{ service_id: string; samples: number; last_value: number }>;
      total: number;
    };
    expect(total).toBe(series.length);
    return series.map((each) => `${each.service_id} ${each.samples} ${each.last_value}`);
  }

  async points(service: number): Promise<number[]> {
    const answer = (await this.server.query("seriesData", { service_id: `service-${service}`, metric_name: "m", limit: "1000" })) as {
      points: Array<{ value: number }>;
    };
    return answer.points.map(({ value }) => value);
  }
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

it("shows them as if they had never left, before and after they are back, also after kills", async () => {
  const rig = new Rig({});
  await rig.start(2);
  for (let tick = 0; tick < 30; tick++) expect(await rig.send(tick % 2, range(0, 6), (s) => 100 * s + tick)).toBe("6");
  const before = await rig.series();
  expect(before.length).toBe(6);
  await rig.idle(2 * HOUR_MS);
  expect([rig.server.cluster.counter("streams"), rig.server.cluster.counter("streamsCold")]).toEqual([0, 6]);
  expect(await rig.series()).toEqual(before);
  expect(await rig.points(3)).toEqual(range(300, 330));

  expect(await rig.send(0, [3], () => 999)).toBe("1");
  expect([rig.server.cluster.counter("streams"), rig.server.cluster.counter("streamsReturned")]).toEqual([1, 1]);
  const after = before.map((line) => (line.startsWith("service-3") ? "service-3 31 999" : line));
  expect(await rig.series()).toEqual(after);

  rig.server.kill();
  await rig.start(3);
  expect(await rig.series()).toEqual(after);
  expect(await rig.points(3)).toEqual([...range(300, 330), 999]);
  expect(await rig.send(2, range(0, 6), (s) => 100 * s + 77)).toBe("6");
  expect(rig.server.cluster.counter("streams")).toBe(6);
  expect(await rig.points(5)).toEqual([...range(500, 530), 577]);
  expect(await rig.points(3)).toEqual([...range(300, 330), 999, 377]);
  await rig.idle(2 * HOUR_MS);
  await rig.server.stop();
  await rig.start(1);
  expect(rig.server.cluster.counter("streams")).toBe(0);
  expect(await rig.points(3)).toEqual([...range(300, 330), 999, 377]);
});

it("makes room for others under SERIES_LIMIT, in the slots and the memory that they leave", async () => {
  const rig = new Rig({ seriesLimit: 5 });
  await rig.start(2);
  for (let generation = 0; generation < 4; generation++) {
    expect(await rig.send(0, range(10 * generation, 10 * generation + 5), (s) => s)).toBe("5");
    expect(await rig.send(1, [1000 + generation], (s) => s)).toBe("0");
    await rig.idle(2 * HOUR_MS);
    expect(rig.server.cluster.counter("streams")).toBe(0);
  }
  expect((await rig.series()).length).toBe(20);
  expect(rig.server.cluster.counter("streamsCold")).toBe(20);
  expect(rig.server.cluster.counter("identityBytes")).toBe(0);
});

it("forgets them with their samples", async () => {
  const rig = new Rig({ retentionMs: 24 * HOUR_MS });
  await rig.start(2);
  await rig.send(0, range(0, 4), (s) => s);
  await rig.idle(2 * HOUR_MS);
  await rig.server.stop(); // refs of this start would keep them
  await rig.start(2);
  for (let hour = 0; hour < 30; hour++) {
    await rig.send(0, [50], (s) => s);
    rig.clock.advance(HOUR_MS / 2);
    await rig.server.rest();
    rig.clock.advance(HOUR_MS / 2);
  }
  await rig.server.stop();
  await rig.start(2);
  expect(await rig.series()).toEqual(["service-50 30 50"]);
  await rig.server.stop();
});
