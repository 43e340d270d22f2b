// What leaves for whom: a channel that fails and its notifier's default, a renewal and the identity that it takes the place of.
import { describe, expect, it } from "vitest";
import type { AttemptOutcome } from "../../../../src/domain/delivery/delivery.ts";
import type { HandedDelivery } from "../../../../src/domain/webhooks/outbound-messages.ts";
import { ReportBook } from "../../../../src/modules/analysis/report-book.ts";
import type { RcaReport } from "../../../../src/modules/analysis/report-row.ts";
import { Rig } from "../../../support/coordinator-rig.ts";
import { reportOf } from "../../../support/webhook-world.ts";

const NONE = { named: [], enabled: false, initial: null };
const DESTINATIONS = {
  chat: { named: [{ tenant: "default", name: "ops" }], enabled: true, initial: "" },
  pager: { named: [], enabled: true, initial: "" },
  email: { ...NONE, allowedDomains: [] },
  oncall: NONE,
};
const OPTIONS = { notification: { routing: { destinations: DESTINATIONS, defaultChannels: null }, publicUrl: null, hints: [] } };
const OWNER = { tenant: "default", subject: "ada", role: "admin" } as const;
const REFUSED: AttemptOutcome = { kind: "failed", error: "answered 404" };

type HandedMessage = Extract<HandedDelivery, { kind: "channel" }>;

function messagesOf(deliveries: readonly HandedDelivery[]): HandedMessage[] {
  return deliveries.filter((one) => one.kind === "channel");
}

interface Told {
  readonly channel: string;
  readonly kind: string;
  readonly metric: string;
}

