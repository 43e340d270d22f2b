// How many pages teams mean to have in a week, of all tenants, as they are stored.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { TenantTable } from "../../core/collections/tenant-table.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { scan } from "../state/scan.ts";
import { number, StoredForm, text } from "../state/stored-json.ts";

export interface PageBudget {
  readonly tenant: string;
  readonly team: string;
  readonly pagesPerWeek: number;
  readonly updatedAtMs: number;
}

const BUDGET = new StoredForm<PageBudget>("page_budgets", { tenant: text, team: text, pagesPerWeek: number, updatedAtMs: number });

/** A change of one budget. */
export function budgetOperation(tenant: string, team: string, budget: PageBudget | undefined): StoreOperation {
  return { table: "page_budgets", key: new KeyBuilder().text(tenant).text(team).finish(), value: budget && BUDGET.encode(budget) };
}

export interface PageBudgetBooks {
  readonly pageBudgets: PageBudgetBook;
}

export class PageBudgetBook {
  /** Who holds how many. */
  readonly shares: ShareLedger;
  readonly #budgets = new TenantTable<PageBudget>(({ team }) => team);

  constructor(shares = ShareLedger.alone()) {
    this.shares = shares;
  }

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "page_budgets")) this.put(BUDGET.decode(value));
  }

  of(tenant: string): PageBudget[] {
    return this.#budgets.of(tenant);
  }

  sizeOf(tenant: string): number {
    return this.#budgets.sizeOf(tenant);
  }

  find(tenant: string, team: string): PageBudget | undefined {
    return this.#budgets.find(tenant, team);
  }

  put(budget: PageBudget): void {
    if (this.#budgets.put(budget) === undefined) this.shares.add(budget.tenant);
  }

  remove(tenant: string, team: string): void {
    if (this.#budgets.remove(tenant, team) !== undefined) this.shares.give(tenant);
  }
}
