// Retry-After (RFC 9110, section 10.2.3): seconds, or a date.

import { SECOND_MS } from "../../core/time/durations.ts";

const RETRY_AFTER_MS_MAX = 86_400 * SECOND_MS;
/** An HTTP date in any of its three forms: it begins with the day of the week. */
const HTTP_DATE = /^(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i;

/**
 * Milliseconds that a receiver asks for, a day at most; null where it says nothing that can be read. A date counts from the answer's own `Date`, where there is one:
 * clocks of receivers are off. `nowMs` is wall time.
 */
export function retryAfterMs(retryAfter: string | undefined, date: string | undefined, nowMs: number): number | null {
  const text = retryAfter?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Math.min(Number(text) * SECOND_MS, RETRY_AFTER_MS_MAX);
  const atMs = httpDateMs(text);
  if (atMs === null) return null;
  const sinceMs = (date === undefined ? null : httpDateMs(date.trim())) ?? nowMs;
  return Math.min(Math.max(0, atMs - sinceMs), RETRY_AFTER_MS_MAX);
}

function httpDateMs(text: string): number | null {
  if (!HTTP_DATE.test(text)) return null;
  const ms = Date.parse(/gmt$/i.test(text) ? text : `${text} GMT`);
  return Number.isNaN(ms) ? null : ms;
}
