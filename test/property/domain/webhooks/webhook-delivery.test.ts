// Attempts of an event over all policies and all ways in which attempts end.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WEBHOOK_ATTEMPTS_MAX, WEBHOOK_DELAY_MS_MAX, WEBHOOK_MULTIPLIER_MAX } from "../../../../src/core/config/webhook-limits.ts";
import { afterAttempt, type WebhookOutcome, type WebhookProgress } from "../../../../src/domain/webhooks/webhook-delivery.ts";

const POLICY = fc.record({
  maxAttempts: fc.integer({ min: 1, max: WEBHOOK_ATTEMPTS_MAX }),
  initialDelayMs: fc.integer({ min: 1, max: WEBHOOK_DELAY_MS_MAX }),
  backoffMultiplier: fc.double({ min: 1, max: WEBHOOK_MULTIPLIER_MAX, noNaN: true }),
  maxDelayMs: fc.integer({ min: 1, max: WEBHOOK_DELAY_MS_MAX }),
});
const OUTCOME: fc.Arbitrary<WebhookOutcome> = fc.record({
  kind: fc.constantFrom("succeeded", "failed", "failed", "failed", "failed", "dropped"),
  statusCode: fc.constantFrom(null, 200, 429, 500),
  responseTimeMs: fc.double({ min: 0, max: 10_000, noNaN: true }),
  error: fc.constantFrom(null, "no"),
  retryAfterMs: fc.option(fc.integer({ min: 0, max: 10 * WEBHOOK_DELAY_MS_MAX })),
  gone: fc.constantFrom(false, false, false, false, true),
  final: fc.constantFrom(false, false, false, false, true),
});
const NEW: WebhookProgress = { state: "pending", attempts: [], nextAttemptAtMs: 0 };

describe("an event's attempts", () => {
  it("are as many as the policy allows at most, each after the wait that it says, which Retry-After lengthens up to the longest", () => {
    fc.assert(
      fc.property(POLICY, fc.array(OUTCOME, { minLength: 1, maxLength: 30 }), (policy, outcomes) => {
        let progress = NEW;
        let nowMs = 1_000_000;
        let wait = policy.initialDelayMs;
        for (const outcome of outcomes) {
          if (progress.state !== "pending") break;
          nowMs = Math.max(nowMs, progress.nextAttemptAtMs);
          const before = progress.attempts.length;
          progress = afterAttempt(progress, outcome, policy, nowMs, nowMs + 5);
          expect(progress.attempts).toHaveLength(before + 1);
          const last = progress.attempts.at(-1);
          expect(last?.attempt).toBe(before + 1);
          const isLast = before + 1 >= policy.maxAttempts || outcome.gone || outcome.final;
          if (outcome.kind === "succeeded") expect([progress.state, last?.state]).toEqual(["succeeded", "succeeded"]);
          else if (outcome.kind === "dropped") expect(progress.state).toBe("dropped");
          else if (isLast) expect([progress.state, last?.state, last?.nextAttemptAtMs]).toEqual(["exhausted", "exhausted", null]);
          else {
            const own = Math.min(policy.maxDelayMs, wait);
            const waited = progress.nextAttemptAtMs - (nowMs + 5);
            expect(progress.state).toBe("pending");
            expect(waited).toBeGreaterThanOrEqual(own * (1 - 1e-9));
            expect(waited).toBeLessThanOrEqual(policy.maxDelayMs + 1e-6);
            if (outcome.retryAfterMs === null) expect(waited).toBeCloseTo(own, 3);
            else expect(waited).toBeCloseTo(Math.max(own, Math.min(policy.maxDelayMs, outcome.retryAfterMs)), 3);
          }
          wait *= policy.backoffMultiplier;
        }
        expect(progress.attempts.length).toBeLessThanOrEqual(policy.maxAttempts);
      }),
    );
  });

  it("without a policy of its own are five, at once and after 1, 2, 4 and 8 s", () => {
    const policy = { maxAttempts: 5, initialDelayMs: 1_000, backoffMultiplier: 2, maxDelayMs: 30_000 };
    const failed: WebhookOutcome = { ...NOTHING, kind: "failed" };
    let progress = NEW;
    const waits: Array<number | null> = [];
    for (let attempt = 0; attempt < 5; attempt++) {
      progress = afterAttempt(progress, failed, policy, 100, 100);
      waits.push(progress.attempts.at(-1)?.nextAttemptAtMs ?? null);
    }
    expect(waits).toEqual([1_100, 2_100, 4_100, 8_100, null]);
    expect(progress.state).toBe("exhausted");
  });
});

const NOTHING = { statusCode: 503, responseTimeMs: 0, error: "no", retryAfterMs: null, gone: false, final: false } as const;
