// When each kind of delivery is tried again: messages for a day, events of webhooks as often as their webhook says, requests of runbooks a few times at once and
// only where a repeat does no harm.
import { RETRY_AGE_MS_MAX, RETRY_FIRST_MS, RETRY_WAIT_MS_MAX } from "../../core/config/notification-limits.ts";
import { RUNBOOK_ATTEMPTS_MAX } from "../../core/config/runbook-limits.ts";
import type { RetryPolicy } from "./delivery.ts";

/** How often an event of a webhook is tried, and how long it waits in between. */
export interface RetryPlan {
  readonly maxAttempts: number;
  readonly initialDelayMs: number;
  readonly backoffMultiplier: number;
  readonly maxDelayMs: number;
}

/**
 * Of messages: full jitter below a bound that doubles, as Amazon's "Exponential Backoff and Jitter" (2015) has it, so that those who wait for one receiver do not come
 * back together; given up once the message is a day old. What the receiver asked for lengthens the wait, and never beyond the message's last moment.
 */
export const retryForADay: RetryPolicy = ({ attempts, firstTriedAtMs, nowMs, random, afterMs }) => {
  const lastMs = (firstTriedAtMs ?? nowMs) + RETRY_AGE_MS_MAX;
  if (nowMs >= lastMs) return null;
  const bound = Math.min(RETRY_WAIT_MS_MAX, RETRY_FIRST_MS * 2 ** Math.min(attempts, 30));
  const wait = Math.max(random * bound, afterMs ?? 0, 1);
  return Math.min(nowMs + Math.ceil(wait), lastMs);
};

/** Of events: so many attempts. What the receiver asked for lengthens the wait, up to the longest of the plan. */
export function retryByPlan({ maxAttempts, initialDelayMs, backoffMultiplier, maxDelayMs }: RetryPlan): RetryPolicy {
  return ({ attempts, nowMs, afterMs }) => {
    if (attempts >= maxAttempts) return null;
    const own = Math.min(maxDelayMs, initialDelayMs * backoffMultiplier ** (attempts - 1));
    return nowMs + Math.max(own, Math.min(maxDelayMs, afterMs ?? 0));
  };
}

/** Of requests of runbooks: at once, a few times, where a repeat does no harm. */
export function retryRequest(isIdempotent: boolean): RetryPolicy {
  return ({ attempts, nowMs }) => (isIdempotent && attempts < RUNBOOK_ATTEMPTS_MAX ? nowMs : null);
}