/** A rig whose notifier sends at once, by name of the destination: `outcomeOf` says how it ends. */
async function open(outcomeOf: (destination: string) => AttemptOutcome, options: object = {}) {
  const rig = await Rig.open({ ...OPTIONS, ...options });
  const { outbox } = rig.coordinator.outbound;
  const told: Told[] = [];
  const handed: HandedMessage[] = [];
  outbox.connect({ send: (command) => command.type === "send" && handed.push(...messagesOf(command.deliveries)) });
  const settle = async () => {
    for (let turn = 0; turn < 5; turn++) {
      for (const { key, serial, destination, message } of handed.splice(0)) {
        const channel = `${destination.notifier}:${destination.target}`;
        told.push({ channel, kind: message.kind, metric: message.metricName });
        const [sentAtMs, endedAtMs] = [rig.nowMs, rig.nowMs];
        outbox.take([
          { of: "channel", kind: "attempted", deliveries: [{ key, serial }], sentAtMs, endedAtMs, outcome: outcomeOf(channel) },
        ]);
      }
      await rig.drain();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const ask = async (endpoint: string, content: object, path = {}) => (await rig.askAs(OWNER, endpoint, { content, path })).body;
  const declare = async (change: object = {}) => {
    const made = await ask("declareAnomaly", { service_id: "cart", severity: "high", explanation: "down", ...change });
    await settle();
    return made;
  };
  return { rig, told, settle, ask, declare };
}

const delivered = (): AttemptOutcome => ({ kind: "delivered" });

describe("a channel that refuses a message", () => {
  it("has its notifier's default told", async () => {
    const { told, ask, declare } = await open((channel) => (channel === "chat:ops" ? REFUSED : { kind: "delivered" }));
    await ask("createRoutingRule", { name: "r", priority: 1, channels: ["chat:ops"] });
    await declare();
    expect(told.map(({ channel, kind }) => `${channel} ${kind}`)).toEqual(["chat:ops opened", "chat: opened"]);
  });

  it("has it told once, where the rule names it too", async () => {
    const { told, ask, declare, settle } = await open((channel) => (channel === "chat:ops" ? REFUSED : { kind: "delivered" }));
    await ask("createRoutingRule", { name: "r", priority: 1, channels: ["chat", "chat:ops"] });
    const { anomaly_id } = await declare();
    expect(told.map(({ channel, kind }) => `${channel} ${kind}`)).toEqual(["chat: opened", "chat:ops opened"]);
    await ask("changeAnomaly", { resolved: true }, { id: anomaly_id });
    await settle();
    expect(told.slice(2).map(({ channel, kind }) => `${channel} ${kind}`)).toEqual(["chat: resolved"]);
  });
});

describe("an alert that is too old to take in more", () => {
  it("is renewed under another identity, and the end of the one before is told all the same", async () => {
    const { rig, told, ask, declare, settle } = await open(delivered, { dedupMaxAgeMinutes: 1 });
    const first = await declare({ metric_name: "a" });
    rig.nowMs += 120_000;
    const second = await declare({ metric_name: "b" });
    expect(second.alert_id).not.toBe(first.alert_id);
    await ask("changeAnomaly", { resolved: true }, { id: first.anomaly_id });
    await settle();
    expect(told.filter(({ channel }) => channel === "pager:").map(({ kind, metric }) => `${kind} ${metric}`)).toEqual([
      "opened a",
      "renewed b",
      "resolved a",
    ]);
  });
});

describe("messages that were joined", () => {
  it("are sent apart where they are refused, and only what is refused alone is given up, to the default too", async () => {
    const rig = await Rig.open(OPTIONS);
    const { outbox } = rig.coordinator.outbound;
    const handed: HandedMessage[] = [];
    outbox.connect({ send: (command) => command.type === "send" && handed.push(...messagesOf(command.deliveries)) });
    await rig.askAs(OWNER, "createRoutingRule", { content: { name: "r", priority: 1, channels: ["chat:ops"] } });
    for (const service_id of ["bad", "good"]) {
      await rig.askAs(OWNER, "declareAnomaly", { content: { service_id, severity: "high", explanation: "down" } });
    }
    const take = async (deliveries: readonly HandedMessage[], outcome: AttemptOutcome) => {
      outbox.take([{ of: "channel", kind: "attempted", deliveries, sentAtMs: rig.nowMs, endedAtMs: rig.nowMs, outcome }]);
      await rig.drain();
      await new Promise((resolve) => setImmediate(resolve));
    };
    const shown = () => handed.map(({ message, destination, joins }) => [message.serviceId, destination.target, joins === null]);
    await take(handed.splice(0), REFUSED);
    expect(shown()).toEqual([
      ["bad", "ops", true],
      ["good", "ops", true],
    ]);
    const [bad, good] = handed.splice(0) as [HandedMessage, HandedMessage];
    await take([bad], REFUSED);
    await take([good], { kind: "delivered" });
    expect(shown()).toEqual([["bad", "", false]]);
    const { alerts } = (await rig.ask("alerts", {})).body;
    const states = alerts.map((alert: { service_id: string; notification: { state: string } }) => [
      alert.service_id,
      alert.notification.state,
    ]);
    expect(Object.fromEntries(states)).toEqual({ bad: "to_be_told", good: "told" });
  });
});

describe("whether people were told", () => {
  it("stands in the alert, its anomaly and the list, and is an event once it is known (A2)", async () => {
    const outcomes: AttemptOutcome[] = [];
    const { rig, ask, declare } = await open(() => outcomes.shift() ?? REFUSED);
    await ask("createRoutingRule", { name: "r", priority: 1, channels: ["pager"] });
    outcomes.push({ kind: "delivered" });
    const told = await declare();
    const lost = await declare({ service_id: "orders", environment: "b" });
    const alerts = (await rig.ask("alerts", {})).body.alerts;
    const stateOf = (id: string) => alerts.find(({ alert_id }: { alert_id: string }) => alert_id === id).notification;
    expect(stateOf(told.alert_id)).toMatchObject({ state: "told", channel: "pager", reason: null });
    expect(stateOf(lost.alert_id)).toEqual({ state: "not_told", channel: "pager", at: null, reason: "answered 404" });
    const { notification } = (await rig.ask("anomaly", {}, { id: told.anomaly_id })).body;
    expect(notification).toEqual(stateOf(told.alert_id));
    const events = rig.messages.flatMap((message) => (message.type === "events" ? message.events : []));
    const last = events.filter(({ event, data }) => event === "alert" && data.includes(lost.alert_id)).at(-1);
    expect(JSON.parse(last?.data ?? "{}").notification.state).toBe("not_told");
  });
});

describe("what is told, in the timeline", () => {
  const causeOf = (serviceId: string, confidence: number) => ({
    ...{ enough: true, category: "infrastructure", confidence, firstSymptom: null, impact: [] },
    candidates: [{ serviceId, instance: null, metricName: "cpu", evidence: [{ text: "cpu rose" }] }],
  });
  /** A firing alert that was told, and revisions of its report. */
  async function caused() {
    const { rig, told, settle, ask, declare } = await open((channel) => (channel === "chat:ops" ? REFUSED : { kind: "delivered" }));
    await ask("createRoutingRule", { name: "r", priority: 1, channels: ["pager", "chat:ops"] });
    const { anomaly_id } = await declare();
    const alert_id = (await rig.ask("alerts")).body.alerts[0].alert_id;
    const revise = async (serviceId: string, confidence = 0.9) => {
      rig.nowMs += 60_000;
      const report = { id: "r", tenant: "default", anomalies: [anomaly_id], analysis: causeOf(serviceId, confidence) };
      rig.coordinator.outbound.channels.reportRevised(report as unknown as RcaReport);
      await settle();
    };
    const lines = async (kind: string) => {
      const { entries } = (await rig.ask("alertTimeline", { limit: "100" }, { alert_id })).body;
      return entries.flatMap((entry: Record<string, string>) => (entry.kind === kind ? `${entry.by}: ${entry.text}` : []));
    };
    return { told, revise, lines };
  }

  it("are who was told and by what, who refused it and why, and the cause", async () => {
    const { lines, revise } = await caused();
    // That of the channel which refused it by the default of chat.
    expect((await lines("told")).sort()).toEqual([
      expect.stringMatching(/^chat:ops: Firing: high, cart/),
      expect.stringMatching(/^pager: Firing: high, cart/),
    ]);
    expect(await lines("not_told")).toEqual([expect.stringMatching(/^chat:ops: Firing: high, cart.*: answered 404$/)]);
    await revise("db");
    expect(await lines("cause")).toEqual(["null: db, infrastructure (confidence 0.90): cpu rose."]);
  });

  it("a later revision with another cause is told again under its key, the same one is not, and one that wavers no more than five times", async () => {
    const { told, revise, lines } = await caused();
    const causes = () => told.filter(({ channel, kind }) => channel === "pager:" && kind === "cause").length;
    await revise("db");
    await revise("db", 0.95);
    expect([causes(), (await lines("cause")).length]).toEqual([1, 2]);
    await revise("cache");
    expect(causes()).toBe(2);
    await revise("cache", 0.99);
    expect(causes()).toBe(2);
    for (let i = 0; i < 10; i++) await revise(i % 2 === 0 ? "db" : "cache");
    expect(causes()).toBe(6);
  });

  it("is the cause that the alert's page names, and not that of another incident in it", async () => {
    const before = await open(() => ({ kind: "delivered" }));
    await before.ask("createRoutingRule", { name: "r", priority: 1, channels: ["pager"] });
    const { anomaly_id } = await before.declare();
    const { control, series, nowMs } = before.rig;
    await control.commit(new ReportBook(control).operations(reportOf(anomaly_id, "infrastructure", true, nowMs, 1)));
    const after = { control: control.contents, series: series.contents, nowMs: nowMs + 60_000, draws: 500 };
    const { rig, told, settle } = await open(() => ({ kind: "delivered" }), after);
    const causes = async (report: Partial<RcaReport>) => {
      rig.coordinator.outbound.channels.reportRevised({ tenant: "default", anomalies: [anomaly_id], ...report } as RcaReport);
      await settle();
      return told.filter(({ kind }) => kind === "cause").length;
    };
    const other = { id: "another incident", analysis: causeOf("db", 0.9) } as unknown as RcaReport;
    expect(await causes(other)).toBe(0);
    expect(await causes(reportOf(anomaly_id, "infrastructure", true, nowMs, 2))).toBe(1);
    const [{ alert_id }] = (await rig.ask("alerts")).body.alerts;
    const { root_cause } = (await rig.ask("alert", {}, { alert_id })).body;
    expect(root_cause).toMatchObject({ anomaly_id, enough: true, category: "infrastructure", summary: expect.stringContaining("shop") });
  });
});
