// An event on its way to a webhook as a stored value: the part `event` of a delivery. Earlier versions have stored it as JSON, which is read.
import type { Delivery } from "../../domain/delivery/delivery.ts";
import type { AttemptNote } from "../../domain/webhooks/webhook-delivery.ts";
import { DeliveryForm, type Message, optionalText, wordOf } from "../deliveries/delivery-form.ts";
import { list, nullable, number, object, oneOf, StoredForm, text } from "../state/stored-json.ts";
import { idOfStored, storedId, storedText } from "../state/stored-message.ts";
import { EVENT_TYPES, type WebhookDeliveryRow } from "./webhook-row.ts";

const NOTE_STATES = ["succeeded", "failed", "exhausted"] as const;

interface JsonRow extends Pick<WebhookDeliveryRow, "deliveryId" | "eventId" | "eventType" | "anomalyId" | "occurredAtMs" | "createdAtMs"> {
  readonly holdUntilMs: number | null;
  readonly event: string | null;
  readonly state: "gathering" | "pending" | "succeeded" | "exhausted" | "dropped";
  readonly attempts: readonly AttemptNote[];
  readonly nextAttemptAtMs: number;
}

const JSON_ROW = new StoredForm<JsonRow>("webhook_deliveries", {
  deliveryId: text,
  eventId: text,
  eventType: oneOf(EVENT_TYPES),
  anomalyId: text,
  occurredAtMs: number,
  createdAtMs: number,
  holdUntilMs: nullable(number),
  event: nullable(text),
  state: oneOf(["gathering", "pending", "succeeded", "exhausted", "dropped"]),
  attempts: list(
    object<AttemptNote>({
      attempt: number,
      state: oneOf(NOTE_STATES),
      statusCode: nullable(number),
      responseTimeMs: number,
      error: nullable(text),
      attemptedAtMs: number,
      nextAttemptAtMs: nullable(number),
    }),
  ),
  nextAttemptAtMs: number,
});

/** Deliveries of events, and those that are not done with. */
export const EVENT_TABLES = { log: "webhook_deliveries", open: "webhook_outbox" } as const;

/** Rows of `webhook_deliveries`. */
export const EVENT_ROW = new DeliveryForm<WebhookDeliveryRow>({
  table: "webhook_deliveries",
  part: "event",
  progressOf: (row) => row,
  partOf,
  rowOf,
  ofJson,
});

function partOf(row: WebhookDeliveryRow): object {
  const { deliveryId, eventId, eventType, anomalyId, occurredAtMs, createdAtMs, holdUntilMs, event, notes } = row;
  return {
    deliveryId: storedId(deliveryId),
    eventId: storedId(eventId),
    eventType,
    anomalyId: anomalyId === "" ? null : storedId(anomalyId),
    occurredMs: occurredAtMs,
    createdMs: createdAtMs,
    holdUntilMs,
    event: optionalText(event),
    notes: notes.map(noteMessage),
  };
}

function noteMessage({ attempt, state, statusCode, responseTimeMs, error, attemptedAtMs, nextAttemptAtMs }: AttemptNote): object {
  const times = { attemptedMs: attemptedAtMs, nextAttemptMs: nextAttemptAtMs };
  return { attempt, state, statusCode, responseTimeMs, error: error === null ? null : storedText(error), ...times };
}

function rowOf(progress: Delivery, part: Message): WebhookDeliveryRow {
  return {
    ...progress,
    deliveryId: idOfStored(part.deliveryId),
    eventId: idOfStored(part.eventId),
    eventType: wordOf(EVENT_TYPES, part.eventType),
    anomalyId: part.anomalyId === null ? "" : idOfStored(part.anomalyId),
    occurredAtMs: part.occurredMs,
    createdAtMs: part.createdMs,
    holdUntilMs: part.holdUntilMs,
    event: part.event,
    notes: part.notes.map(noteOf),
  };
}

function noteOf({ attempt, state, statusCode, responseTimeMs, error, attemptedMs, nextAttemptMs }: Message): AttemptNote {
  const times = { attemptedAtMs: attemptedMs, nextAttemptAtMs: nextAttemptMs };
  return { attempt, state: wordOf(NOTE_STATES, state), statusCode, responseTimeMs, error, ...times };
}

function ofJson(bytes: Uint8Array): WebhookDeliveryRow {
  const { state, attempts: notes, ...row } = JSON_ROW.decode(bytes);
  const known = state === "gathering" ? "held" : state === "succeeded" ? "delivered" : state;
  const firstTriedAtMs = notes[0]?.attemptedAtMs ?? null;
  return { ...row, state: known, attempts: notes.length, notes, firstTriedAtMs, error: notes.at(-1)?.error ?? null };
}
