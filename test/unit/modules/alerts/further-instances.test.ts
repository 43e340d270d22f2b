// Further instances of a metric that people know of are an update of its alert that names them, one for all that a transaction brings.
import { describe, expect, it } from "vitest";
import { episode, Rig } from "../../../support/coordinator-rig.ts";

const MINUTE = 60_000;
const verdict = { observed: 1, threshold: 0.3, baseline: { n: 120 }, gates: [{ name: "own_tail", passed: true }] };
const pod = (name: string, change: object = {}) =>
  episode({ attributes: { pod: name }, z: 7, verdict, episodeId: Buffer.from(name.padEnd(16, "-")).toString("hex"), ...change });

async function opened() {
  const rig = await Rig.open();
  await rig.take(pod("a"));
  const [{ alert_id }] = (await rig.ask("alerts")).body.alerts;
  const notes = async () => {
    const { history } = (await rig.ask("alert", {}, { alert_id })).body;
    return history.filter(({ change }: { change: string }) => change === "updated").map(({ note }: { note: string }) => note);
  };
  rig.nowMs += MINUTE;
  return { rig, alert_id, notes };
}

describe("further instances of a metric that people know of", () => {
  it("are told once each, those that come together in one update, and stand in the timeline", async () => {
    const { rig, alert_id, notes } = await opened();
    await rig.take(pod("b"), pod("c"), episode({ attributes: { pod: "b", disk: "2" }, z: 7, verdict, episodeId: "e".repeat(32) }));
    rig.nowMs += MINUTE;
    await rig.take(pod("d", { z: 6 }), episode({ attributes: { pod: "c", disk: "2" }, z: 7, verdict, episodeId: "f".repeat(32) }));
    expect(await notes()).toEqual(["also latency_ms on b, c", "also latency_ms on d"]);
    const { entries } = (await rig.ask("alertTimeline", {}, { alert_id })).body;
    expect(entries.filter(({ kind }: { kind: string }) => kind === "updated").map(({ text }: { text: string }) => text)).toEqual(
      await notes(),
    );
    expect((await rig.ask("alert", {}, { alert_id })).body).toMatchObject({ pages: 1, anomalies: 1 });
  });
  it("are no news of what nobody knows of, and of no more than ten updates", async () => {
    const silenced = await Rig.open();
    const matchers = [{ name: "service_id", operator: "=", value: "checkout" }];
    await silenced.ask("createSilence", {}, {}, "default", { matchers, ends_at: "2026-02-01T00:00:00Z" });
    await silenced.take(pod("a"));
    await silenced.take(pod("b"));
    const [{ alert_id: id }] = (await silenced.ask("alerts")).body.alerts;
    const { history } = (await silenced.ask("alert", {}, { alert_id: id })).body;
    expect(history.map(({ change }: { change: string }) => change)).toEqual(["opened"]);
    const { rig, notes } = await opened();
    for (let i = 0; i < 14; i++) await rig.take(pod(`pod-${i}`));
    expect(await notes()).toHaveLength(10);
  });
});
