// Dead letters of webhooks on their way again: each event under its id, its attempts counted anew.
import { DeadLetterDraft } from "../dead-letters/dead-letter-draft.ts";
import type { DeadLetterBooks } from "../dead-letters/dead-letters-context.ts";
import type { EventReplays } from "../dead-letters/replay-runner.ts";
import type { StateWith } from "../state/stored-state.ts";
import type { WebhookDeliveries } from "./webhook-deliveries.ts";
import { EVENT_TYPES, type EventType } from "./webhook-row.ts";

export function eventReplays(state: StateWith<DeadLetterBooks>, webhooks: Pick<WebhookDeliveries, "draft">): EventReplays {
  return {
    again(letters) {
      const draft = webhooks.draft();
      const taken = letters.filter(({ tenant, payload }) => {
        const lost = lostEvent(payload);
        return lost !== undefined && draft.again(tenant, lost.webhook, lost.row, lost.event);
      });
      return { taken, operations: () => draft.operations([]), apply: () => draft.apply() };
    },
    ends(tenant, letters) {
      const draft = new DeadLetterDraft(state);
      const places = letters.map(({ receivedMs, id }) => [receivedMs, id] as [number, string]);
      if (places.length > 0) draft.take({ ended: { tenant, job: "", letters: places } });
      return draft;
    },
  };
}

function lostEvent(payload: unknown) {
  const {
    webhook,
    event_id: eventId,
    event_type: type,
    anomaly_id: anomalyId,
    occurred_at_ms: occurredAtMs,
    event,
  } = payload as Record<string, unknown>;
  const eventType = EVENT_TYPES.find((known) => known === type) as EventType | undefined;
  const isWhole = typeof webhook === "string" && typeof eventId === "string" && typeof anomalyId === "string";
  if (!isWhole || eventType === undefined || typeof occurredAtMs !== "number" || typeof event !== "string") return undefined;
  return { webhook, event, row: { eventId, eventType, anomalyId, occurredAtMs } };
}
