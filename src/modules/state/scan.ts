// Reads long ranges in bounded steps.
import type { StoreEntry, StoreReader } from "../../adapters/storage/key-value-store.ts";
import { KeyBuilder, KeyReader, prefixEnd } from "../../domain/codec/key.ts";
import { TABLE_END, TABLE_START } from "./tables.ts";

/** Rows that a handler reads, or looks at, before others have their turn: some milliseconds. */
export const ROWS_PER_READ = 500;

/** Entries of one step. */
const SCAN_ROWS = 1_000;

/** Yields the entries of [from, to) in order. Each step of a thousand is a snapshot of its own. */
export function* scan(
  store: StoreReader,
  table: string,
  from: Uint8Array = TABLE_START,
  to: Uint8Array = TABLE_END,
): Generator<StoreEntry> {
  for (let start = from; ; ) {
    const entries = store.range(table, { from: start, to, limit: SCAN_ROWS });
    yield* lookedAt(store, table, entries);
    const last = entries.at(-1);
    if (last === undefined || entries.length < SCAN_ROWS) return;
    start = successor(last.key);
  }
}

/** Yields the entries of [from, to) from the last to the first, `rows` a step; each step is a snapshot of its own. */
export function* scanNewest(store: StoreReader, table: string, from: Uint8Array, to: Uint8Array, rows: number): Generator<StoreEntry> {
  for (let end = to; ; ) {
    const entries = store.range(table, { from, to: end, reverse: true, limit: rows });
    yield* lookedAt(store, table, entries);
    const last = entries.at(-1);
    if (last === undefined || entries.length < rows) return;
    end = last.key;
  }
}

/** Yields the tenants that have entries in a table whose keys begin with the tenant, by one look-up each. */
export function* scanTenants(store: StoreReader, table: string): Generator<string> {
  for (let from: Uint8Array | undefined = TABLE_START; from !== undefined; ) {
    const [entry] = store.range(table, { from, to: TABLE_END, limit: 1 });
    if (entry === undefined) return;
    const tenant = new KeyReader(entry.key).text();
    yield tenant;
    from = prefixEnd(new KeyBuilder().text(tenant).finish());
  }
}

/** Tells the store which entry is looked at. */
function* lookedAt(store: StoreReader, table: string, entries: readonly StoreEntry[]): Generator<StoreEntry> {
  for (const entry of entries) {
    store.noteRow?.(table, entry);
    yield entry;
  }
}

function successor(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}
