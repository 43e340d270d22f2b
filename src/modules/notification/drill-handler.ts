// POST /api/v1/drill: one fire drill; the answer comes at its end.
import { drillView } from "../../api/drill-view.ts";
import { done, type Outcome } from "../../api/refusal.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { chosenChannels } from "./channel-handlers.ts";
import { deliveryView } from "./delivery-view.ts";
import type { NotificationContext } from "./notification-context.ts";
import { rowsOfAlert } from "./stored-channel.ts";

export async function startDrill(context: NotificationContext, request: QueryRequest<"drill">): Promise<Outcome<unknown>> {
  const { drills, state } = context;
  const chosen = chosenChannels(context, request.principal.tenant, request.body);
  if (!chosen.ok) return chosen;
  const ended = await drills.run(request, chosen.value);
  if (!ended.ok) return ended;
  const drill = ended.value;
  const rows = drill.alertId === null ? [] : rowsOfAlert(state.control, drill.tenant, drill.alertId);
  return done({ ...drillView(drill), deliveries: rows.map(({ row }) => deliveryView(row)) });
}
