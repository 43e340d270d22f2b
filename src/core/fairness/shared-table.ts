// A table of tenants' rows that enters what each tenant holds into a ledger.
import { TenantTable } from "../collections/tenant-table.ts";
import { ShareLedger } from "./share-ledger.ts";

export class SharedTable<Row extends { readonly tenant: string }> extends TenantTable<Row> {
  /** Who holds how many. */
  readonly shares: ShareLedger;
  readonly #amountOf: (row: Row) => number;

  /** `amountOf` says how much of its tenant's share a row takes, where it is not one. */
  constructor(keyOf: (row: Row) => string, shares = ShareLedger.alone(), amountOf: (row: Row) => number = () => 1) {
    super(keyOf);
    this.shares = shares;
    this.#amountOf = amountOf;
  }

  override put(row: Row): Row | undefined {
    const before = super.put(row);
    this.shares.add(row.tenant, this.#amountOf(row) - (before === undefined ? 0 : this.#amountOf(before)));
    return before;
  }

  override remove(tenant: string, key: string): Row | undefined {
    const row = super.remove(tenant, key);
    if (row !== undefined) this.shares.give(tenant, this.#amountOf(row));
    return row;
  }
}
