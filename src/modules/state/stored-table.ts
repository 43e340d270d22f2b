// Rows of one table of the store in memory, with who holds how many of them.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { SharedTable } from "../../core/fairness/shared-table.ts";
import { scan } from "./scan.ts";
import type { StoredForm } from "./stored-json.ts";

/** How rows of one kind are stored, and what each is known by in memory. */
export interface StoredKind<Row extends { readonly tenant: string }> {
  readonly table: string;
  readonly form: Pick<StoredForm<Row>, "encode" | "decode">;
  /** Key in the store. */
  key(row: Row): Uint8Array;
  /** Key within the tenant, which lists are ordered by. */
  idOf(row: Row): string;
  /** How much of its tenant's share a row takes; one where this is not said. */
  amountOf?(row: Row): number;
}

/** The committed rows of all tenants. */
export class StoredTable<Row extends { readonly tenant: string }> extends SharedTable<Row> {
  readonly #kind: StoredKind<Row>;

  constructor(kind: StoredKind<Row>, shares?: ShareLedger) {
    super(kind.idOf, shares, kind.amountOf);
    this.#kind = kind;
  }

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, this.#kind.table)) this.put(this.#kind.form.decode(value));
  }

  /** Rows of a tenant, by their keys. */
  override of(tenant: string): Row[] {
    const { idOf } = this.#kind;
    return super.of(tenant).sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  }

  operation(row: Row): StoreOperation {
    return { table: this.#kind.table, key: this.#kind.key(row), value: this.#kind.form.encode(row) };
  }

  /** Deletes a row. */
  removal(row: Row): StoreOperation {
    return { table: this.#kind.table, key: this.#kind.key(row), value: undefined };
  }
}
