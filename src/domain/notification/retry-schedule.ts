// When a message that did not arrive is tried again: full jitter below a bound that doubles, as Amazon's "Exponential Backoff and Jitter" (2015) has it, so that
// those who wait for one receiver do not come back together.
import { RETRY_AGE_MS_MAX, RETRY_FIRST_MS, RETRY_WAIT_MS_MAX } from "../../core/config/notification-limits.ts";

/**
 * Time of the attempt behind `attempts` of them; null once the message is a day old. `random` is 0..1; `afterMs` is what the receiver asked for
 * (`Retry-After`), which lengthens the wait and never beyond the message's last moment.
 */
export function nextRetry(attempts: number, firstTriedAtMs: number, nowMs: number, random: number, afterMs: number | null): number | null {
  const lastMs = firstTriedAtMs + RETRY_AGE_MS_MAX;
  if (nowMs >= lastMs) return null;
  const bound = Math.min(RETRY_WAIT_MS_MAX, RETRY_FIRST_MS * 2 ** Math.min(attempts, 30));
  const wait = Math.max(random * bound, afterMs ?? 0, 1);
  return Math.min(nowMs + Math.ceil(wait), lastMs);
}
