// One event on its way to one webhook. It is held while it waits for root-cause analysis, and dropped where its transform gave nothing or its cause never matched.
// Its attempts are numbered from 1, each with a note; what a receiver has not taken by the last of them is exhausted.
import { type AttemptOutcome, attemptBegun, attemptEnded, type Delivery } from "../delivery/delivery.ts";
import { type RetryPlan, retryByPlan } from "../delivery/retry-policies.ts";

/** An attempt that has ended. */
export interface AttemptNote {
  readonly attempt: number;
  readonly state: "succeeded" | "failed" | "exhausted";
  readonly statusCode: number | null;
  readonly responseTimeMs: number;
  readonly error: string | null;
  readonly attemptedAtMs: number;
  readonly nextAttemptAtMs: number | null;
}

export interface EventDelivery extends Delivery {
  readonly notes: readonly AttemptNote[];
}

export interface EventAttempt {
  readonly sentAtMs: number;
  readonly endedAtMs: number;
  readonly outcome: AttemptOutcome;
}

/** The delivery once an attempt has ended. */
export function afterAttempt<D extends EventDelivery>(delivery: D, { sentAtMs, endedAtMs, outcome }: EventAttempt, plan: RetryPlan): D {
  const end = { outcome, nowMs: endedAtMs, random: 0 };
  const ended = attemptEnded(attemptBegun(delivery, sentAtMs), end, retryByPlan(plan));
  const isOpen = ended.state === "pending";
  const note: AttemptNote = {
    attempt: ended.attempts,
    state: isOpen ? "failed" : ended.state === "exhausted" ? "exhausted" : "succeeded",
    statusCode: outcome.answer?.statusCode ?? null,
    responseTimeMs: Math.round(outcome.answer?.responseTimeMs ?? 0),
    error: ended.error,
    attemptedAtMs: sentAtMs,
    nextAttemptAtMs: isOpen ? ended.nextAttemptAtMs : null,
  };
  return { ...ended, notes: [...delivery.notes, note] };
}
