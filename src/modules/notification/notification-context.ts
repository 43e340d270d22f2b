// What the handlers of routing use.
import type { Changing } from "../access/changes.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { Using } from "../queries/query-context.ts";
import type { ChannelDeliveries } from "./channel-deliveries.ts";
import type { Drills } from "./drills.ts";
import type { OutboundCalls } from "./outbound-calls.ts";
import type { RoutingBooks } from "./routing-book.ts";

/** Where messages go. */
interface Routing {
  readonly channels: Pick<ChannelDeliveries, "facts" | "health" | "noteTest" | "routes" | "view">;
  readonly calls: Pick<OutboundCalls, "tryChannel">;
  readonly drills: Pick<Drills, "run">;
}

export type NotificationContext = Using<"nowMs" | "randomBytes", AlertBooks, RoutingBooks> & Changing & Routing;
