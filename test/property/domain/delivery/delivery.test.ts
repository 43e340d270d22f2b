// Deliveries of each kind over all ways in which attempts end, against a slow twin that looks at all attempts anew each time.
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  type AttemptOutcome,
  attemptBegun,
  attemptEnded,
  type Delivery,
  NEW_DELIVERY,
  type RetryPolicy,
} from "../../../../src/domain/delivery/delivery.ts";
import { retryByPlan, retryForADay, retryRequest } from "../../../../src/domain/delivery/retry-policies.ts";

const DAY_MS = 86_400_000;
const PLAN = { maxAttempts: 4, initialDelayMs: 500, backoffMultiplier: 3, maxDelayMs: 10_000 };

/** A kind: its policy, and the wait behind the attempts that failed as its page of the docs says it; null for no more. */
interface Kind {
  readonly retry: RetryPolicy;
  waitMs(attempts: number, ageMs: number, random: number, afterMs: number | null): number | null;
}

const KINDS: readonly Kind[] = [
  {
    retry: retryForADay,
    waitMs(attempts, ageMs, random, afterMs) {
      if (ageMs >= DAY_MS) return null;
      let bound = 1_000;
      for (let attempt = 0; attempt < attempts; attempt++) bound = Math.min(300_000, bound * 2);
      const wait = Math.ceil(Math.max(1, random * bound, afterMs ?? 0));
      return Math.min(wait, DAY_MS - ageMs);
    },
  },
  {
    retry: retryByPlan(PLAN),
    waitMs(attempts, _, __, afterMs) {
      if (attempts >= PLAN.maxAttempts) return null;
      let wait = PLAN.initialDelayMs;
      for (let attempt = 1; attempt < attempts; attempt++) wait *= PLAN.backoffMultiplier;
      return Math.min(PLAN.maxDelayMs, Math.max(wait, afterMs ?? 0));
    },
  },
  { retry: retryRequest(true), waitMs: (attempts) => (attempts < 3 ? 0 : null) },
  { retry: retryRequest(false), waitMs: () => null },
];

interface Attempt {
  readonly outcome: AttemptOutcome;
  readonly tookMs: number;
  readonly random: number;
}

const ERROR = fc.constantFrom("no", "answered 503");
const OUTCOME: fc.Arbitrary<AttemptOutcome> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ kind: "delivered" } as const) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("dropped" as const, "failed" as const), error: ERROR }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("retry" as const),
      error: ERROR,
      afterMs: fc.option(fc.integer({ min: 0, max: 2 * DAY_MS })),
      mayHaveArrived: fc.boolean(),
    }),
  },
);
const ATTEMPT: fc.Arbitrary<Attempt> = fc.record({
  outcome: OUTCOME,
  tookMs: fc.integer({ min: 0, max: 20_000 }),
  random: fc.double({ min: 0, max: 1, noNaN: true }),
});
const START_MS = 1_000_000;

/** What all attempts so far come to. */
function twin(kind: Kind, attempts: readonly Attempt[]): Delivery & { readonly nowMs: number } {
  let nowMs = START_MS;
  let dueAtMs = 0;
  for (const [place, { outcome, tookMs, random }] of attempts.entries()) {
    nowMs = Math.max(nowMs, dueAtMs) + tookMs;
    const made = { attempts: place + 1, firstTriedAtMs: START_MS, nowMs };
    if (outcome.kind === "delivered") return { ...made, state: "delivered", nextAttemptAtMs: 0, error: null };
    if (outcome.kind === "dropped") return { ...made, state: "dropped", nextAttemptAtMs: 0, error: outcome.error };
    const waitMs = outcome.kind === "failed" ? null : kind.waitMs(place + 1, nowMs - START_MS, random, outcome.afterMs);
    if (waitMs === null) return { ...made, state: "exhausted", nextAttemptAtMs: 0, error: outcome.error };
    dueAtMs = nowMs + waitMs;
  }
  const last = attempts.at(-1)?.outcome;
  const error = last?.kind === "retry" ? last.error : null;
  return { state: "pending", attempts: attempts.length, firstTriedAtMs: START_MS, nextAttemptAtMs: dueAtMs, error, nowMs };
}

it("a delivery is tried as its kind says until it is taken, refused or given up, and stays as it is then", () => {
  fc.assert(
    fc.property(fc.constantFrom(...KINDS), fc.array(ATTEMPT, { minLength: 1, maxLength: 25 }), (kind, attempts) => {
      let delivery = NEW_DELIVERY;
      let nowMs = START_MS;
      for (const [place, { outcome, tookMs, random }] of attempts.entries()) {
        nowMs = Math.max(nowMs, delivery.nextAttemptAtMs);
        const begun = delivery.state === "pending" ? attemptBegun(delivery, nowMs) : delivery;
        nowMs += tookMs;
        delivery = attemptEnded(begun, { outcome, nowMs, random }, kind.retry);
        const { nowMs: _, ...expected } = twin(kind, attempts.slice(0, place + 1));
        expect({ ...delivery, nextAttemptAtMs: Math.round(delivery.nextAttemptAtMs) }).toEqual({
          ...expected,
          nextAttemptAtMs: Math.round(expected.nextAttemptAtMs),
        });
        if (delivery.state !== "pending") break;
      }
      const again = attemptEnded(delivery, { outcome: { kind: "delivered" }, nowMs, random: 0 }, kind.retry);
      if (delivery.state !== "pending") expect(again).toBe(delivery);
    }),
  );
});
