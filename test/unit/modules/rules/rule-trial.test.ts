import { describe, expect, it } from "vitest";
import { RULE_TRIAL_ALERTS_SHOWN_MAX } from "../../../../src/core/config/rule-limits.ts";
import type { TriedAlert, TriedGroup, TryRules } from "../../../../src/core/protocol/rule-work.ts";
import { answerSchema } from "../../../support/answer-schema.ts";
import { Rig } from "../../../support/coordinator-rig.ts";
import { withRuleWork } from "../../../support/rules-rig.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const GROUP = "groups: [{name: shop, rules: [{alert: Down, expr: up == 0, for: 10m}]}]";

async function trial(rig: Rig, tried: (work: TryRules) => TriedGroup, hours = 6, group = GROUP) {
  const untilMs = rig.nowMs;
  const body = { group, since: new Date(untilMs - hours * HOUR_MS).toISOString(), until: new Date(untilMs).toISOString() };
  return withRuleWork(rig, rig.ask("tryRuleGroup", {}, {}, "default", JSON.stringify(body)), tried);
}

const alert = (labels: Record<string, string>, firedMs: number, endedMs: number | null): TriedAlert => {
  const annotations = { summary: `${labels.job} is down` };
  return { rule: 0, labels: { alertname: "Down", ...labels }, annotations, activeMs: firedMs - 10 * MINUTE_MS, firedMs, endedMs };
};
const found = (...alerts: TriedAlert[]): TriedGroup => ({ problem: null, rules: [{ failures: 0, lastError: null }], alerts });

describe("a trial of a group", () => {
  it("tells when alerts would have fired, which of them would have paged and where, and stores nothing", async () => {
    const rig = await Rig.open();
    const startsAt = new Date(rig.nowMs - 5 * HOUR_MS).toISOString();
    const matchers = [{ name: "job", operator: "=", value: "quiet" }];
    const silence = { matchers, starts_at: startsAt, ends_at: new Date(rig.nowMs + HOUR_MS).toISOString(), comment: "" };
    expect((await rig.ask("createSilence", {}, {}, "default", JSON.stringify(silence))).status).toBe(201);
    let work: TryRules | undefined;
    const { status, body } = await trial(rig, (asked) => {
      work = asked;
      const at = (minutes: number) => rig.nowMs - 4 * HOUR_MS + minutes * MINUTE_MS;
      return found(
        alert({ job: "shop", severity: "critical" }, at(0), at(20)),
        alert({ job: "quiet", severity: "critical" }, at(1), null),
        alert({ job: "low", severity: "info" }, at(2), at(3)),
      );
    });
    answerSchema("tryRuleGroup", 200).parse(body);
    expect([status, body.fired, body.pages, body.rules[0].fired]).toEqual([200, 3, 1, 3]);
    expect(body.alerts.map(({ labels, outcome }: { labels: { job: string }; outcome: string }) => [labels.job, outcome])).toEqual([
      ["shop", "paged"],
      ["quiet", "silenced"],
      ["low", "logged"],
    ]);
    expect(work).toMatchObject({ stepMs: MINUTE_MS, steps: 370 });
    await rig.coordinator.step();
    expect((await rig.ask("alerts")).body.total).toBe(0);
    expect((await rig.ask("ruleGroups")).body.total).toBe(0);
  });

  it("is refused where it would take too much, and says how far it came where it did", async () => {
    const rig = await Rig.open();
    const asked = await trial(rig, () => found(), 24 * 30);
    expect(asked).toMatchObject({ status: 422, body: { message: expect.stringContaining("a trial does it 11000 times") } });
    const slow = await trial(rig, () => ({ ...found(), problem: "the trial took 60 s; 12 % of the evaluations were done" }));
    expect(slow).toMatchObject({ status: 422, body: { message: expect.stringContaining("12 %") } });
    const daily = GROUP.replace("shop,", "shop, interval: 1d,");
    expect(await trial(rig, () => found(), 24 * 365, daily)).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining("cycles of the Watchdog") },
    });
    expect(await trial(rig, () => found(), 1, "groups: [{name: a, rules: [{alert: A, exp: b}]}]")).toMatchObject({ status: 400 });
  });

  it("says of an alert that somebody else has open since before that it would have been the same", async () => {
    const rig = await Rig.open();
    const labels = { alertname: "Down", job: "shop", severity: "critical" };
    const startsAt = new Date(rig.nowMs - 2 * HOUR_MS).toISOString();
    const sent = { version: "4", alerts: [{ status: "firing", labels, annotations: {}, startsAt }] };
    expect((await rig.ask("alertWebhook", {}, {}, "default", JSON.stringify(sent))).status).toBe(200);
    await rig.drain();
    const { body } = await trial(rig, () =>
      found(alert(labels, rig.nowMs - HOUR_MS, null), alert(labels, rig.nowMs - 3 * HOUR_MS, rig.nowMs - 2.5 * HOUR_MS)),
    );
    expect(body.alerts.map(({ outcome }: { outcome: string }) => outcome)).toEqual(["open_already", "paged"]);
    expect([body.fired, body.pages, body.outcomes]).toEqual([2, 1, { open_already: 1, paged: 1 }]);
  });

  it("shows the first of many alerts and counts all", async () => {
    const rig = await Rig.open();
    const many = Array.from({ length: RULE_TRIAL_ALERTS_SHOWN_MAX + 1 }, (_, at) =>
      alert({ job: `job-${at}`, severity: "critical" }, rig.nowMs - HOUR_MS + at, null),
    );
    const { body } = await trial(rig, () => found(...many));
    expect([body.fired, body.alerts.length]).toEqual([RULE_TRIAL_ALERTS_SHOWN_MAX + 1, RULE_TRIAL_ALERTS_SHOWN_MAX]);
  });
});
