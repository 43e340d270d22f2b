import { describe, expect, it } from "vitest";
import type { EvaluateRules, RuleAlertChange, RuleWorkWanted } from "../../../../src/core/protocol/rule-work.ts";
import { packEvaluation } from "../../../../src/core/protocol/rule-work.ts";
import { Rig } from "../../../support/coordinator-rig.ts";
import { settled, withRuleWork } from "../../../support/rules-rig.ts";

const LABELS = { alertname: "Down", job: "shop", severity: "critical" };
const FILE = "groups: [{name: shop, interval: 10s, rules: [{alert: Down, expr: up == 0}]}]";

/** Lets ten seconds go by and answers the evaluation that they bring with these changes. */
async function evaluation(rig: Rig, ...changes: RuleAlertChange[]): Promise<Omit<EvaluateRules, "kind">> {
  for (let second = 0; second < 12; second++) {
    rig.nowMs += 1_000;
    rig.monotonicMs += 1_000;
    await rig.drain();
    await settled();
    const at = rig.messages.findIndex(({ type }) => type === "rule-work");
    if (at < 0) continue;
    const [{ id, work }] = rig.messages.splice(at, 1) as unknown as [RuleWorkWanted];
    const group = { seconds: 0, rules: [{ lastError: null, seconds: 0, pending: 0, firing: 0 }], changes, samples: 0 };
    const body = packEvaluation({ group, state: Buffer.from("[]"), request: new Uint8Array(0) });
    await rig.coordinator.handle({ type: "rule-work-done", id, status: 200, body });
    await settled();
    await rig.drain();
    return work as EvaluateRules;
  }
  throw new Error("no evaluation has come");
}

async function withGroup(rig: Rig): Promise<Rig> {
  const asked = withRuleWork(rig, rig.ask("setRuleGroup", {}, { name: "shop" }, "default", FILE, "application/yaml"));
  expect((await asked).status).toBe(201);
  return rig;
}

const firing = (rig: Rig): RuleAlertChange => ({
  status: "firing",
  labels: LABELS,
  annotations: { summary: "is down" },
  firedMs: rig.nowMs,
  endedMs: null,
});
const alerts = async (rig: Rig) => (await rig.ask("alerts")).body.alerts as Array<{ alert_id: string; state: string; pages: number }>;

describe("an alert of a rule", () => {
  it("is an alert as an Alertmanager's, and so is its end", async () => {
    const rig = await withGroup(await Rig.open());
    await evaluation(rig, firing(rig));
    expect(await alerts(rig)).toMatchObject([{ state: "firing" }]);
    const [{ explanation, service_id }] = (await rig.ask("anomalies")).body.anomalies;
    expect([explanation, service_id]).toEqual(["is down", "shop"]);
    await evaluation(rig, { ...firing(rig), status: "resolved", endedMs: rig.nowMs });
    expect(await alerts(rig)).toMatchObject([{ state: "resolved" }]);
  });

  it("is the same alert where a Prometheus sends it too, whoever comes first", async () => {
    const rig = await withGroup(await Rig.open());
    const body = {
      alerts: [
        { status: "firing", labels: { ...LABELS, replica: "a" }, annotations: {}, startsAt: new Date(rig.nowMs - 60_000).toISOString() },
      ],
    };
    expect((await rig.ask("alertWebhook", {}, {}, "default", body)).status).toBe(200);
    await evaluation(rig, firing(rig));
    await rig.ask("alertWebhook", {}, {}, "default", body);
    expect((await rig.ask("anomalies")).body.total).toBe(1);
    expect(await alerts(rig)).toHaveLength(1);
  });

  it("is sent once, again where another has ended it, and stays one after a restart", async () => {
    const rig = await withGroup(await Rig.open());
    await evaluation(rig, firing(rig));
    const [before] = await alerts(rig);
    const commits = rig.control.contents;
    await evaluation(rig, firing(rig));
    expect((await rig.ask("anomalies")).body.total).toBe(1);
    expect(commits).toBeDefined();
    const restarted = await rig.restarted();
    await evaluation(restarted, firing(restarted));
    expect(await alerts(restarted)).toEqual([before]);
    const body = { alerts: [{ status: "resolved", labels: LABELS, annotations: {} }] };
    await restarted.ask("alertWebhook", {}, {}, "default", body);
    expect((await alerts(restarted))[0]?.state).toBe("resolved");
    await evaluation(restarted, firing(restarted));
    expect((await alerts(restarted)).some(({ state }) => state === "firing")).toBe(true);
  });

  it("ends where no rule has it any more behind a restart, after as long as an Alertmanager waits", async () => {
    const rig = await withGroup(await Rig.open());
    await evaluation(rig, firing(rig));
    const restarted = await rig.restarted();
    for (let i = 0; i < 20; i++) await evaluation(restarted);
    expect((await alerts(restarted))[0]?.state).toBe("firing");
    for (let i = 0; i < 8; i++) await evaluation(restarted);
    expect((await alerts(restarted))[0]?.state).toBe("resolved");
  });
});
