// Rule 1.1.11 through the whole server on a virtual clock: what fills is told with its limit and its end, by instance, and a restart changes nothing of it.
import { describe, expect, it } from "vitest";
import { WEEK_MS } from "../../src/core/time/durations.ts";
import { generator } from "../support/generator.ts";
import { MINUTE_MS, type SentRecord, WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 6);
const HOURS = 60;
const random = generator(7);
const wobble = (): number => 0.1 * random.normal();

/** A disk that gains `perHour` a hour, from a start value. */
const disk = (node: string, from: number, perHour: number, minute: number): SentRecord => ({
  service: "db",
  metric: "disk.used_percent",
  value: from + (perHour * minute) / HOURS + wobble(),
  attributes: { "host.name": node },
});

async function run(watched: WatchedServer, minutes: number, records: (minute: number) => readonly SentRecord[], from = 0): Promise<void> {
  for (let minute = from; minute < from + minutes; minute++) {
    await watched.send(records(minute));
    await watched.minute();
  }
}

describe("saturation on the whole server", () => {
  it("tells the disk of one node that fills, goes on with it after a kill, and ends it", async () => {
    const watched = await WatchedServer.open(START);
    const both = (minute: number) => [disk("node-1", 40, 0, minute), disk("node-2", 40, 4, minute)];
    await run(watched, 700, both);
    const fire = (await watched.fires({ state: "firing" })).find(({ instance }) => instance === "node-2");
    expect((await watched.fires()).map(({ instance }) => instance)).not.toContain("node-1");
    expect(fire).toMatchObject({
      state: "firing",
      service_id: "db",
      metric_name: "disk.used_percent",
      instance: "node-2",
      attributes: { "host.name": "node-2" },
      tier: "medium",
      rule: "time_to_exhaustion",
      kind: "utilization",
      limit: 100,
      unit: "%",
    });
    const fullAtMs = START + 15 * 60 * MINUTE_MS;
    expect(Math.abs(Date.parse(fire.projected_at) - fullAtMs)).toBeLessThan(0.2 * (fullAtMs - watched.nowMs));
    expect(fire.headroom).toBeCloseTo(100 - fire.value, 6);
    expect(fire.explanation).toMatch(
      /^disk\.used_percent on node-2 is 8\d\.\d% of 100%; rising .*projected full at 2026-01-05 2\d:\d\d:00 UTC/,
    );
    const reported = (await watched.anomalies()).filter(({ detector }) => detector === "saturation");
    expect(reported).toHaveLength(1);
    expect(reported[0]).toMatchObject({ resolved: false, direction: "high", metric_name: "disk.used_percent" });

    await watched.kill();
    const held = await watched.fires({ state: "firing" });
    expect(held.map(({ fire_id }) => fire_id)).toContain(fire.fire_id);
    await run(watched, 8, both, 700);
    const after = (await watched.fires({ state: "firing" })).find(({ fire_id }) => fire_id === fire.fire_id);
    expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(fire.updated_at));
    expect(await watched.fires({ state: "resolved" })).toEqual([]);

    await run(watched, 20, (minute) => [disk("node-1", 40, 0, minute), disk("node-2", 20, 0, minute)], 708);
    expect(await watched.fires({ state: "firing" })).toEqual([]);
    const ended = (await watched.fires({ state: "resolved" })).find(({ fire_id }) => fire_id === fire.fire_id);
    expect(ended.resolved_at).not.toBeNull();
    const anomalies = (await watched.anomalies()).filter(({ detector }) => detector === "saturation");
    expect(anomalies).toHaveLength(1);
    expect(anomalies[0].resolved).toBe(true);
  });

  it("looks at raw units only where a limit is declared, within two cycles of the declaration", async () => {
    const watched = await WatchedServer.open(START);
    const heap = (minute: number): SentRecord[] => [
      { service: "api", metric: "heap_bytes", value: 4e8 + (6e7 * minute) / HOURS + 1e6 * wobble() },
    ];
    await run(watched, 600, heap);
    expect(await watched.fires()).toEqual([]);
    await watched.server.query("declareLimit", {}, "default", {
      service_id: "api",
      metric: "heap_bytes",
      limit_value: 1.1e9,
      unit: "bytes",
    });
    // Two evaluations in a row are asked for before anything is told.
    await run(watched, 8, heap, 600);
    const [fire] = await watched.fires();
    expect(fire).toMatchObject({ service_id: "api", limit: 1.1e9, unit: "bytes", tier: "medium", instance: null });
  });

  it("reads the past of a series from the store where its ring does not reach back", async () => {
    const watched = await WatchedServer.open(START);
    const drains = (minute: number): SentRecord[] => [{ service: "db", metric: "disk_free_bytes", value: 1e12 - (6e10 * minute) / HOURS }];
    await run(watched, 300, drains);
    await watched.kill();
    await run(watched, 6, drains, 300);
    expect(watched.server.counter("saturationFolds")).toBeGreaterThan(0);
    const [fire] = await watched.fires();
    expect(fire).toMatchObject({ kind: "remaining", limit: 0, tier: "low" });
    const emptyAtMs = START + (1e12 / 6e10) * HOURS * MINUTE_MS;
    expect(Math.abs(Date.parse(fire.projected_at) - emptyAtMs)).toBeLessThan(0.1 * (emptyAtMs - watched.nowMs));
  });

  it.each(["kill", "restart"] as const)("knows a breach of each week after a %s, when samples no longer show those before", async (how) => {
    const watched = await WatchedServer.open(START);
    const batch = (minute: number): SentRecord[] => [
      { service: "batch", metric: "cpu_percent", value: minute >= 40 && minute < 50 ? 95 : 30 },
    ];
    const told: number[] = [];
    for (let week = 0; week < 6; week++) {
      watched.machine.clock.advance(START + week * WEEK_MS - watched.nowMs);
      await run(watched, 70, batch);
      told.push((await watched.fires()).length);
      await run(watched, 70, () => [], 70);
      await watched[how]();
    }
    expect(told).toEqual([1, 2, 2, 2, 2, 2]);
  });
});
