// Retention of dead letters: by age, by the bytes of all, and what is remembered of those that are gone.
import type { KeyValueStore, StoreEntry } from "../../adapters/storage/key-value-store.ts";
import { DEAD_LETTER_ENDS_MAX } from "../../core/config/limits.ts";
import type { CoordinatorMessage } from "../../core/protocol/query.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import { type RetentionStep, type RetentionTerms, yieldStep } from "../state/retention-step.ts";
import { DEAD_LETTER } from "../state/shared-forms.ts";
import type { StateWith } from "../state/stored-state.ts";
import { tenantTimeBound } from "../state/tables.ts";
import type { DeadLetterBook } from "./dead-letter-book.ts";
import { DeadLetterDraft, type DeadLetterLoss } from "./dead-letter-draft.ts";
import type { DeadLetterBooks } from "./dead-letters-context.ts";

interface Sources {
  readonly state: StateWith<DeadLetterBooks>;
  readonly counters: CoordinatorCounters;
  emit(message: CoordinatorMessage): void;
}

export function* expireDeadLetters(sources: Sources, terms: RetentionTerms): Generator<RetentionStep> {
  yield* oldDeadLetters(sources, terms, terms.deadLettersRetainedFromMs);
  yield* excessDeadLetters(sources, terms);
  yield* deadLetterEnds(sources, terms, terms.deadLettersRetainedFromMs);
}

function* oldDeadLetters(sources: Sources, terms: RetentionTerms, beforeMs: number): Generator<RetentionStep> {
  const { deadLetters, control } = sources.state;
  for (const tenant of [...deadLetters.tenants]) {
    for (;;) {
      const entries = deadLettersOf(sources, terms, tenant, beforeMs);
      if (entries.length === 0) break;
      yield loseDeadLetters(sources, terms, control, entries, "expired");
    }
  }
}

function* excessDeadLetters(sources: Sources, terms: RetentionTerms): Generator<RetentionStep> {
  const { state } = sources;
  const excess = () => state.deadLetters.bytes - terms.deadLetterBytesMax;
  if (excess() <= 0) return;
  for (const { tenant, entries } of deadLettersToDrop(state, terms.rowsPerStep)) {
    if (entries.length === 0) {
      yield yieldStep(state.control);
      continue;
    }
    // A part of a step of anonymous letters is enough: the walk over them begins anew with the next round.
    const dropped = upToBytes(entries, excess());
    yield loseDeadLetters(sources, terms, state.control, dropped, "dropped");
    reportDropped(sources, terms, tenant, dropped.length);
    if (excess() <= 0) return;
  }
}

/** Steps that remove what is remembered of letters that were replayed or deleted: past the age of letters, and the oldest beyond the maximum. */
function* deadLetterEnds(sources: Sources, terms: RetentionTerms, beforeMs: number): Generator<RetentionStep> {
  const { deadLetters, control } = sources.state;
  for (const tenant of [...deadLetters.tenants]) {
    for (;;) {
      const isExcess = deadLetters.ends > DEAD_LETTER_ENDS_MAX;
      const from = tenantTimeBound(tenant, Number.NEGATIVE_INFINITY);
      const to = tenantTimeBound(tenant, isExcess ? Number.POSITIVE_INFINITY : beforeMs);
      const entries = control.range("dead_letter_ends", { from, to, limit: terms.rowsPerStep });
      if (entries.length === 0) break;
      const draft = new DeadLetterDraft(sources.state);
      draft.forgetEnds(
        tenant,
        entries.map(({ key }) => key),
      );
      yield { store: control, operations: draft.operations(), apply: () => draft.apply() };
    }
  }
}

function reportDropped(sources: Sources, terms: RetentionTerms, tenant: string, count: number): void {
  const { emit, state } = sources;
  const msg = `dead letters of tenant ${JSON.stringify(tenant)} passed ${terms.deadLetterBytesMax} bytes: the oldest ${count} were dropped, ${state.deadLetters.counts(tenant).dropped} so far`;
  emit({ type: "log", level: "warn", component: "retention", msg });
}

function deadLettersOf(sources: Sources, terms: RetentionTerms, tenant: string, beforeMs: number): StoreEntry[] {
  const { control } = sources.state;
  const from = tenantTimeBound(tenant, Number.NEGATIVE_INFINITY);
  return control.range("dead_letters", { from, to: tenantTimeBound(tenant, beforeMs), limit: terms.rowsPerStep });
}

function loseDeadLetters(
  sources: Sources,
  _terms: RetentionTerms,
  store: KeyValueStore,
  entries: readonly StoreEntry[],
  loss: DeadLetterLoss,
): RetentionStep {
  const { state, counters } = sources;
  const draft = new DeadLetterDraft(state);
  for (const entry of entries) draft.lose(entry, loss);
  const apply = () => {
    draft.apply();
    counters.add(loss === "dropped" ? "deadLettersDropped" : "deadLettersExpired", entries.length);
    counters.set("deadLetters", state.deadLetters.total);
    counters.set("deadLetterBytes", state.deadLetters.bytes);
  };
  return { store, operations: draft.operations(), apply };
}

/** The oldest entries that together take at least so many bytes. */
function upToBytes(entries: readonly StoreEntry[], bytes: number): readonly StoreEntry[] {
  let sum = 0;
  const last = entries.findIndex(({ value }) => {
    sum += value.length;
    return sum >= bytes;
  });
  return last < 0 ? entries : entries.slice(0, last + 1);
}

// Which dead letters go before their time, for the bytes of all: those that came without a credential first, then those of the tenant with most bytes; the oldest
// ahead. So neither a stranger's flood nor another tenant's pushes out a tenant's letters.

/** Where letters lie. */
interface DeadLetterRows {
  readonly control: KeyValueStore;
  readonly deadLetters: DeadLetterBook;
}

/** Letters of one tenant to drop, oldest first; none where a step found no anonymous ones and the walk goes on. */
interface DeadLettersToDrop {
  readonly tenant: string;
  readonly entries: readonly StoreEntry[];
}

/** Yields letters, at most `rows` looked at each time, until nobody asks for more or none are left. What is yielded must be gone before the next is asked for. */
function* deadLettersToDrop({ control, deadLetters }: DeadLetterRows, rows: number): Generator<DeadLettersToDrop> {
  for (;;) {
    const tenant = deadLetters.anonymousTenant;
    if (tenant === undefined) break;
    yield* anonymousDeadLetters(control, tenant, rows);
    if (deadLetters.anonymousTenant === tenant) break; // the counts say so and the rows do not: others give way as ever
  }
  for (;;) {
    const tenant = deadLetters.largestTenant;
    if (tenant === undefined) return;
    const entries = control.range("dead_letters", { ...wholeOf(tenant), limit: rows });
    if (entries.length === 0) return;
    yield { tenant, entries };
  }
}

function* anonymousDeadLetters(control: KeyValueStore, tenant: string, rows: number): Generator<DeadLettersToDrop> {
  const { from: first, to } = wholeOf(tenant);
  for (let from = first; ; ) {
    const entries = control.range("dead_letters", { from, to, limit: rows });
    const last = entries.at(-1);
    if (last === undefined) return;
    yield { tenant, entries: entries.filter(({ value }) => DEAD_LETTER.decode(value).anonymous === true) };
    from = Uint8Array.from([...last.key, 0]);
  }
}

function wholeOf(tenant: string): { readonly from: Uint8Array; readonly to: Uint8Array } {
  return { from: tenantTimeBound(tenant, Number.NEGATIVE_INFINITY), to: tenantTimeBound(tenant, Number.POSITIVE_INFINITY) };
}
