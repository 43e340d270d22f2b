// What the lane marks of one transaction add to the accepted events, over what is stored. It is committed with those marks, so each event is counted once.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import type { TenantUsage } from "../../core/protocol/coordinator-frame.ts";
import { UsageTally } from "../../domain/access/usage-tally.ts";
import { encodeUsage, readUsage, usageKey } from "./usage-rows.ts";

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
