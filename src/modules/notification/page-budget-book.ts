// How many pages teams mean to have in a week, of all tenants, as they are stored.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
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
  readonly #tenants = new Map<string, Map<string, PageBudget>>();

  constructor(shares = ShareLedger.alone()) {
    this.shares = shares;
  }

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "page_budgets")) this.put(BUDGET.decode(value));
  }

  of(tenant: string): PageBudget[] {
    return [...(this.#tenants.get(tenant)?.values() ?? [])];
  }

  sizeOf(tenant: string): number {
    return this.#tenants.get(tenant)?.size ?? 0;
  }

  find(tenant: string, team: string): PageBudget | undefined {
    return this.#tenants.get(tenant)?.get(team);
  }

  put(budget: PageBudget): void {
    const { tenant, team } = budget;
    const own = this.#tenants.get(tenant) ?? new Map<string, PageBudget>();
    this.#tenants.set(tenant, own);
    if (!own.has(team)) this.shares.add(tenant);
    own.set(team, budget);
  }

  remove(tenant: string, team: string): void {
    if (this.#tenants.get(tenant)?.delete(team) === true) this.shares.give(tenant, 1);
  }
}
