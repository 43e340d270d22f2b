import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { EngineOptions } from "../../../../src/actors/engine/engine-options.ts";
import { madeUpBodies } from "../../../../src/actors/engine/made-up-bodies.ts";
import { rehearse } from "../../../../src/actors/engine/rehearsal.ts";
import { FRAME_VERDICT } from "../../../../src/core/protocol/coordinator-frame.ts";
import { VirtualClock } from "../../../support/cluster.ts";

const REPEATS = 120;
const kernelModule = new WebAssembly.Module(readFileSync("dist/domain/kernel/kernel.wasm"));
const options: EngineOptions = {
  ...{ engine: 3, engines: 8, epoch: 7, seriesLimit: 1_000_000, zThreshold: 3, samplesMin: 12, window: 120, tenants: ["acme", "default"] },
  ...{ seeds: [1n, 2n, 3n, 4n], checkpoints: [], logMarks: [], idleMs: 3_600_000, retentionMs: 86_400_000 },
};

it("has every body taken, and anomalies among them", () => {
  const clock = new VirtualClock(Date.UTC(2026, 10, 28));
  const { bodies, statuses, frames } = rehearse(options, { kernelModule, clock }, { repeats: REPEATS, msMax: 1 });
  expect(bodies).toBe([...madeUpBodies(REPEATS, clock.wallMs())].length);
  expect(statuses).toHaveLength(bodies);
  expect(new Set(statuses)).toEqual(new Set([200, 204]));
  expect(frames.filter((kind) => kind === FRAME_VERDICT).length).toBeGreaterThan(10);
});

it("knows nothing of the tenants that exist", () => {
  const clock = new VirtualClock(Date.UTC(2026, 10, 28));
  const overrides = { scope: { tenant: "default", environment: null, serviceId: null, metricName: null }, overrides: {} };
  const watchdogSettings = { type: "watchdog-settings", places: [overrides], profiles: [], tables: [], calendars: [] } as const;
  const metadata = [{ tenant: "default" }] as unknown as NonNullable<EngineOptions["metadata"]>;
  const stored = { ...options, watchdogSettings, metadata } as unknown as EngineOptions;
  expect(rehearse(stored, { kernelModule, clock }, { repeats: 2, msMax: 1 }).statuses.length).toBeGreaterThan(0);
});

it("ends when its time is over", () => {
  const clock = new VirtualClock(Date.UTC(2026, 10, 28));
  let asked = 0;
  const passing = { wallMs: () => clock.wallMs(), monotonicMs: () => ++asked };
  const { bodies, statuses } = rehearse(options, { kernelModule, clock: passing }, { repeats: REPEATS, msMax: 300 });
  expect(bodies).toBeGreaterThan(0);
  expect(bodies).toBeLessThan(4 * REPEATS);
  expect(statuses).toHaveLength(bodies);
});

it("leaves no file, no descriptor and nothing of what it was told", () => {
  const clock = new VirtualClock(Date.UTC(2026, 10, 28));
  const seen = () => JSON.stringify([readdirSync("."), readdirSync("/proc/self/fd").length, options.tenants, options.seeds.map(String)]);
  const before = seen();
  rehearse(options, { kernelModule, clock }, { repeats: 2, msMax: 1 });
  expect(seen()).toBe(before);
});

it("rehearses nothing where the system has no addresses for one more memory", () => {
  const clock = new VirtualClock(Date.UTC(2026, 10, 28));
  const createMemory = () => new WebAssembly.Memory({ initial: 65_537, maximum: 65_537, shared: true });
  expect(rehearse(options, { kernelModule, clock, createMemory }, { repeats: 2, msMax: 1 })).toEqual({
    bodies: 0,
    statuses: [],
    frames: [],
  });
});

it("warns of a throw, and does not end the start by it", async () => {
  const clock = new VirtualClock(Date.UTC(2026, 10, 28));
  const warned = once(process, "warning");
  const createMemory = () => {
    throw new TypeError("odd");
  };
  expect(rehearse(options, { kernelModule, clock, createMemory }, { repeats: 2, msMax: 1 }).bodies).toBe(0);
  expect(String(await warned)).toContain("the start is not rehearsed: odd");
});
