// Notes of an event's attempts over all plans and all ways in which attempts end.
import fc from "fast-check";
import { expect, it } from "vitest";
import { WEBHOOK_ATTEMPTS_MAX, WEBHOOK_DELAY_MS_MAX, WEBHOOK_MULTIPLIER_MAX } from "../../../../src/core/config/webhook-limits.ts";
import { type AttemptOutcome, NEW_DELIVERY } from "../../../../src/domain/delivery/delivery.ts";
import { afterAttempt, type EventDelivery } from "../../../../src/domain/webhooks/webhook-delivery.ts";

const PLAN = fc.record({
  maxAttempts: fc.integer({ min: 1, max: WEBHOOK_ATTEMPTS_MAX }),
  initialDelayMs: fc.integer({ min: 1, max: WEBHOOK_DELAY_MS_MAX }),
  backoffMultiplier: fc.double({ min: 1, max: WEBHOOK_MULTIPLIER_MAX, noNaN: true }),
  maxDelayMs: fc.integer({ min: 1, max: WEBHOOK_DELAY_MS_MAX }),
});
const ANSWER = fc.record({
  statusCode: fc.constantFrom(null, 200, 429, 500),
  responseTimeMs: fc.double({ min: 0, max: 10_000, noNaN: true }),
});
const AFTER: fc.Arbitrary<number | null> = fc.option(fc.integer({ min: 0, max: 10 * WEBHOOK_DELAY_MS_MAX }));
const RETRY: fc.Arbitrary<AttemptOutcome> = fc.record({
  kind: fc.constant("retry" as const),
  error: fc.constant("no"),
  afterMs: AFTER,
  mayHaveArrived: fc.boolean(),
  answer: ANSWER,
});
const OUTCOME: fc.Arbitrary<AttemptOutcome> = fc.oneof(
  { weight: 6, arbitrary: RETRY },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delivered" as const), answer: ANSWER }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("dropped" as const, "failed" as const), error: fc.constant("no") }) },
);
const NEW: EventDelivery = { ...NEW_DELIVERY, notes: [] };

it("each attempt has a note, with its number and when the next is; those that are made are as many as the plan allows at most", () => {
  fc.assert(
    fc.property(PLAN, fc.array(OUTCOME, { minLength: 1, maxLength: 30 }), (plan, outcomes) => {
      let delivery = NEW;
      let nowMs = 1_000_000;
      for (const outcome of outcomes) {
        if (delivery.state !== "pending") break;
        nowMs = Math.max(nowMs, delivery.nextAttemptAtMs);
        delivery = afterAttempt(delivery, { outcome, sentAtMs: nowMs, endedAtMs: nowMs + 5 }, plan);
        const last = delivery.notes.at(-1);
        expect([delivery.attempts, last?.attempt, last?.attemptedAtMs]).toEqual([delivery.notes.length, delivery.notes.length, nowMs]);
        expect(last?.responseTimeMs).toBe(Math.round(outcome.answer?.responseTimeMs ?? 0));
        if (outcome.kind === "delivered") expect([delivery.state, last?.state, last?.error]).toEqual(["delivered", "succeeded", null]);
        else if (outcome.kind === "dropped") expect([delivery.state, last?.state]).toEqual(["dropped", "succeeded"]);
        else if (delivery.state === "exhausted") expect([last?.state, last?.nextAttemptAtMs]).toEqual(["exhausted", null]);
        else expect([last?.state, last?.nextAttemptAtMs]).toEqual(["failed", delivery.nextAttemptAtMs]);
      }
      expect(delivery.notes.length).toBeLessThanOrEqual(plan.maxAttempts);
    }),
  );
});
