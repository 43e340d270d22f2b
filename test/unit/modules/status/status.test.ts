import { describe, expect, it } from "vitest";
import { STATUS } from "../../../../src/api/shapes/server.ts";
import { partitionOf } from "../../../../src/domain/placement/partition.ts";
import { checkpoint, episode, type FakeStream, Rig, type RigOptions, START_MS, stream } from "../../../support/coordinator-rig.ts";

/** Puts a stream into the engine that owns its service. */
function hold(rig: Rig, held: FakeStream): void {
  rig.engines[partitionOf(held.summary.tenant, held.summary.serviceId) % rig.engines.length]?.streams.push(held);
}

async function serving(options: RigOptions = {}): Promise<Rig> {
  const rig = await Rig.open(options);
  await rig.drain();
  return rig;
}

/** The answer, which is as it is declared whatever the state. */
async function statusOf(rig: Rig, tenant = "default") {
  const { status, body } = await rig.ask("status", {}, {}, tenant);
  expect([status, STATUS.safeParse(body).error?.issues ?? []]).toEqual([200, []]);
  return body;
}

/** Passes of a cycle, in their order. */
const STAGES = ["services", "pairs", "arrivals", "silent-alerts", "saturation", "slo_burn", "cascade", "quiet", "alerts"];

describe("the status", () => {
  it("says what runs, and counts what there is", async () => {
    const rig = await serving({ engines: 2 });
    hold(rig, stream({ serviceId: "a" }));
    hold(rig, stream({ serviceId: "b" }));
    hold(rig, stream({ serviceId: "b", tenant: "other" }));
    await rig.take(episode(), checkpoint(0, 1, []));
    rig.logBytes = 1e6;
    await rig.drain(); // the report on the anomaly is stored
    rig.monotonicMs += 60_000;
    await rig.drain();
    const held = rig.control.stats().usedBytes + rig.series.stats().usedBytes + 1e6;
    expect(await statusOf(rig)).toMatchObject({
      status: "ok",
      version: "1.0.0",
      components: { watchdog: "ok", rca: "ok", llm: "disabled", store: "ok" },
      watchdog: { last_run: new Date(START_MS).toISOString(), metrics_monitored: 2, anomalies_last_hour: 1, lag_seconds: 0 },
      store: { state: "ok", reason: null, used_bytes: held, log_bytes: 1e6, free_bytes: 1e9, limit_bytes: null },
      engines: [
        { engine: 0, state: "ok" },
        { engine: 1, state: "ok" },
      ],
      queues: { frames_waiting: 0, queries_waiting: 1 },
    });
    expect((await statusOf(rig)).store.fill).toBeCloseTo(held / (held + 1e9), 3);
    expect((await statusOf(rig, "other")).watchdog).toMatchObject({ metrics_monitored: 1, anomalies_last_hour: 0 });
    rig.nowMs += 3_600_001;
    expect((await statusOf(rig)).watchdog.anomalies_last_hour).toBe(0);
  });

  it("is starting until the engines are there", async () => {
    const rig = await Rig.open({ isStarting: true });
    expect(await statusOf(rig)).toMatchObject({ status: "starting", components: { watchdog: "starting" } });
  });

  it("is degraded while an engine does not answer, whose streams are not known then", async () => {
    const rig = await serving({ engines: 2 });
    for (const engine of rig.engines.slice(1)) engine.isDead = true;
    expect(await statusOf(rig)).toMatchObject({
      status: "degraded",
      components: { watchdog: "degraded", store: "ok" },
      engines: [
        { engine: 0, state: "ok", series: 0 },
        { engine: 1, state: "unavailable", series: null },
      ],
    });
  });

  it("is degraded while writes fail, and says by which error", async () => {
    const rig = await serving();
    rig.control.failNext("ENOSPC");
    rig.engines[0]?.frames.push(episode());
    await rig.coordinator.step();
    expect(await statusOf(rig)).toMatchObject({
      status: "degraded",
      components: { store: "read_only" },
      store: { state: "read_only", reason: "write_failed", error_code: "ENOSPC" },
      queues: { frames_waiting: 1 },
    });
    rig.monotonicMs += 60_000;
    await rig.drain();
    expect(await statusOf(rig)).toMatchObject({ status: "ok", store: { state: "ok", reason: null, error_code: null } });
  });

  it("is degraded beyond the limit of the disk", async () => {
    const rig = await serving({ diskLimitBytes: 1_000 });
    rig.logBytes = 2_000;
    rig.monotonicMs += 60_000;
    await rig.drain();
    const { status, store } = await statusOf(rig);
    expect([status, store.state, store.reason, store.error_code, store.limit_bytes]).toEqual([
      "degraded",
      "read_only",
      "disk_limit",
      null,
      1_000,
    ]);
    expect(store.fill).toBeGreaterThan(1);
  });

  it("tells of cycles and passes, and that they are behind where none has ended for two intervals", async () => {
    const rig = await serving({ watchdogIntervalMs: 60_000 });
    await new Promise((resolve) => setImmediate(resolve));
    const { watchdog } = await statusOf(rig);
    expect(watchdog).toMatchObject({ last_run: new Date(START_MS).toISOString(), cycles: 1, failed_cycles: 0, layers: ["statistical"] });
    const none = { evaluated: 0, learning: 0, skipped: {}, last_run: new Date(START_MS).toISOString() };
    expect(watchdog.passes).toMatchObject(STAGES.map((pass) => ({ pass, ...none })));
    for (const engine of rig.engines) engine.isDead = true;
    rig.monotonicMs += 60_000;
    await rig.drain();
    await new Promise((resolve) => setImmediate(resolve));
    for (const engine of rig.engines) engine.isDead = false;
    rig.monotonicMs += 61_000;
    expect(await statusOf(rig)).toMatchObject({
      status: "degraded",
      components: { watchdog: "behind" },
      watchdog: { cycles: 1, failed_cycles: 1 },
    });
  });

  it("says that detection is stalled where the coordinator has not looked for minutes", async () => {
    const rig = await serving();
    rig.nowMs += 181_000;
    expect(await statusOf(rig)).toMatchObject({ status: "degraded", components: { watchdog: "stalled" }, watchdog: { lag_seconds: 181 } });
  });
});

it("tells counts of all tenants to those who may see all tenants, or where there is one", async () => {
  const rig = await serving({ watchdogIntervalMs: 60_000 });
  await new Promise((resolve) => setImmediate(resolve));
  const counts = async () => {
    const { watchdog, vectorizer } = await statusOf(rig);
    return [watchdog.passes[0].evaluated, vectorizer.services];
  };
  expect(await counts()).toEqual([0, 0]);
  expect((await rig.ask("createTenant", {}, {}, "default", { tenant_id: "other", name: "Other", plan: "pro" })).status).toBe(201);
  expect(await counts()).toEqual([null, null]);
  const { body } = await rig.askAs({ tenant: "default", subject: "root", role: "super_admin" }, "status", {});
  expect([body.watchdog.passes[0].evaluated, body.vectorizer.services]).toEqual([0, 0]);
});
