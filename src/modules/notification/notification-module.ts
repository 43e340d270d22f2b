// What the coordinator folds of notification.
// POST /api/v1/drill: one fire drill; the answer comes at its end.
import { drillView } from "../../api/notification-view.ts";
import { done, type Outcome } from "../../api/refusal.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { BookSources, NounModule } from "../state/noun-module.ts";
import { StoredTable } from "../state/stored-table.ts";
import { chosenChannels, listChannels, testChannels } from "./channel-handlers.ts";
import { deliveryView } from "./delivery-row.ts";
import type { NotificationContext } from "./notification-context.ts";
import { PAGE_BUDGETS } from "./page-budget-book.ts";
import { reportPages, setPageBudget } from "./page-report-handlers.ts";
import { RoutingBook, type RoutingSettings } from "./routing-book.ts";
import { changeRoutingRule, createRoutingRule, deleteRoutingRule, listRoutingRules, testRouting } from "./routing-handlers.ts";
import { rowsOfAlert } from "./stored-channel.ts";

export const NOTIFICATION = {
  tables: {
    control: {
      routing_rules: { key: "tenant, rule id", value: "RoutingRule, or what was edited of the catch-all" },
      deliveries: { key: "tenant, alert id, destination hash", value: "DeliveryRow: what a channel has received of an alert" },
      outbox: { key: "tenant, alert id, destination hash", value: "its destination, while there is a message to be sent" },
      channel_successes: { key: "tenant, destination hash", value: "ChannelSuccess: when a destination took something last" },
      page_budgets: { key: "tenant, team", value: "PageBudget: how many pages a team may have in a week" },
      drills: { key: "tenant", value: "Drill: the last fire drill" },
    },
  },
  configured: ({ share, routing }: BookSources & { readonly routing: RoutingSettings | undefined }) => ({
    routing: new RoutingBook(routing, share("routing_rules")),
    pageBudgets: new StoredTable(PAGE_BUDGETS, share("page_budgets")),
  }),
  handlers: {
    createRoutingRule,
    routingRules: listRoutingRules,
    changeRoutingRule,
    deleteRoutingRule,
    testRouting,
    channels: listChannels,
    testChannels,
    setPageBudget,
    pageReport: reportPages,
    drill: startDrill,
  },
} as const satisfies NounModule;

async function startDrill(context: NotificationContext, request: QueryRequest<"drill">): Promise<Outcome<unknown>> {
  const { drills, state } = context;
  const chosen = chosenChannels(context, request.principal.tenant, request.body);
  if (!chosen.ok) return chosen;
  const ended = await drills.run(request, chosen.value);
  if (!ended.ok) return ended;
  const drill = ended.value;
  const rows = drill.alertId === null ? [] : rowsOfAlert(state.control, drill.tenant, drill.alertId);
  return done({ ...drillView(drill), deliveries: rows.map(({ row }) => deliveryView(row)) });
}
