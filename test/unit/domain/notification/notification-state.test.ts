import { describe, expect, it } from "vitest";
import { type ChannelDelivery, withAttempt, withMessage, withOutcome } from "../../../../src/domain/notification/channel-delivery.ts";
import { ChannelHealth } from "../../../../src/domain/notification/channel-health.ts";
import { asPartOf, type NotifiedAlert, notificationOf, withoutAlert } from "../../../../src/domain/notification/notification-state.ts";
import { ALERT_MESSAGE as MESSAGE } from "../../../support/alert-message.ts";

const ALERT: NotifiedAlert = { pages: 1, heldBy: null, mergedInto: null, snooze: null, state: { resolvedAtMs: null } };

const opened = withMessage(undefined, MESSAGE, "chat") as ChannelDelivery;
const end = (delivery: ChannelDelivery, kind: "delivered" | "failed" | "retry", nowMs = 2_000) => {
  const outcome = kind === "delivered" ? { kind } : kind === "failed" ? { kind, error: "answered 404" } : RETRY;
  return withOutcome(withAttempt(delivery, nowMs), { outcome, messages: 1, nowMs, random: 0.5 }, "chat");
};
const RETRY = { kind: "retry", error: "connection refused", afterMs: null, mayHaveArrived: false } as const;
const of = (delivery: ChannelDelivery, alert = ALERT) => notificationOf(alert, [{ channel: "chat:ops", delivery }], true);

describe("an alert (A2)", () => {
  it("whose page a receiver took is told, by which and when it took it first", () => {
    expect(of(end(opened, "delivered"))).toEqual({ state: "told", channel: "chat:ops", atMs: 2_000, reason: null });
    const later = end(withMessage(end(opened, "delivered"), { ...MESSAGE, kind: "resolved" }, "chat") as ChannelDelivery, "failed", 9_000);
    expect(of(later)).toMatchObject({ state: "told", atMs: 2_000 });
    const other = { channel: "pager", delivery: end(opened, "delivered", 1_500) };
    expect(notificationOf(ALERT, [{ channel: "chat", delivery: end(opened, "delivered") }, other], true)).toMatchObject({
      channel: "pager",
    });
  });

  it("whose page is on its way, or is tried again, is to be told", () => {
    expect(of(opened)).toMatchObject({ state: "to_be_told", channel: "chat:ops", reason: "it is on its way" });
    expect(of(end(opened, "retry"))).toMatchObject({ state: "to_be_told", reason: "tried again: connection refused" });
  });

  it("that fires again after its end is to be told again", () => {
    const ended = end(withMessage(end(opened, "delivered"), { ...MESSAGE, kind: "resolved" }, "chat") as ChannelDelivery, "delivered");
    const again = withMessage(ended, { ...MESSAGE, kind: "reopened", atMs: 5 }, "chat") as ChannelDelivery;
    expect(of(again)).toMatchObject({ state: "to_be_told" });
    expect(of(end(again, "failed"))).toMatchObject({ state: "not_told", reason: "answered 404" });
    expect(of(end(again, "delivered", 7_000))).toMatchObject({ state: "told", atMs: 7_000 });
  });

  it("that was refused is not told, and says why", () => {
    expect(of(end(opened, "failed"))).toEqual({ state: "not_told", channel: "chat:ops", atMs: null, reason: "answered 404" });
  });

  it("that has closed into another is told as a part of it, unless people heard of it before", () => {
    const cascade = of(end(opened, "delivered"));
    const suppressed = notificationOf({ ...ALERT, pages: 0, heldBy: "group_wait", mergedInto: "b2" }, [], true);
    expect(asPartOf(suppressed, "b2", cascade)).toEqual({ ...cascade, reason: "as a part of alert b2" });
    expect(asPartOf(suppressed, "b2", of(end(opened, "failed")))).toMatchObject({
      state: "not_told",
      reason: "as a part of alert b2: answered 404",
    });
    expect(asPartOf(cascade, "b2", suppressed)).toEqual(cascade);
  });

  it("without a delivery says what it waits for, or why nobody was told", () => {
    const bare = (change: Partial<NotifiedAlert>, isAnyConfigured = true) => notificationOf({ ...ALERT, ...change }, [], isAnyConfigured);
    const resolved = { resolvedAtMs: 5 };
    expect(bare({}, false)).toMatchObject({ state: "not_told", reason: "no channel is configured" });
    expect(bare({}).reason).toMatch(/^no channel of its routing rule led anywhere when people were to be told$/);
    expect(bare({ pages: 0, heldBy: "silenced" })).toMatchObject({
      state: "to_be_told",
      reason: expect.stringMatching(/until the silence ends/),
    });
    expect(bare({ pages: 0, heldBy: "silenced", state: resolved })).toMatchObject({
      state: "not_told",
      reason: expect.stringMatching(/until it ended/),
    });
    expect(bare({ pages: 0 }).reason).toBe("it paged nobody");
    expect(withoutAlert("tier", false).reason).toMatch(/mild/);
    expect(bare({ mergedInto: "b2" }).reason).toMatch(/part of alert b2/);
    expect(withoutAlert("silenced", false).state).toBe("to_be_told");
    expect(withoutAlert(null, false).state).toBe("not_told");
  });
});

describe("a channel", () => {
  const TO = { notifier: "chat", tenant: "default", target: "ops" } as const;

  it("fails once it has taken nothing for five minutes, and no longer once it takes something", () => {
    const health = new ChannelHealth();
    health.note("default", TO, 0, null);
    health.note("default", TO, 1_000, "refused");
    expect(health.failing("default", 300_999)).toEqual([]);
    health.note("default", TO, 300_000, "refused");
    expect(health.failing("default", 301_000)).toMatchObject([{ channel: "chat:ops", lastSuccessMs: 0, failingSinceMs: 1_000 }]);
    expect(health.failing("other", 301_000)).toEqual([]);
    health.note("default", TO, 302_000, null);
    expect(health.failing("default", 900_000)).toEqual([]);
  });
});
