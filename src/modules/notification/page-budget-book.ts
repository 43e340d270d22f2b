// How many pages teams mean to have in a week, of all tenants, as they are stored.
import { KeyBuilder } from "../../domain/codec/key.ts";
import { number, StoredForm, text } from "../state/stored-json.ts";
import type { StoredKind, StoredTable } from "../state/stored-table.ts";

export interface PageBudget {
  readonly tenant: string;
  readonly team: string;
  readonly pagesPerWeek: number;
  readonly updatedAtMs: number;
}

/** Budgets in the order of their teams. */
export const PAGE_BUDGETS: StoredKind<PageBudget> = {
  table: "page_budgets",
  form: new StoredForm<PageBudget>("page_budgets", { tenant: text, team: text, pagesPerWeek: number, updatedAtMs: number }),
  key: ({ tenant, team }) => new KeyBuilder().text(tenant).text(team).finish(),
  idOf: ({ team }) => team,
};

export interface PageBudgetBooks {
  readonly pageBudgets: StoredTable<PageBudget>;
}
