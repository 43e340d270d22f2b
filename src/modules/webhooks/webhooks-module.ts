// What the coordinator folds of webhooks.
// Retention of deliveries: seven days, so many of one webhook, and those whose webhook is gone.
import type { KeyValueStore, StoreEntry } from "../../adapters/storage/key-value-store.ts";
import { WEBHOOK_DELIVERIES_MS, WEBHOOK_DELIVERIES_PER_WEBHOOK_MAX } from "../../core/config/webhook-limits.ts";
import { isOpen } from "../../domain/delivery/delivery.ts";
import { removalOf } from "../deliveries/drafted-rows.ts";
import type { BookSources, NounModule } from "../state/noun-module.ts";
import { type RetentionStep, type RetentionTerms, yieldStep } from "../state/retention-step.ts";
import type { StateWith } from "../state/stored-state.ts";
import { TABLE_END, TABLE_START } from "../state/tables.ts";
import { listDeliveries, testWebhook } from "./delivery-handlers.ts";
import { EVENT_ROW, EVENT_TABLES } from "./stored-event.ts";
import { WebhookBook, type WebhookBooks } from "./webhook-book.ts";
import { changeWebhook, createWebhook, deleteWebhook, listWebhooks, oneWebhook, webhookKey } from "./webhook-handlers.ts";
import { deliveryBound, deliveryPosition, type ExpiredDelivery } from "./webhook-row.ts";

export const WEBHOOKS = {
  tables: {
    control: {
      webhooks: { key: "tenant, name", value: "Webhook, its secrets included" },
      webhook_deliveries: {
        key: "tenant, webhook id, time, id",
        value: "WebhookDeliveryRow: an event on its way to a webhook, with its attempts",
      },
      webhook_outbox: { key: "tenant, webhook id, time, id", value: "empty, while it is not done with" },
    },
  },
  configured: ({ share }: BookSources) => ({ webhooks: new WebhookBook(share("webhooks")) }),
  expire: (sources: DeliveryRetentionDependencies, terms: RetentionTerms) => expireDeliveries(sources, terms.wallNowMs, terms.rowsPerStep),
  handlers: {
    createWebhook,
    webhooks: listWebhooks,
    testWebhook,
    webhookKey,
    webhook: oneWebhook,
    changeWebhook,
    deleteWebhook,
    webhookDeliveries: listDeliveries,
  },
} as const satisfies NounModule;

interface DeliveryRetentionDependencies {
  readonly state: StateWith<unknown, Pick<WebhookBooks, "webhooks">>;
  /** Takes rows that were not done with. */
  expired(rows: readonly ExpiredDelivery[]): void;
}

interface Deletes {
  readonly control: KeyValueStore;
  readonly expired: DeliveryRetentionDependencies["expired"];
  readonly rowsPerStep: number;
}

/** The order of keys groups a webhook's deliveries, the oldest first. */
export function* expireDeliveries(
  { state: { control, configured }, expired }: DeliveryRetentionDependencies,
  nowMs: number,
  rowsPerStep: number,
): Generator<RetentionStep> {
  const deletes = { control, expired, rowsPerStep };
  let from: Uint8Array = TABLE_START;
  for (;;) {
    const [first] = control.range("webhook_deliveries", { from, to: TABLE_END, limit: 1 });
    if (first === undefined) return;
    const { tenant, webhookId } = deliveryPosition(first.key);
    const isKnown = configured.webhooks.byId(webhookId) !== undefined;
    const end = deliveryBound(tenant, webhookId, Number.POSITIVE_INFINITY);
    const to = isKnown ? deliveryBound(tenant, webhookId, nowMs - WEBHOOK_DELIVERIES_MS) : end;
    yield* deleted(deletes, first.key, to);
    if (isKnown) yield* beyond(deletes, tenant, webhookId);
    from = end;
  }
}

function* deleted(deletes: Deletes, from: Uint8Array, to: Uint8Array): Generator<RetentionStep> {
  for (;;) {
    const entries = deletes.control.range("webhook_deliveries", { from, to, limit: deletes.rowsPerStep });
    if (entries.length === 0) return;
    yield stepOf(deletes, entries);
  }
}

/** The oldest beyond the number. */
function* beyond(deletes: Deletes, tenant: string, webhookId: string): Generator<RetentionStep> {
  const { control, rowsPerStep } = deletes;
  const from = deliveryBound(tenant, webhookId, Number.NEGATIVE_INFINITY);
  let to = deliveryBound(tenant, webhookId, Number.POSITIVE_INFINITY);
  let retained = 0;
  for (;;) {
    const entries = control.range("webhook_deliveries", { from, to, reverse: true, limit: rowsPerStep });
    const last = entries.at(-1);
    if (last === undefined) return;
    retained += entries.length;
    to = last.key;
    if (retained > WEBHOOK_DELIVERIES_PER_WEBHOOK_MAX)
      yield stepOf(deletes, entries.slice(entries.length - (retained - WEBHOOK_DELIVERIES_PER_WEBHOOK_MAX)));
    else yield yieldStep(control);
  }
}

function stepOf({ control, expired }: Deletes, entries: readonly StoreEntry[]): RetentionStep {
  const operations = removalOf(
    EVENT_TABLES,
    entries.map(({ key }) => key),
  );
  const rows = entries.map(({ key, value }) => ({ key, row: EVENT_ROW.decode(value) }));
  const open = rows.filter(({ row }) => isOpen(row));
  return { store: control, operations, apply: () => expired(open) };
}
