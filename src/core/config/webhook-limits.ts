// Bounds of outbound webhooks, each with its reason.

import { DAY_MS, HOUR_MS, SECOND_MS } from "../time/durations.ts";

/** Webhooks of a tenant, and of all: some 2 KB each, asked one after another for each anomaly. */
export const WEBHOOKS_PER_TENANT_MAX = 100;
export const WEBHOOKS_TOTAL_MAX = 10_000;
/** Characters of a URL and of a header's value, and headers of one webhook: what servers take (8 KiB a line). */
export const WEBHOOK_URL_CHARACTERS_MAX = 2_048;
export const WEBHOOK_HEADERS_MAX = 32;
export const WEBHOOK_HEADER_CHARACTERS_MAX = 4_096;
/** Characters of a secret; Standard Webhooks asks for 24 to 64 bytes. */
export const WEBHOOK_SECRET_CHARACTERS_MAX = 512;
/** Overlap in which the former secret signs beside the new one. */
export const WEBHOOK_OLD_SECRET_MS = DAY_MS;
/** Characters of a pattern's regular expression, and environments that it names. */
export const WEBHOOK_PATTERN_CHARACTERS_MAX = 1_000;
export const WEBHOOK_ENVIRONMENTS_MAX = 20;
/** Characters of a transform. */
export const TRANSFORM_CHARACTERS_MAX = 65_536;

/** Retry policy: its bounds. */
export const WEBHOOK_ATTEMPTS_MAX = 20;
export const WEBHOOK_DELAY_MS_MAX = HOUR_MS;
export const WEBHOOK_MULTIPLIER_MAX = 10;

/** Longest wait for an answer of a receiver. */
export const WEBHOOK_TIMEOUT_MS = 10 * SECOND_MS;
/** Attempts in flight for one webhook, and how many failures in a row leave it one. */
export const WEBHOOK_FLIGHT_MAX = 8;
export const WEBHOOK_FAILURES_IN_A_ROW = 20;
/** Failures in a row by a webhook's or a runbook's own fault (its program throws, it cannot be sent), from which on it pauses, and for how long. */
export const FAULTS_IN_A_ROW = 20;
export const FAULT_PAUSE_MS = 5 * 60 * SECOND_MS;
/** Wait of an event for root-cause analysis, bound (decisions, section 6). */
export const WEBHOOK_CAUSE_WAIT_MS = 2 * SECOND_MS;

/** Events in the notifier's hands, of all tenants and of one webhook: some 4 KB each; the rest waits in the store. */
export const WEBHOOK_EVENTS_HANDED_MAX = 5_000;
export const WEBHOOK_EVENTS_HANDED_PER_WEBHOOK_MAX = 64;
/** Events that wait, of one webhook and of all: 4 KB each in the store, 200 B in memory. */
export const WEBHOOK_EVENTS_WAITING_PER_WEBHOOK_MAX = 10_000;
export const WEBHOOK_EVENTS_WAITING_MAX = 200_000;
/** Retention of deliveries, and their number for one webhook. */
export const WEBHOOK_DELIVERIES_MS = 7 * DAY_MS;
export const WEBHOOK_DELIVERIES_PER_WEBHOOK_MAX = 20_000;

const ties: Array<[boolean, string]> = [
  [WEBHOOK_FLIGHT_MAX <= WEBHOOK_EVENTS_HANDED_PER_WEBHOOK_MAX, "what is handed over fills a webhook's flight"],
  [WEBHOOK_EVENTS_HANDED_PER_WEBHOOK_MAX < WEBHOOK_EVENTS_HANDED_MAX, "one webhook leaves room for others"],
  [WEBHOOK_EVENTS_WAITING_PER_WEBHOOK_MAX < WEBHOOK_DELIVERIES_PER_WEBHOOK_MAX, "what waits is kept"],
];
for (const [holds, what] of ties) if (!holds) throw new Error(`webhook-limits.ts: it must hold that ${what}`);
/** Body of a webhook: its transform and 32 headers of 4 KiB, as bytes of UTF-8 or escaped. */
export const WEBHOOK_BODY_BYTES_MAX = 512 * 1024;
