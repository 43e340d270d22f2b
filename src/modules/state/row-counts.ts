// How many rows a table holds of each tenant: what bounds them is counted in the transactions that write and delete them, in a table of its own.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { scan } from "./scan.ts";
import { number, StoredForm, text } from "./stored-json.ts";

interface RowCount {
  readonly tenant: string;
  readonly rows: number;
}

/** The committed counts. */
export class RowCounts {
  readonly #table: string;
  readonly #form: StoredForm<RowCount>;
  readonly #rows = new Map<string, number>();
  #size = 0;

  /** `table` is that of the counts. */
  constructor(table: string) {
    this.#table = table;
    this.#form = new StoredForm(table, { tenant: text, rows: number });
  }

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, this.#table)) {
      const { tenant, rows } = this.#form.decode(value);
      this.add(tenant, rows);
    }
  }

  /** Over all tenants. */
  get size(): number {
    return this.#size;
  }

  get tenants(): Iterable<string> {
    return this.#rows.keys();
  }

  sizeOf(tenant: string): number {
    return this.#rows.get(tenant) ?? 0;
  }

  /** The tenant with most rows. */
  get largestTenant(): string | undefined {
    let largest: string | undefined;
    for (const [tenant, rows] of this.#rows) if (largest === undefined || rows > this.sizeOf(largest)) largest = tenant;
    return largest;
  }

  /** Stores that a tenant has so many rows more, or fewer. */
  operation(tenant: string, by: number): StoreOperation {
    const rows = this.sizeOf(tenant) + by;
    const key = new KeyBuilder().text(tenant).finish();
    return { table: this.#table, key, value: rows > 0 ? this.#form.encode({ tenant, rows }) : undefined };
  }

  /** Takes over what is stored. */
  add(tenant: string, by: number): void {
    const rows = this.sizeOf(tenant) + by;
    this.#size += by;
    if (rows > 0) this.#rows.set(tenant, rows);
    else this.#rows.delete(tenant);
  }
}
