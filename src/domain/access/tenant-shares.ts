// All ledgers of one thread: who holds how many places of each limit that tenants share there, and who was refused.
import { type SharedLimit, ShareLedger } from "../../core/fairness/share-ledger.ts";
import type { ShareRow } from "../../core/protocol/shares.ts";

export interface TenantSharesDependencies<L extends string> {
  /** Tenants that are known. */
  readonly tenants: () => number;
  /** Told of each refusal, without a tenant. */
  readonly refused?: (limit: L, count: number) => void;
}

export class TenantShares<L extends string> {
  readonly #ledgers: ReadonlyMap<L, ShareLedger>;

  /** `limits` are the places of each, with a share of its own where it has one. */
  constructor(limits: Readonly<Record<L, number | SharedLimit>>, { tenants, refused = () => undefined }: TenantSharesDependencies<L>) {
    const entries = Object.entries<number | SharedLimit>(limits) as Array<[L, number | SharedLimit]>;
    this.#ledgers = new Map(
      entries.map(([limit, places]) => {
        const known = typeof places === "number" ? { most: places } : places;
        return [limit, new ShareLedger({ ...known, tenants, refused: (count) => refused(limit, count) })];
      }),
    );
  }

  ledger(limit: L): ShareLedger {
    return this.#ledgers.get(limit) as ShareLedger;
  }

  /** All of them. */
  get ledgers(): Iterable<readonly [limit: L, ledger: ShareLedger]> {
    return this.#ledgers;
  }

  /** Places of a limit that tenants were refused, without saying whose. */
  refusedTotal(limit: L): number {
    const ledger = this.ledger(limit);
    return [...ledger.tenants].reduce((sum, tenant) => sum + ledger.refused(tenant), 0);
  }

  /** Places that a tenant holds of each limit. */
  of(tenant: string): ShareRow[] {
    return [...this.#ledgers].map(([limit, ledger]) => row(limit, ledger, tenant));
  }

  /** Tenants that were refused, by limit: those that were refused most, at most so many rows. */
  refusals(rowsMax: number): ShareRow[] {
    const rows = [...this.#ledgers].flatMap(([limit, ledger]) =>
      [...ledger.tenants].filter((tenant) => ledger.refused(tenant) > 0).map((tenant) => row(limit, ledger, tenant)),
    );
    return rows.sort((a, b) => b.refused - a.refused).slice(0, rowsMax);
  }
}

function row(limit: string, ledger: ShareLedger, tenant: string): ShareRow {
  return { limit, tenant, used: ledger.used(tenant), share: ledger.share, most: ledger.most, refused: ledger.refused(tenant) };
}
