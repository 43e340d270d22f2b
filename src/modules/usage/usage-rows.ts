// Accepted events as stored: table `usage`, (month, tenant) ▶ {counts by type}, in the order of RECORD_TYPES.
// What the log marks of one transaction add to the accepted events, over what is stored. It is committed with those marks, so each event is counted once.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { RECORD_TYPES } from "../../core/layout/counters.ts";
import type { TenantUsage } from "../../core/protocol/coordinator-frame.ts";
import { UsageTally } from "../../domain/access/usage-tally.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { scan } from "../state/scan.ts";
import { list, number, StoredForm } from "../state/stored-json.ts";

/** Events of a tenant in one month, by type. */
export interface UsageRow {
  readonly counts: readonly number[];
}

export const USAGE = new StoredForm<UsageRow>("usage", {
  counts: list(number),
});

const NO_USAGE: UsageRow = { counts: RECORD_TYPES.map(() => 0) };

/** Key of a tenant's month. */
function usageKey(month: number, tenant: string): Uint8Array {
  return new KeyBuilder().u16(month).text(tenant).finish();
}

/** Bound of a month's keys: those of earlier months lie below it. */
export function usageBound(month: number): Uint8Array {
  return new KeyBuilder().u16(month).finish();
}

function encodeUsage(row: UsageRow): Uint8Array {
  return USAGE.encode(row);
}

/** Stored usage of a tenant's month; nothing counts as zeros. */
export function readUsage(store: KeyValueStore, month: number, tenant: string): UsageRow {
  const stored = store.get("usage", usageKey(month, tenant));
  return stored === undefined ? NO_USAGE : USAGE.decode(stored);
}

/** Events of all tenants in a month; 10,000 rows are some 10 ms. */
export function totalOf(store: KeyValueStore, month: number): number {
  let events = 0;
  for (const { value } of scan(store, "usage", usageBound(month), usageBound(month + 1))) events += eventsOf(USAGE.decode(value));
  return events;
}

export function eventsOf({ counts }: UsageRow): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Counts of one transaction. */
export class UsageDraft {
  readonly #store: KeyValueStore;
  readonly #added = new UsageTally();

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  add(usage: readonly TenantUsage[]): void {
    this.#added.addAll(usage);
  }

  /** Number of events that the transaction adds. */
  get events(): number {
    return this.#added.entries.reduce((sum, { counts }) => sum + counts.reduce((total, count) => total + count, 0), 0);
  }

  operations(): StoreOperation[] {
    return this.#added.entries.map(({ tenant, month, counts }) => {
      const before = readUsage(this.#store, month, tenant).counts;
      const value = encodeUsage({ counts: counts.map((count, type) => count + (before[type] ?? 0)) });
      return { table: "usage", key: usageKey(month, tenant), value };
    });
  }
}
