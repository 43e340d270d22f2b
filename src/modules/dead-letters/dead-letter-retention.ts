// Which dead letters go before their time, for the bytes of all: those that came without a credential first, then those of the tenant with most bytes; the oldest
// ahead. So neither a stranger's flood nor another tenant's pushes out a tenant's letters.
import type { KeyValueStore, StoreEntry } from "../../adapters/storage/key-value-store.ts";
import { DEAD_LETTER } from "../state/shared-forms.ts";
import { tenantTimeBound } from "../state/tables.ts";
import type { DeadLetterBook } from "./dead-letter-book.ts";

/** Where letters lie. */
export interface DeadLetterRows {
  readonly control: KeyValueStore;
  readonly deadLetters: DeadLetterBook;
}

/** Letters of one tenant to drop, oldest first; none where a step found no anonymous ones and the walk goes on. */
export interface DeadLettersToDrop {
  readonly tenant: string;
  readonly entries: readonly StoreEntry[];
}

/** Yields letters, at most `rows` looked at each time, until nobody asks for more or none are left. What is yielded must be gone before the next is asked for. */
export function* deadLettersToDrop({ control, deadLetters }: DeadLetterRows, rows: number): Generator<DeadLettersToDrop> {
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
