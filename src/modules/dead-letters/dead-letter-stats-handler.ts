// GET /api/v1/debug/dlq-stats: the tenant's dead letters as stored now, so that the groups add up to the total, and what has gone by the bounds.
import { done, type Outcome } from "../../api/refusal.ts";
import { DEAD_LETTER_AGE_MS_MAX, DEAD_LETTER_BYTES_MAX } from "../../core/config/limits.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { tenantTimeBound } from "../state/tables.ts";
import { readDeadLetter } from "./dead-letter-selection.ts";
import type { DeadLettersContext } from "./dead-letters-context.ts";

/** Counts by reason and topic; the dates are null when there is none. `dropped`: gone by age, and by bytes before their time. */
export function dlqStats({ state }: DeadLettersContext, { principal }: QueryRequest<"dlqStats">): Outcome<unknown> {
  const counts = state.deadLetters.counts(principal.tenant);
  const edge = (reverse: boolean): string | null => {
    const from = tenantTimeBound(principal.tenant, Number.NEGATIVE_INFINITY);
    const to = tenantTimeBound(principal.tenant, Number.POSITIVE_INFINITY);
    const [entry] = state.control.range("dead_letters", { from, to, reverse, limit: 1 });
    return entry === undefined ? null : formatRfc3339(readDeadLetter(entry).receivedMs);
  };
  return done({
    total_failed: counts.records,
    by_reason: counts.byReason,
    oldest_entry: edge(false),
    newest_entry: edge(true),
    by_topic: counts.byTopic,
    bytes: counts.bytes,
    dropped: { by_age: counts.expired, by_size: counts.dropped },
    limits: { age_seconds: DEAD_LETTER_AGE_MS_MAX / 1000, bytes: DEAD_LETTER_BYTES_MAX },
  });
}
