import { describe, expect, it } from "vitest";
import { retryByPlan, retryForADay, retryRequest } from "../../../../src/domain/delivery/retry-policies.ts";

const of = (attempts: number, nowMs: number, random: number, afterMs: number | null, firstTriedAtMs: number | null = 0) => ({
  ...{ attempts, firstTriedAtMs, nowMs, random, afterMs },
});

describe("waits between attempts", () => {
  it("of messages grow from a second to five minutes with full jitter, and end after a day", () => {
    expect(retryForADay(of(0, 0, 1, null))).toBe(1_000);
    expect(retryForADay(of(3, 0, 0.5, null))).toBe(4_000);
    expect(retryForADay(of(20, 0, 1, null))).toBe(300_000);
    expect(retryForADay(of(1, 0, 0, 60_000))).toBe(60_000);
    expect(retryForADay(of(400, 86_399_000, 1, null))).toBe(86_400_000);
    expect(retryForADay(of(400, 86_400_000, 1, null))).toBeNull();
  });

  it("of events are those of their webhook, which Retry-After lengthens up to the longest", () => {
    const retry = retryByPlan({ maxAttempts: 5, initialDelayMs: 1_000, backoffMultiplier: 2, maxDelayMs: 30_000 });
    const waits = [1, 2, 3, 4, 5].map((attempts) => retry(of(attempts, 100, 0, null)));
    expect(waits).toEqual([1_100, 2_100, 4_100, 8_100, null]);
    expect(retry(of(1, 0, 0, 3_600_000))).toBe(30_000);
  });

  it("of requests of runbooks are none, three attempts at most and only of what may be repeated", () => {
    expect([1, 2, 3].map((attempts) => retryRequest(true)(of(attempts, 100, 0, null)))).toEqual([100, 100, null]);
    expect(retryRequest(false)(of(1, 100, 0, null))).toBeNull();
  });
});
