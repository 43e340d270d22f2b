// What one channel has received of one alert as a stored value: the part `channel` of a delivery.
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { prefixEnd } from "../../domain/codec/key.ts";
import type { Delivery } from "../../domain/delivery/delivery.ts";
import type { Tier } from "../../domain/detection/anomaly-score.ts";
import { type AlertMessage, MESSAGE_KINDS } from "../../domain/notification/alert-message.ts";
import { NOTIFIERS } from "../../domain/notification/channel.ts";
import type { ChannelDelivery, JoinedMail } from "../../domain/notification/channel-delivery.ts";
import type { Destination } from "../../domain/notification/destinations.ts";
import { DeliveryForm, type Message, optionalText, wordOf } from "../deliveries/delivery-form.ts";
import { storedText } from "../state/stored-message.ts";
import { alertPrefix, type DeliveryRow } from "./delivery-row.ts";
import { jsonRow } from "./json-deliveries.ts";

/** Part of the format. */
const TIERS: readonly Tier[] = ["low", "medium", "high"];

/** Deliveries of channels, and those that have something to be sent. */
export const CHANNEL_TABLES = { log: "deliveries", open: "outbox" } as const;

/** Rows of `deliveries`. */
export const CHANNEL_ROW = new DeliveryForm<DeliveryRow>({
  table: "deliveries",
  part: "channel",
  progressOf: ({ delivery }) => delivery,
  partOf,
  rowOf,
  ofJson: jsonRow,
});

function partOf({ channel, ruleId, fallback, notifier, destination, run, causeNotified, delivery }: DeliveryRow): object {
  const { message, inFlight, waiting, notified, endNotified, sentAtMs, deliveredAtMs, notifiedAtMs, alone, joined } = delivery;
  return {
    channel: storedText(channel),
    ruleId,
    fallback,
    notifier,
    destination: destination && { ...destination, tenant: storedText(destination.tenant), target: storedText(destination.target) },
    run,
    causeTold: causeNotified === true,
    message: message && messageOf(message),
    inFlight,
    waiting: waiting.map(messageOf),
    told: notified,
    endTold: endNotified,
    sentMs: sentAtMs,
    deliveredMs: deliveredAtMs,
    toldMs: notifiedAtMs,
    alone: alone === true,
    joined,
  };
}

function messageOf(message: AlertMessage): object {
  const { startedAtMs, atMs, resolvedAtMs, both, severity, services } = message;
  return {
    kind: message.kind,
    tenant: storedText(message.tenant),
    alertId: message.alertId,
    severity: TIERS.indexOf(severity),
    serviceId: storedText(message.serviceId),
    environment: storedText(message.environment),
    source: storedText(message.source),
    metricName: storedText(message.metricName),
    explanation: storedText(message.explanation),
    services: services.map(storedText),
    startedMs: startedAtMs,
    atMs,
    resolvedMs: resolvedAtMs,
    ending: optionalText(message.ending),
    acknowledgedBy: optionalText(message.acknowledgedBy),
    team: optionalText(message.team),
    cause: optionalText(message.cause),
    url: optionalText(message.url),
    both,
  };
}

function rowOf(progress: Delivery, part: Message): DeliveryRow {
  const { channel, ruleId, fallback, notifier, destination, run, causeTold } = part;
  return {
    channel,
    ruleId,
    fallback,
    notifier: wordOf(NOTIFIERS, notifier),
    destination: destination && destinationOf(destination),
    delivery: deliveryOf(progress, part),
    run,
    ...(causeTold && { causeNotified: true }),
  };
}

function destinationOf({ notifier, tenant, target }: Message): Destination {
  return { notifier: wordOf(NOTIFIERS, notifier), tenant, target };
}

function deliveryOf(progress: Delivery, part: Message): ChannelDelivery {
  const { message, inFlight, waiting, told, endTold, sentMs, deliveredMs, toldMs, alone, joined } = part;
  return {
    ...progress,
    message: message && alertMessageOf(message),
    inFlight,
    waiting: waiting.map(alertMessageOf),
    notified: wordOf(["no", "unknown", "yes"], told),
    endNotified: endTold,
    sentAtMs: sentMs,
    deliveredAtMs: deliveredMs,
    notifiedAtMs: toldMs,
    ...(alone && { alone: true }),
    ...(joined && { joined: joinedOf(joined) }),
  };
}

function joinedOf({ alertIds, name, sinceMs, attempts, mayHaveArrived }: Message): JoinedMail {
  return { alertIds: [...alertIds], name, sinceMs, attempts, mayHaveArrived };
}

function alertMessageOf(message: Message): AlertMessage {
  const { tenant, alertId, serviceId, environment, source, metricName, explanation, acknowledgedBy, team, cause, url, both } = message;
  const severity = TIERS.at(message.severity);
  if (severity === undefined) throw new RangeError(`a number of another list: ${message.severity}`);
  return {
    kind: wordOf(MESSAGE_KINDS, message.kind),
    ...{ tenant, alertId, severity, serviceId, environment, source, metricName, explanation },
    services: [...message.services],
    startedAtMs: message.startedMs,
    atMs: message.atMs,
    resolvedAtMs: message.resolvedMs,
    ...(message.ending !== null && { ending: message.ending }),
    ...{ acknowledgedBy, team, cause, url, both },
  };
}

/** A message that is stored is in somebody's hands, or may have been when this run ended. */
export function encodeRow(row: DeliveryRow): Uint8Array {
  const { delivery } = row;
  return CHANNEL_ROW.encode({ ...row, delivery: { ...delivery, inFlight: delivery.message !== null } });
}

/** Rows of an alert, as they are stored. */
export function rowsOfAlert(store: KeyValueStore, tenant: string, alertId: string): Array<{ key: Uint8Array; row: DeliveryRow }> {
  const from = alertPrefix(tenant, alertId).finish();
  const entries = store.range("deliveries", { from, to: prefixEnd(from) as Uint8Array });
  return entries.map(({ key, value }) => ({ key, row: CHANNEL_ROW.decode(value) }));
}
