// Rows of `deliveries` and `outbox` as earlier versions have stored them, as JSON; none is written any more.
import { type AlertMessage, MESSAGE_KINDS } from "../../domain/notification/alert-message.ts";
import { NOTIFIERS } from "../../domain/notification/channel.ts";
import type { ChannelDelivery, JoinedMail } from "../../domain/notification/channel-delivery.ts";
import type { Destination } from "../../domain/notification/destinations.ts";
import type { OutboxEntry } from "../deliveries/delivery-form.ts";
import { flag, list, nullable, number, object, oneOf, optional, StoredForm, text } from "../state/stored-json.ts";
import type { DeliveryRow } from "./delivery-row.ts";

interface JsonDelivery extends Omit<ChannelDelivery, "state" | "notified" | "endNotified" | "notifiedAtMs"> {
  readonly state: "pending" | "delivered" | "superseded" | "exhausted";
  readonly told: ChannelDelivery["notified"];
  readonly endTold: boolean;
  /** Absent in the first ones, which hold only when the channel was told last. */
  readonly toldAtMs?: number | null;
}

interface JsonRow extends Omit<DeliveryRow, "delivery" | "causeNotified"> {
  readonly causeTold?: true;
  readonly delivery: JsonDelivery;
}

const MESSAGE = object<AlertMessage>({
  kind: oneOf(MESSAGE_KINDS),
  tenant: text,
  alertId: text,
  severity: oneOf(["low", "medium", "high"]),
  serviceId: text,
  environment: text,
  source: text,
  metricName: text,
  explanation: text,
  services: list(text),
  startedAtMs: number,
  atMs: number,
  resolvedAtMs: nullable(number),
  ending: optional(text),
  acknowledgedBy: nullable(text),
  team: nullable(text),
  cause: nullable(text),
  url: nullable(text),
  both: flag,
});
const ROW = new StoredForm<JsonRow>("deliveries", {
  channel: text,
  ruleId: nullable(text),
  fallback: flag,
  notifier: oneOf(NOTIFIERS),
  destination: nullable(object<Destination>({ notifier: oneOf(NOTIFIERS), tenant: text, target: text })),
  delivery: object<JsonDelivery>({
    state: oneOf(["pending", "delivered", "superseded", "exhausted"]),
    message: nullable(MESSAGE),
    inFlight: flag,
    waiting: list(MESSAGE),
    attempts: number,
    told: oneOf(["no", "unknown", "yes"]),
    endTold: flag,
    firstTriedAtMs: nullable(number),
    nextAttemptAtMs: number,
    sentAtMs: nullable(number),
    deliveredAtMs: nullable(number),
    toldAtMs: optional(nullable(number)),
    error: nullable(text),
    alone: optional(oneOf([true])),
    joined: optional(object<JoinedMail>({ alertIds: list(text), name: text, sinceMs: number, attempts: number, mayHaveArrived: flag })),
  }),
  run: text,
  causeTold: optional(oneOf([true])),
});
const ENTRY = new StoredForm<{ readonly lane: string; readonly isPage?: true }>("outbox", { lane: text, isPage: optional(oneOf([true])) });

export function jsonRow(bytes: Uint8Array): DeliveryRow {
  const { causeTold, delivery, ...row } = ROW.decode(bytes);
  const { state, told, endTold, toldAtMs = told === "yes" ? delivery.deliveredAtMs : null, ...progress } = delivery;
  return {
    ...row,
    ...(causeTold && { causeNotified: true }),
    delivery: {
      ...progress,
      state: state === "superseded" ? "dropped" : state,
      notified: told,
      endNotified: endTold,
      notifiedAtMs: toldAtMs,
    },
  };
}

export function jsonEntry(bytes: Uint8Array): OutboxEntry {
  const { lane: receiver, isPage } = ENTRY.decode(bytes);
  return { receiver, isUrgent: isPage === true };
}
