// One event on its way to one webhook: attempts, and when the next one is. An event's attempts are numbered from 1; what a receiver has not taken by the last of
// them is exhausted.
import type { RetryPolicy } from "./webhook.ts";

/**
 * `gathering`: it waits for root-cause analysis; `pending`: it is sent, or is to be; `dropped`: its transform gave nothing, or its cause never matched.
 */
export type WebhookDeliveryState = "gathering" | "pending" | "succeeded" | "exhausted" | "dropped";

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

/** Outcome of an attempt. `gone`: the receiver wants no more (410). `final`: another attempt would end alike. */
export interface WebhookOutcome {
  readonly kind: "succeeded" | "failed" | "dropped";
  readonly statusCode: number | null;
  readonly responseTimeMs: number;
  readonly error: string | null;
  readonly retryAfterMs: number | null;
  readonly gone: boolean;
  readonly final: boolean;
  /** It is the webhook's own fault: its program throws, or it cannot be sent. */
  readonly fault?: boolean;
}

export interface WebhookProgress {
  readonly state: WebhookDeliveryState;
  readonly attempts: readonly AttemptNote[];
  readonly nextAttemptAtMs: number;
}

/** Milliseconds between attempt `attempts` and the next. `retryAfterMs` lengthens the wait, up to the longest of the policy. */
function retryDelayMs(policy: RetryPolicy, attempts: number, retryAfterMs: number | null): number {
  const own = Math.min(policy.maxDelayMs, policy.initialDelayMs * policy.backoffMultiplier ** (attempts - 1));
  return Math.max(own, Math.min(policy.maxDelayMs, retryAfterMs ?? 0));
}

/** The delivery once an attempt has ended, which began at `attemptedAtMs`. */
export function afterAttempt(
  { attempts }: WebhookProgress,
  outcome: WebhookOutcome,
  policy: RetryPolicy,
  attemptedAtMs: number,
  nowMs: number,
): WebhookProgress {
  const attempt = attempts.length + 1;
  const { kind, statusCode, error } = outcome;
  const note = { attempt, statusCode, error, responseTimeMs: Math.round(outcome.responseTimeMs), attemptedAtMs };
  if (kind !== "failed") {
    const state = kind === "dropped" ? "dropped" : "succeeded";
    return { state, attempts: [...attempts, { ...note, state: "succeeded", nextAttemptAtMs: null }], nextAttemptAtMs: 0 };
  }
  if (attempt >= policy.maxAttempts || outcome.gone || outcome.final) {
    return { state: "exhausted", attempts: [...attempts, { ...note, state: "exhausted", nextAttemptAtMs: null }], nextAttemptAtMs: 0 };
  }
  const nextAttemptAtMs = nowMs + retryDelayMs(policy, attempt, outcome.retryAfterMs);
  return { state: "pending", attempts: [...attempts, { ...note, state: "failed", nextAttemptAtMs }], nextAttemptAtMs };
}
