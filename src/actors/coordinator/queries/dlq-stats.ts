// GET /api/v1/debug/dlq-stats: the tenant's dead letters as stored now, so that the groups add up to the total.
import { done, type Outcome } from "../../../api/refusal.ts";
import { formatRfc3339 } from "../../../core/base/rfc3339.ts";
import type { DeadLetterEnvelope } from "../../../core/protocol/coordinator-frame.ts";
import { decodeStored } from "../tables/stored-json.ts";
import { tenantTimeBound } from "../tables/tables.ts";
import type { QueryContext, QueryRequest } from "./query-context.ts";

/** Counts by reason and topic; the dates are null when there is none. */
export function dlqStats({ state }: QueryContext, { principal }: QueryRequest<"dlqStats">): Outcome<unknown> {
  const counts = state.deadLetters.counts(principal.tenant);
  const edge = (reverse: boolean): string | null => {
    const from = tenantTimeBound(principal.tenant, Number.NEGATIVE_INFINITY);
    const to = tenantTimeBound(principal.tenant, Number.POSITIVE_INFINITY);
    const [entry] = state.control.range("dead_letters", { from, to, reverse, limit: 1 });
    return entry === undefined ? null : formatRfc3339(decodeStored<DeadLetterEnvelope>(entry.value).receivedMs);
  };
  return done({
    total_failed: counts.total,
    by_reason: counts.byReason,
    oldest_entry: edge(false),
    newest_entry: edge(true),
    by_topic: counts.byTopic,
  });
}
