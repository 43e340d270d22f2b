// What the handlers of usage use.
// Has everything that was acknowledged counted in the store: the lanes tell what they have counted, and it is committed.
import type { Plan } from "../../domain/access/plans.ts";
import { EngineUnavailableError } from "../engines/engine-client.ts";
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

/** False when an engine did not answer, or the store takes nothing now: what is stored may then be a little behind. */
export async function takeCounts(context: UsageContext): Promise<boolean> {
  const { engines } = context;
  const marked = await Promise.allSettled(Array.from({ length: engines.count }, (_, engine) => engines.markLane(engine)));
  for (const mark of marked) {
    if (mark.status === "rejected" && !(mark.reason instanceof EngineUnavailableError)) throw mark.reason;
  }
  await context.settle();
  return marked.every(({ status }) => status === "fulfilled") && !context.isStoreFailing();
}
