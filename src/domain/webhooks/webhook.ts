// An outbound webhook: where events go, which ones, and how often they are tried (contract 2.7, 6.2 and 6.4).
// Room of a tenant for the regular expressions of its webhooks, and of its runbooks: each anomaly is matched against all of them.
import { SEARCHED_TABLE_BYTES_PER_TENANT_MAX } from "../../core/config/pattern-limits.ts";
import type { PatternCache } from "../alerting/pattern/pattern-cache.ts";
import type { RetryPlan } from "../delivery/retry-policies.ts";
import type { Transform } from "./transform.ts";

export const WEBHOOK_METHODS = ["POST", "PUT", "PATCH"] as const;
export type WebhookMethod = (typeof WEBHOOK_METHODS)[number];
export const CAUSE_CATEGORIES = ["infrastructure", "application", "external"] as const;
export type CauseCategory = (typeof CAUSE_CATEGORIES)[number];

/** Which events reach a webhook: all that is not null must hold. */
export interface WebhookPattern {
  /** Regular expressions in RE2's syntax, searched. */
  readonly serviceIdRegex: string | null;
  readonly metricNameRegex: string | null;
  /** The score must be above it. */
  readonly minAnomalyScore: number | null;
  readonly rootCauseCategory: CauseCategory | null;
  readonly environments: readonly string[] | null;
}

export interface Webhook {
  /** 32 hex digits: one that is made anew under a name is another. */
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly url: string;
  readonly method: WebhookMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly pattern: WebhookPattern;
  readonly transform: Transform | null;
  readonly retry: RetryPlan;
  readonly secret: string | null;
  /** The secret before, which signs beside the new one until then. */
  readonly formerSecret: string | null;
  readonly formerSecretUntilMs: number;
  readonly enabled: boolean;
  readonly createdAtMs: number;
}

/** The policy of a webhook that names none (contract 6.4). */
export const INITIAL_RETRY: RetryPlan = { maxAttempts: 5, initialDelayMs: 1_000, backoffMultiplier: 2, maxDelayMs: 30_000 };

/** Names that paths of their own have. */
export const RESERVED_NAMES: readonly string[] = ["test", "public-key"];
export const WEBHOOK_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** Header names of RFC 9110, without those that a request's form or its signature needs. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const OWN_HEADERS = /^(host|connection|transfer-encoding|content-.*|webhook-.*|idempotency-key|te|upgrade|keep-alive|expect|trailer)$/i;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Error of a header; null where there is none. */
export function headerProblem(name: string, value: string): string | null {
  if (!HEADER_NAME.test(name)) return "is no name of a header";
  if (OWN_HEADERS.test(name)) return "is a header that the server sets itself";
  return HEADER_VALUE.test(value) ? null : "has a value with characters that no header may have";
}

export interface PatternSubject {
  readonly serviceId: string;
  readonly metricName: string;
  readonly environment: string;
  /** 0..1. */
  readonly score: number;
}

/** Whether everything but the cause's category holds. `finds` says whether a pattern is found in a text. */
export function matchesSubject(
  { serviceIdRegex, metricNameRegex, minAnomalyScore, environments }: WebhookPattern,
  { serviceId, metricName, environment, score }: PatternSubject,
  finds: (pattern: string, text: string) => boolean,
): boolean {
  if (minAnomalyScore !== null && !(score > minAnomalyScore)) return false;
  if (environments !== null && !environments.includes(environment)) return false;
  if (serviceIdRegex !== null && !finds(serviceIdRegex, serviceId)) return false;
  return metricNameRegex === null || finds(metricNameRegex, metricName);
}

/** The pattern for a search, where patterns match whole texts. */
export function searched(pattern: string): string {
  return `.*(?:${pattern}).*`;
}

/** Regular expressions of what matches findings, null where it has none. */
interface SearchedPatterns {
  readonly serviceIdRegex: string | null;
  readonly metricNameRegex: string | null;
}

/** Why the tables of these patterns are too large to be matched together, in a sentence; null where they are not. `what` names their holders. */
export function searchedCapacityProblem(
  patterns: Pick<PatternCache, "tableBytes">,
  holders: readonly SearchedPatterns[],
  what: string,
): string | null {
  const used = new Set(holders.flatMap(({ serviceIdRegex, metricNameRegex }) => [serviceIdRegex, metricNameRegex]));
  used.delete(null);
  const bytes = [...used].reduce((sum, regex) => sum + patterns.tableBytes(searched(regex as string)), 0);
  if (bytes <= SEARCHED_TABLE_BYTES_PER_TENANT_MAX) return null;
  const needed = `the patterns of your ${what} need ${Math.ceil(bytes / 1024)} KiB of memory with these`;
  return `${needed}; there are ${SEARCHED_TABLE_BYTES_PER_TENANT_MAX / 1024}: give shorter ones, with smaller numbers in {}, or delete some`;
}
