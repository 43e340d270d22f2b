// What the handlers of usage use.
import type { Plan } from "../../domain/access/plans.ts";
import type { Using } from "../queries/query-context.ts";

export interface ListedTenant {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
}

/** The tenants of this server, by id. */
interface TenantList {
  readonly size: number;
  page(after: string, limit: number): readonly ListedTenant[];
}

/** Counts of events stand with the engines until they are asked for. */
export type CountingContext = Using<"engines" | "isStoreFailing" | "settle">;
export type UsageContext = CountingContext & Using<"nowMs", unknown, { readonly tenants: TenantList }>;
