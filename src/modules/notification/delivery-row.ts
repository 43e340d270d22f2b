// What one channel has received of one alert, as it is stored: tables `deliveries` and, while there is something to be sent, `outbox`.
import { hash128 } from "../../core/hashing/hash128.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import type { Notifier } from "../../domain/notification/channel.ts";
import { afterRestart, type ChannelDelivery } from "../../domain/notification/channel-delivery.ts";
import { type Destination, destinationKey } from "../../domain/notification/destinations.ts";
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
  readonly causeNotified?: true;
}

/** Key of the rows of an alert: what all of them begin with. */
export function alertPrefix(tenant: string, alertId: string): KeyBuilder {
  return new KeyBuilder().text(tenant).fixed(idBytes(alertId));
}

/** Key of a row; a channel that leads nowhere has one too. */
export function deliveryKey(tenant: string, alertId: string, destination: Destination | null, channel: string): Uint8Array {
  const receiver = destination === null ? `none ${channel}` : destinationKey(destination);
  return alertPrefix(tenant, alertId)
    .fixed(idBytes(hash128(receiver)))
    .finish();
}

/** Receiver of what waits for one destination of one tenant: none keeps another from its turn. */
export function receiverOf(destination: Destination, tenant: string): string {
  return JSON.stringify([destinationKey(destination), tenant]);
}

/** The row as it is now: `isHeld` says whether the notifier has its message. */
export function currentRow(stored: DeliveryRow, run: string, isInFlight: boolean): DeliveryRow {
  if (stored.delivery.message === null) return { ...stored, run };
  const delivery = stored.run === run ? stored.delivery : afterRestart(stored.delivery, stored.notifier);
  return { ...stored, run, delivery: { ...delivery, inFlight: isInFlight && delivery.message !== null } };
}

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
