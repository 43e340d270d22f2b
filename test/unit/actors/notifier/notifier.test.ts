// The notifier over senders that answer when a test says so.
import { describe, expect, it, vi } from "vitest";
import { Notifier } from "../../../../src/actors/notifier/notifier.ts";
import { ATTEMPT_MS_MAX } from "../../../../src/core/config/notification-limits.ts";
import type { AttemptOutcome } from "../../../../src/domain/delivery/delivery.ts";
import type { AlertMessage } from "../../../../src/domain/notification/alert-message.ts";
import { joinsOf, rankOf } from "../../../../src/domain/notification/message-joins.ts";
import type { DeliveryReport, HandedDelivery } from "../../../../src/domain/webhooks/outbound-messages.ts";
import { ALERT_MESSAGE as MESSAGE } from "../../../support/alert-message.ts";
import { NO_EVENTS } from "../../../support/notifier-senders.ts";

type Sent = { readonly alerts: string[]; readonly name: string | null; readonly end: (outcome: AttemptOutcome) => void };

function open(notifierName: "chat" | "email") {
  const sent: Sent[] = [];
  const reports: DeliveryReport[] = [];
  const sender = {
    send: (_: unknown, messages: readonly AlertMessage[], name: string | null) =>
      new Promise<AttemptOutcome>((end) => sent.push({ alerts: messages.map(({ alertId }) => alertId), name, end })),
  };
  const destination = { notifier: notifierName, tenant: "default", target: "ops" } as const;
  const notifier = new Notifier(
    { chat: 1_000, pager: 1_000, email: 1_000, oncall: 1_000 },
    {
      channels: { chat: sender, email: sender, pager: undefined, oncall: undefined },
      ...NO_EVENTS,
      nowMs: () => 1_000,
      report: (some) => reports.push(...some),
      wake: () => void notifier.step(),
    },
  );
  let serial = 0;
  const handed = (alertId: string, more: { readonly joined?: string } = {}): HandedDelivery => {
    const message = { ...MESSAGE, alertId };
    const place = { tenant: "default", dueAtMs: 0, rank: rankOf(message), joins: joinsOf(message), joined: null };
    return { ...place, key: alertId, serial: ++serial, kind: "channel", destination, message, ...more };
  };
  const give = (...deliveries: HandedDelivery[]) => {
    notifier.take({ type: "send", deliveries });
    notifier.step();
  };
  return { notifier, sent, reports, handed, give, destination };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("messages that wait for one address", () => {
  it("leave in one mail once it is stored, under its name", () => {
    const { notifier, sent, reports, handed, give, destination } = open("email");
    give(handed("a"), handed("b"));
    expect(sent).toEqual([]);
    expect(reports).toMatchObject([{ kind: "joining", id: 1, deliveries: [{ key: "a" }, { key: "b" }] }]);
    give(handed("c"));
    expect(sent).toEqual([]);
    notifier.take({ type: "join", id: 1, destination, name: "stored" });
    expect(sent).toMatchObject([{ alerts: ["a", "b"], name: "stored" }]);
  });

  it("leave each by itself where it could not be stored", async () => {
    const { notifier, sent, handed, give, destination } = open("email");
    give(handed("a"), handed("b"));
    notifier.take({ type: "join", id: 1, destination, name: null });
    expect(sent).toMatchObject([{ alerts: ["a"], name: null }]);
    sent[0]?.end({ kind: "delivered" });
    await settled();
    expect(sent[1]).toMatchObject({ alerts: ["b"], name: null });
  });

  it("are repeated as they were stored, and reported as one attempt", async () => {
    const { sent, reports, handed, give } = open("email");
    give(handed("a", { joined: "stored" }), handed("b", { joined: "stored" }));
    expect(sent).toMatchObject([{ alerts: ["a", "b"], name: "stored" }]);
    sent[0]?.end({ kind: "delivered" });
    await settled();
    expect(reports).toMatchObject([{ kind: "attempted", deliveries: [{ key: "a" }, { key: "b" }], outcome: { kind: "delivered" } }]);
  });

  it("leave in one chat message at once, which has no identity", () => {
    const { sent, handed, give } = open("chat");
    give(handed("a"), handed("b"));
    expect(sent).toMatchObject([{ alerts: ["a", "b"], name: null }]);
  });
});

describe("an attempt that does not end", () => {
  it("is reported as one of which nobody knows, once, and its queue goes on", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { notifier, sent, reports, handed, give } = open("email");
    give(handed("a"));
    give(handed("b"));
    vi.advanceTimersByTime(ATTEMPT_MS_MAX - 1);
    await settled();
    expect([sent.length, reports.length, notifier.underWay]).toEqual([1, 0, 1]);
    vi.advanceTimersByTime(1);
    await settled();
    expect(reports).toMatchObject([
      { deliveries: [{ key: "a" }], outcome: { kind: "retry", mayHaveArrived: true, error: "no end in 60 s" } },
    ]);
    expect(sent).toMatchObject([{ alerts: ["a"] }, { alerts: ["b"] }]);
    sent[0]?.end({ kind: "delivered" });
    sent[1]?.end({ kind: "delivered" });
    await settled();
    expect(reports.map(({ kind }) => kind)).toEqual(["attempted", "attempted"]);
    expect(notifier.underWay).toBe(0);
    vi.useRealTimers();
  });
});
