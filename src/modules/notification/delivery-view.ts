import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { DeliveryRow } from "./delivery-row.ts";

/** A delivery as the answer about its alert shows it. */
export function deliveryView({ channel, ruleId, fallback, delivery }: DeliveryRow) {
  const { state, attempts, error, sentAtMs, deliveredAtMs } = delivery;
  return {
    channel,
    rule_id: ruleId,
    state: state === "dropped" ? "superseded" : state,
    attempts,
    error,
    sent_at: sentAtMs === null ? null : formatRfc3339(sentAtMs),
    delivered_at: deliveredAtMs === null ? null : formatRfc3339(deliveredAtMs),
    fallback,
  };
}
