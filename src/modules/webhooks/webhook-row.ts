// What is stored of webhooks: tables `webhooks`, `webhook_deliveries` and, while an event is not done with, `webhook_outbox`.
import { hash128 } from "../../core/hashing/hash128.ts";
import { KeyBuilder, KeyReader } from "../../domain/codec/key.ts";
import type { RetryPlan } from "../../domain/delivery/retry-policies.ts";
import type { Transform } from "../../domain/webhooks/transform.ts";
import { CAUSE_CATEGORIES, WEBHOOK_METHODS, type Webhook, type WebhookPattern } from "../../domain/webhooks/webhook.ts";
import type { EventDelivery } from "../../domain/webhooks/webhook-delivery.ts";
import { flag, list, nullable, number, object, oneOf, record, StoredForm, text } from "../state/stored-json.ts";
import type { StoredKind } from "../state/stored-table.ts";
import { ID_BYTES, idBytes, idText } from "../state/tables.ts";

export const EVENT_TYPES = ["anomaly.declared", "anomaly.resolved", "webhook.test"] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** One event on its way to one webhook. */
export interface WebhookDeliveryRow extends EventDelivery {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly eventType: EventType;
  /** Empty where it speaks of none. */
  readonly anomalyId: string;
  readonly occurredAtMs: number;
  readonly createdAtMs: number;
  /** End of the wait of one that gathers, for its cause; null where it waits for one that matches. */
  readonly holdUntilMs: number | null;
  /** JSON; null until it is to be sent, and once it is done with. */
  readonly event: string | null;
}

const WEBHOOK = new StoredForm<Webhook>("webhooks", {
  id: text,
  tenant: text,
  name: text,
  url: text,
  method: oneOf(WEBHOOK_METHODS),
  headers: record(text),
  pattern: object<WebhookPattern>({
    serviceIdRegex: nullable(text),
    metricNameRegex: nullable(text),
    minAnomalyScore: nullable(number),
    rootCauseCategory: nullable(oneOf(CAUSE_CATEGORIES)),
    environments: nullable(list(text)),
  }),
  transform: nullable(object<Transform>({ type: oneOf(["jq", "javascript", "python"]), expression: nullable(text), code: nullable(text) })),
  retry: object<RetryPlan>({ maxAttempts: number, initialDelayMs: number, backoffMultiplier: number, maxDelayMs: number }),
  secret: nullable(text),
  formerSecret: nullable(text),
  formerSecretUntilMs: number,
  enabled: flag,
  createdAtMs: number,
});

/** Webhooks in the order of their names. */
export const WEBHOOKS: StoredKind<Webhook> = {
  table: "webhooks",
  form: WEBHOOK,
  key: ({ tenant, name }) => new KeyBuilder().text(tenant).text(name).finish(),
  idOf: ({ name }) => name,
};

/** A row that retention has deleted before it was done with. */
export interface ExpiredDelivery {
  readonly key: Uint8Array;
  readonly row: WebhookDeliveryRow;
}

/** Id of an event: what happened to an anomaly, and when it opened again where it did. */
export function eventIdOf(tenant: string, anomalyId: string, type: EventType, epochMs: number): string {
  return hash128(JSON.stringify(["event", tenant, anomalyId, type, epochMs]));
}

export function deliveryIdOf(webhookId: string, eventId: string): string {
  return hash128(JSON.stringify(["webhook delivery", webhookId, eventId]));
}

/** Where a delivery is: deliveries of a webhook stand in the order of their events. */
export interface DeliveryPosition {
  readonly tenant: string;
  readonly webhookId: string;
  readonly occurredAtMs: number;
  readonly deliveryId: string;
}

export function deliveryKey({ tenant, webhookId, occurredAtMs, deliveryId }: DeliveryPosition): Uint8Array {
  return new KeyBuilder().text(tenant).fixed(idBytes(webhookId)).time(occurredAtMs).fixed(idBytes(deliveryId)).finish();
}

export function deliveryPosition(key: Uint8Array): DeliveryPosition {
  const reader = new KeyReader(key);
  const tenant = reader.text();
  const webhookId = idText(reader.fixed(ID_BYTES));
  const occurredAtMs = reader.time();
  return { tenant, webhookId, occurredAtMs, deliveryId: idText(reader.fixed(ID_BYTES)) };
}

/** Bound of the deliveries of a webhook whose events are of that time or later. */
export function deliveryBound(tenant: string, webhookId: string, timeMs: number): Uint8Array {
  return new KeyBuilder().text(tenant).fixed(idBytes(webhookId)).time(timeMs).finish();
}
