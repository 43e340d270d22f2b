// What the coordinator folds of webhooks.
import type { BookSources, NounModule } from "../state/noun-module.ts";
import type { RetentionTerms } from "../state/retention-step.ts";
import { listDeliveries, testWebhook } from "./delivery-handlers.ts";
import { WebhookBook } from "./webhook-book.ts";
import { changeWebhook, createWebhook, deleteWebhook, listWebhooks, oneWebhook, webhookKey } from "./webhook-handlers.ts";
import { type DeliveryRetentionDependencies, expireDeliveries } from "./webhook-retention.ts";

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
