// What was ended while it goes on is quiet until it was over once, or for the dedup age; what ends with its service says so.
import { describe, expect, it } from "vitest";
import type { Principal } from "../../../../src/core/protocol/query.ts";
import { episode as episodeOfRig, Rig, type RigOptions } from "../../../support/coordinator-rig.ts";

const MINUTE = 60_000;
const OPERATOR: Principal = { tenant: "default", subject: "ada", role: "operator" };

/** So rare for its series that its page waits for no confirmation. */
const episode: typeof episodeOfRig = (change) =>
  episodeOfRig({ verdict: { observed: 1, threshold: 0.3, baseline: { n: 120 }, gates: [{ name: "own_tail", passed: true }] }, ...change });
const stale: typeof episodeOfRig = (change) =>
  episode({ detector: "stale", metricName: "service.stale", direction: "low", z: -4, ...change });
const open = (options: RigOptions = {}) => Rig.open({ watchdogIntervalMs: 60_000, ...options });
const alerts = async (rig: Rig, query: Record<string, string> = {}) => (await rig.ask("alerts", query)).body.alerts;
const resolve = (rig: Rig, alert_id: string) => rig.askAs(OPERATOR, "resolveAlert", { path: { alert_id }, content: {} });
const cycles = async (rig: Rig, count: number) => {
  for (let cycle = 0; cycle < count; cycle++) {
    rig.nowMs += MINUTE;
    rig.monotonicMs += MINUTE;
    await rig.drain();
  }
};

async function resolved() {
  const rig = await open();
  await rig.take(episode({ z: 7 }));
  const [{ alert_id }] = await alerts(rig);
  await resolve(rig, alert_id);
  rig.nowMs += MINUTE;
  return { rig, alert_id };
}

describe("what was resolved by hand while it is still so", () => {
  const further = (rig: Rig) => episode({ episodeId: "f".repeat(32), attributes: { pod: "b" }, z: 8, startedAtMs: rig.nowMs });

  it("is quiet: another stream of its pair is no news, also after a restart", async () => {
    const { rig } = await resolved();
    await rig.take(further(rig));
    expect(await alerts(rig)).toMatchObject([{ state: "resolved", pages: 1 }]);
    const second = await rig.restarted();
    await second.take(episode({ episodeId: "e".repeat(32), attributes: { pod: "c" }, z: 9, startedAtMs: second.nowMs }));
    expect(await alerts(second)).toMatchObject([{ state: "resolved", pages: 1 }]);
  });

  it("is news again once it was over", async () => {
    const { rig } = await resolved();
    await rig.take(episode({ transition: "close" }));
    rig.nowMs += MINUTE;
    await rig.take(episode({ z: 7, startedAtMs: rig.nowMs, episodeId: "d".repeat(32) }));
    expect(await alerts(rig)).toMatchObject([{ state: "firing", pages: 2, resolved_by: null }]);
  });

  it("is news again once its own stream was over, while another of its pair goes on (point 3)", async () => {
    const rig = await open();
    const another = episode({ episodeId: "a".repeat(32), attributes: { pod: "a" }, z: 5 });
    await rig.take(episode({ z: 7 }), another);
    await resolve(rig, (await alerts(rig))[0].alert_id);
    rig.nowMs += MINUTE;
    await rig.take(episode({ transition: "close" }), further(rig));
    expect(await alerts(rig)).toMatchObject([{ state: "resolved", pages: 1 }]);
    rig.nowMs += MINUTE;
    await rig.take(episode({ z: 7, startedAtMs: rig.nowMs, episodeId: "d".repeat(32) }));
    expect(await alerts(rig)).toMatchObject([{ state: "firing", pages: 2, resolved_by: null, open_anomalies: 1 }]);
    await cycles(rig, 90);
    expect(await alerts(rig, { state: "firing" })).toMatchObject([{ open_anomalies: 1 }]);
  });

  it("stays quiet beyond the dedup age where its service sends nothing", async () => {
    const { rig } = await resolved();
    await cycles(rig, 90);
    expect(await alerts(rig, { state: "firing" })).toEqual([]);
  });
});

describe("a service that falls silent", () => {
  it("ends its metric alerts, into the alert on its silence", async () => {
    const rig = await open();
    await rig.take(episode({ z: 7 }), episode({ serviceId: "cart", z: 7 }));
    rig.nowMs += MINUTE;
    await rig.take(stale({ startedAtMs: rig.nowMs }));
    await cycles(rig, 2);
    const [silence] = await alerts(rig, { family: "stale" });
    expect((await alerts(rig, { family: "metric", service_id: "checkout" }))[0]).toMatchObject({
      state: "resolved",
      resolved_by: "ended",
      merged_into: silence.alert_id,
      open_anomalies: 0,
    });
    expect(await alerts(rig, { service_id: "cart" })).toMatchObject([{ state: "firing" }]);
  });
});

describe("a service that is retired", () => {
  it("has no alert any more, and its end names who retired it", async () => {
    const rig = await open();
    await rig.take(episode({ z: 7 }), episode({ metricName: "mild", z: 1.5 }), episode({ serviceId: "other", metricName: "mild", z: 1.5 }));
    const answer = await rig.askAs(OPERATOR, "retireService", { path: { id: "checkout" }, content: { comment: "replaced" } });
    expect(answer).toMatchObject({ status: 200, body: { service_id: "checkout", environment: null, retired_by: "ada", alerts_ended: 1 } });
    expect(await alerts(rig, { state: "firing" })).toEqual([]);
    expect((await alerts(rig))[0]).toMatchObject({
      resolved_by: "ended",
      resolved_by_name: "ada",
      resolution: "ended: ada has retired the service",
    });
    const left = (await rig.ask("anomalies", {})).body.anomalies.filter(({ resolved }: { resolved: boolean }) => !resolved);
    expect(left.map(({ service_id }: { service_id: string }) => service_id)).toEqual(["other"]);
    expect((await rig.askAs(OPERATOR, "retireService", { path: { id: "nobody" }, content: {} })).status).toBe(404);
  });
});
