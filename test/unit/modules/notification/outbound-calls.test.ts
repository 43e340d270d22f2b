// Requests that somebody waits for: tests of one tenant that nobody answers leave others their places.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  OUTBOUND_CALL_MS_MAX,
  OUTBOUND_CALLS_MAX,
  OUTBOUND_CALLS_SHARE,
  OUTBOUND_WAIT_MS_MAX,
} from "../../../../src/core/config/notification-limits.ts";
import { ShareLedger } from "../../../../src/core/fairness/share-ledger.ts";
import type { OutboundCommand, WebhookTarget } from "../../../../src/domain/webhooks/outbound-messages.ts";
import { OutboundCalls } from "../../../../src/modules/notification/outbound-calls.ts";

const TARGET = { id: "w" } as WebhookTarget;

function calling() {
  const sent: OutboundCommand[] = [];
  const ledger = new ShareLedger({ most: OUTBOUND_CALLS_MAX, share: OUTBOUND_CALLS_SHARE, tenants: () => 3 });
  const calls = new OutboundCalls(() => undefined, ledger);
  calls.connect({ send: (command) => void sent.push(command) });
  const answerLast = () => {
    const { id } = sent.at(-1) as { id: number };
    const outcome = { kind: "delivered" } as const;
    calls.take({ type: "tried", id, sentAtMs: 0, outcome });
  };
  return { calls, sent, ledger, answerLast };
}

const test = (calls: OutboundCalls, tenant: string) => calls.tryWebhook(tenant, TARGET, "event", "{}");

describe("requests that somebody waits for", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("leave another tenant its share where one's receivers are silent", async () => {
    const { calls, sent, ledger, answerLast } = calling();
    const flood = Array.from({ length: 110 }, () => test(calls, "evil"));
    await vi.advanceTimersByTimeAsync(0);
    expect(ledger.used("evil")).toBe(OUTBOUND_CALLS_MAX - 2 * OUTBOUND_CALLS_SHARE);
    const before = sent.length;
    const own = test(calls, "acme");
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toHaveLength(before + 1);
    answerLast();
    expect(await own).toMatchObject({ type: "tried" });
    expect(calls.places.take("acme")).toBe(true);
    calls.places.give("acme");
    await vi.advanceTimersByTimeAsync(OUTBOUND_CALL_MS_MAX);
    const outcomes = await Promise.all(flood);
    expect(outcomes.filter((outcome) => outcome === "full").length).toBe(30);
    expect(ledger.taken).toBe(0);
  });

  it("wait for a place for a while, in turns, and are refused after it", async () => {
    const { calls, ledger, answerLast } = calling();
    while (calls.places.take("evil")) ledger.used("evil");
    const late = test(calls, "evil");
    await vi.advanceTimersByTimeAsync(OUTBOUND_WAIT_MS_MAX);
    expect(await late).toBe("full");
    expect(ledger.refused("evil")).toBe(1);
    const next = test(calls, "evil");
    await vi.advanceTimersByTimeAsync(OUTBOUND_WAIT_MS_MAX / 2);
    calls.places.give("evil");
    await vi.advanceTimersByTimeAsync(0);
    answerLast();
    expect(await next).toMatchObject({ type: "tried" });
  });

  it("give their places back where the notifier ends", async () => {
    const { calls, ledger } = calling();
    const waiting = test(calls, "acme");
    await vi.advanceTimersByTimeAsync(0);
    expect(ledger.taken).toBe(1);
    calls.disconnect();
    expect(await waiting).toBeUndefined();
    expect(ledger.taken).toBe(0);
  });
});
