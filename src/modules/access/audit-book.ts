// How many rows the audit log holds of each tenant: what bounds it is counted in the transactions that write and delete them.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { scan } from "../state/scan.ts";
import { number, StoredForm, text } from "../state/stored-json.ts";

interface AuditCount {
  readonly tenant: string;
  readonly rows: number;
}

const AUDIT_COUNT = new StoredForm<AuditCount>("audit_counts", {
  tenant: text,
  rows: number,
});

/** The committed counts. */
export class AuditBook {
  readonly #rows = new Map<string, number>();
  #size = 0;

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "audit_counts")) {
      const { tenant, rows } = AUDIT_COUNT.decode(value);
      this.#set(tenant, rows);
    }
  }

  /** Over all tenants. */
  get size(): number {
    return this.#size;
  }

  get tenants(): Iterable<string> {
    return this.#rows.keys();
  }

  /** The tenant with most rows. */
  get largestTenant(): string | undefined {
    let largest: string | undefined;
    for (const [tenant, rows] of this.#rows) if (largest === undefined || rows > (this.#rows.get(largest) as number)) largest = tenant;
    return largest;
  }

  /** Stores that a tenant has so many rows more, or fewer. */
  operation(tenant: string, by: number): StoreOperation {
    const rows = (this.#rows.get(tenant) ?? 0) + by;
    const key = new KeyBuilder().text(tenant).finish();
    return { table: "audit_counts", key, value: rows > 0 ? AUDIT_COUNT.encode({ tenant, rows }) : undefined };
  }

  /** Takes over what is stored. */
  add(tenant: string, by: number): void {
    this.#set(tenant, (this.#rows.get(tenant) ?? 0) + by);
  }

  #set(tenant: string, rows: number): void {
    this.#size += rows - (this.#rows.get(tenant) ?? 0);
    if (rows > 0) this.#rows.set(tenant, rows);
    else this.#rows.delete(tenant);
  }
}
