// What the coordinator folds of dead letters.

import { done, type Outcome } from "../../api/refusal.ts";
import { DEAD_LETTER_AGE_MS_MAX, DEAD_LETTER_BYTES_MAX } from "../../core/config/limits.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { NounModule } from "../state/noun-module.ts";
import { tenantTimeBound } from "../state/tables.ts";
import { expireDeadLetters } from "./dead-letter-expiry.ts";
import { correctDeadLetter, deleteDeadLetter, listDeadLetters, oneDeadLetter } from "./dead-letter-handlers.ts";
import { readDeadLetter } from "./dead-letter-selection.ts";
import type { DeadLettersContext } from "./dead-letters-context.ts";
import { replayDeadLetters, replayJob } from "./replay-handlers.ts";

export const DEAD_LETTERS = {
  tables: {
    control: {
      dead_letters: { key: "tenant, received time, id", value: "DeadLetterEnvelope" },
      dead_letter_ends: { key: "tenant, received time, id", value: "u8: how a letter that is gone ended, END_REPLAYED or END_DELETED" },
      replay_jobs: { key: "tenant, created time, id", value: "ReplayJob" },
      counters: { key: "kind, tenant", value: "DeadLetterCounts" },
    },
  },
  expire: expireDeadLetters,
  handlers: {
    dlqStats,
    deadLetters: listDeadLetters,
    deadLetter: oneDeadLetter,
    correctDeadLetter,
    deleteDeadLetter,
    replayDeadLetters,
    replayJob,
  },
} as const satisfies NounModule;

// GET /api/v1/debug/dlq-stats: the tenant's dead letters as stored now, so that the groups add up to the total, and what has gone by the bounds.

/** Counts by reason and topic; the dates are null when there is none. `dropped`: gone by age, and by bytes before their time. */
function dlqStats({ state }: DeadLettersContext, { principal }: QueryRequest<"dlqStats">): Outcome<unknown> {
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
