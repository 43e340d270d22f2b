// What the handlers of page budgets and the report of pages use.
import type { Changing } from "../access/changes.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import type { Using } from "../queries/query-context.ts";
import type { ChannelDeliveries } from "./channel-deliveries.ts";
import type { PageBudgetBooks } from "./page-budget-book.ts";

export interface PageReportContext extends Using<"nowMs" | "yieldTurn", AlertBooks & AnomalyBooks, PageBudgetBooks>, Changing {
  readonly channels: Pick<ChannelDeliveries, "routes">;
}
