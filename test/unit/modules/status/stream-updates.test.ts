// What the event stream tells of jobs and of the server's state, and the quantiles of the status.
import { describe, expect, it } from "vitest";
import type { JobEvent, StatusEvent } from "../../../../src/api/shapes/stream-events.ts";
import { UPDATES_MS, UPDATES_UNREAD_MS } from "../../../../src/core/config/interface-limits.ts";
import { COORDINATOR_SLOTS, LATENCY_BOUNDS_SECONDS, SLOT_LATENCY } from "../../../../src/core/layout/counters.ts";
import { detectionLatency } from "../../../../src/modules/status/latency-quantile.ts";
import { StreamUpdates, type TenantJob } from "../../../../src/modules/status/stream-updates.ts";

const STATE: StatusEvent = {
  status: "ok",
  components: { watchdog: "ok", vectorizer: "ok", rca: "ok", store: "ok", data: "ok" },
};
const job = (id: string, done: number, state: JobEvent["state"] = "running"): JobEvent => ({
  job_id: id,
  kind: "dlq_replay",
  state,
  done,
  total: 10,
});

function rig() {
  const told: string[] = [];
  const world = { nowMs: 0, isRead: true, running: [] as TenantJob[], ended: new Map<string, JobEvent>(), state: STATE };
  const news = new StreamUpdates({
    jobs: () => world.running,
    job: (_, id) => world.ended.get(id),
    state: () => world.state,
    hasSubscribers: () => world.isRead,
    publish: (events) => told.push(...events.map(({ event, tenant, data }) => `${tenant} ${event} ${data}`)),
    monotonicMs: () => world.nowMs,
  });
  const step = () => {
    const dueMs = news.step();
    world.nowMs = dueMs;
    return told.splice(0);
  };
  return { world, step, news };
}

describe("news of the stream", () => {
  it("tell a state once, and again when it changes", () => {
    const { world, step } = rig();
    expect(step()).toEqual([`null status ${JSON.stringify(STATE)}`]);
    expect(step()).toEqual([]);
    world.state = { ...STATE, status: "degraded" };
    expect(step()).toEqual([`null status ${JSON.stringify(world.state)}`]);
  });

  it("tell a job to its tenant when it begins, moves on and ends, and a job that is gone not at all", () => {
    const { world, step } = rig();
    step();
    world.running = [
      { tenant: "a", event: job("1", 0) },
      { tenant: "b", event: job("2", 0) },
    ];
    expect(step()).toEqual([`a job ${JSON.stringify(job("1", 0))}`, `b job ${JSON.stringify(job("2", 0))}`]);
    world.running = [{ tenant: "a", event: job("1", 5) }];
    expect(step()).toEqual([`a job ${JSON.stringify(job("1", 5))}`]);
    world.running = [];
    world.ended.set("1", job("1", 10, "done"));
    expect(step()).toEqual([`a job ${JSON.stringify(job("1", 10, "done"))}`]);
    expect(step()).toEqual([]);
  });

  it("make nothing where nobody reads, look less often, and begin anew with the next reader", () => {
    const { world, step, news } = rig();
    expect(step()).toHaveLength(1);
    expect(world.nowMs).toBe(UPDATES_MS);
    world.isRead = false;
    expect(step()).toEqual([]);
    expect(world.nowMs).toBe(UPDATES_MS + UPDATES_UNREAD_MS);
    world.isRead = true;
    expect(step()).toHaveLength(1);
    world.nowMs -= 1;
    expect(news.step()).toBe(world.nowMs + 1);
  });
});

describe("detection latency", () => {
  const of = (counts: Readonly<Record<number, number>>) => {
    const slots = new Float64Array(COORDINATOR_SLOTS);
    for (const [bucket, count] of Object.entries(counts)) slots[SLOT_LATENCY + Number(bucket)] = count;
    return detectionLatency(slots);
  };

  it.each([
    ["nothing", {}, { count: 0, p50Ms: null, p99Ms: null }],
    ["one bucket", { 3: 100 }, { count: 100, p50Ms: 7.5, p99Ms: 9.95 }],
    ["two buckets", { 0: 50, 8: 50 }, { count: 100, p50Ms: 1, p99Ms: 99.5 }],
    ["beyond the last bound", { [LATENCY_BOUNDS_SECONDS.length]: 4 }, { count: 4, p50Ms: 10_000, p99Ms: 10_000 }],
  ])("of %s", (_, counts, expected) => {
    expect(of(counts)).toEqual(expected);
  });
});
