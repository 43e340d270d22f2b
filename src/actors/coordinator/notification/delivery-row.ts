// What one channel has received of one alert, as it is stored: tables `deliveries` and, while there is something to be sent, `outbox`.
import type { KeyValueStore } from "../../../adapters/storage/key-value-store.ts";
import { hash128 } from "../../../core/base/hash128.ts";
import { KeyBuilder, KeyReader, prefixEnd } from "../../../domain/codec/key.ts";
import type { AlertMessage } from "../../../domain/notification/alert-message.ts";
import { NOTIFIERS, type Notifier } from "../../../domain/notification/channel.ts";
import { afterRestart, type ChannelDelivery, type JoinedMail } from "../../../domain/notification/channel-delivery.ts";
import { type Destination, destinationKey } from "../../../domain/notification/destinations.ts";
import { flag, list, nullable, number, object, oneOf, optional, StoredForm, text } from "../state/stored-json.ts";
import { idBytes } from "../state/tables.ts";

export interface DeliveryRow {
  /** The channel as the rule names it. */
  readonly channel: string;
  /** Null for what was notified in place of a channel that failed. */
  readonly ruleId: string | null;
  readonly fallback: boolean;
  readonly notifier: Notifier;
  /** Null where the channel leads nowhere. */
  readonly destination: Destination | null;
  readonly delivery: ChannelDelivery;
  /** Which run of the notifier it was stored under. What an earlier one had in its hands may have been sent. */
  readonly run: string;
  /** The cause was reported here, or is to be: once an alert. */
  readonly causeTold?: true;
}

const MESSAGE = object<AlertMessage>({
  kind: oneOf(["opened", "raised", "reopened", "renewed", "updated", "acknowledged", "resolved", "cause", "notice"]),
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
const DELIVERY = object<ChannelDelivery>({
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
});
/** Rows of `deliveries`. */
export const DELIVERY_ROW = new StoredForm<DeliveryRow>("deliveries", {
  channel: text,
  ruleId: nullable(text),
  fallback: flag,
  notifier: oneOf(NOTIFIERS),
  destination: nullable(object<Destination>({ notifier: oneOf(NOTIFIERS), tenant: text, target: text })),
  delivery: DELIVERY,
  run: text,
  causeTold: optional(oneOf([true])),
});
/** Rows of `outbox`: the lane that a message waits in, and whether it leaves before others. */
export interface OutboxRow {
  readonly lane: string;
  readonly isPage?: true;
}

export const OUTBOX_ROW = new StoredForm<OutboxRow>("outbox", { lane: text, isPage: optional(oneOf([true])) });

/** Key of the rows of an alert: what all of them begin with. */
function alertPrefix(tenant: string, alertId: string): KeyBuilder {
  return new KeyBuilder().text(tenant).fixed(idBytes(alertId));
}

/** Key of a row; a channel that leads nowhere has one too. */
export function deliveryKey(tenant: string, alertId: string, destination: Destination | null, channel: string): Uint8Array {
  const lane = destination === null ? `none ${channel}` : destinationKey(destination);
  return alertPrefix(tenant, alertId)
    .fixed(idBytes(hash128(lane)))
    .finish();
}

/** Lane of what waits for one destination of one tenant: none keeps another from its turn. */
export function laneOf(destination: Destination, tenant: string): string {
  return JSON.stringify([destinationKey(destination), tenant]);
}

/** The tenant that a key begins with. */
export function tenantOfKey(text: string): string {
  return new KeyReader(keyOfText(text)).text();
}

export function keyText(key: Uint8Array): string {
  return Buffer.from(key).toString("hex");
}

export function keyOfText(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "hex"));
}

/** Rows of an alert, as they are stored. */
export function rowsOfAlert(store: KeyValueStore, tenant: string, alertId: string): Array<{ key: Uint8Array; row: DeliveryRow }> {
  const from = alertPrefix(tenant, alertId).finish();
  const entries = store.range("deliveries", { from, to: prefixEnd(from) as Uint8Array });
  return entries.map(({ key, value }) => ({ key, row: DELIVERY_ROW.decode(value) }));
}

/** A message that is stored is in somebody's hands, or may have been when this run ended. */
export function encodeRow(row: DeliveryRow): Uint8Array {
  const { delivery } = row;
  return DELIVERY_ROW.encode({ ...row, delivery: { ...delivery, inFlight: delivery.message !== null } });
}

/** The row as it is now: `isHeld` says whether the notifier has its message. */
export function currentRow(stored: DeliveryRow, run: string, isHeld: boolean): DeliveryRow {
  if (stored.delivery.message === null) return { ...stored, run };
  const delivery = stored.run === run ? stored.delivery : afterRestart(stored.delivery, stored.notifier);
  return { ...stored, run, delivery: { ...delivery, inFlight: isHeld && delivery.message !== null } };
}
