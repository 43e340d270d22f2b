// Whether people were told of an alert, in three states: it waits or is held (`to_be_told`), a receiver took it (`told`), or nobody was (`not_told`), and why.
import type { Alert } from "../alerting/paging/alert.ts";
import { holdName, holdText, SNOOZED_GATE } from "../alerting/paging/hold-text.ts";
import { RELIEF } from "../alerting/paging/relief.ts";
import { type ChannelDelivery, isPage } from "./channel-delivery.ts";

/** Whether anybody was told. */
export interface Notification {
  readonly state: "to_be_told" | "told" | "not_told";
  /** The channel that took it, or that is tried, or that was given up; null where there is none. */
  readonly channel: string | null;
  /** When it was taken. */
  readonly atMs: number | null;
  /** Why nobody was told, or what it waits for. */
  readonly reason: string | null;
}

/** What one channel has received of an alert. */
export interface NotifiedChannel {
  readonly channel: string;
  readonly delivery: ChannelDelivery;
}

/** What of an alert says why nobody was told. */
export type NotifiedAlert = Pick<Alert, "pages" | "heldBy" | "mergedInto" | "snooze"> & {
  readonly state: Pick<Alert["state"], "resolvedAtMs">;
};

/** Why nobody is told while there is no channel at all, and of what was to be told before one led anywhere. */
const NO_CHANNEL = "no channel is configured";
const NO_CHANNEL_THEN = "no channel of its routing rule led anywhere when people were to be told";

/** Why a page leads nowhere now. */
export function nowhereReason(isAnyConfigured: boolean): string {
  return isAnyConfigured ? "its routing rule names no channel that leads anywhere" : NO_CHANNEL;
}

/** What is said of an alert with these deliveries; `isAnyConfigured` says whether any channel is. */
export function notificationOf(alert: NotifiedAlert, deliveries: readonly NotifiedChannel[], isAnyConfigured: boolean): Notification {
  return notified(deliveries) ?? pendingNotification(deliveries) ?? lostNotification(deliveries) ?? undelivered(alert, isAnyConfigured);
}

/** The notification of an alert that has closed into another and that nobody was told of by itself: people hear of it as a part of that one. */
export function asPartOf(own: Notification, alertId: string, other: Notification): Notification {
  if (own.state === "told") return own;
  return { ...other, reason: `as a part of alert ${alertId}${other.reason === null ? "" : `: ${other.reason}`}` };
}

/** The notification of an anomaly that belongs to no alert. */
export function withoutAlert(suppressedBy: string | null, isResolved: boolean): Notification {
  if (suppressedBy === null) return nobody("it is in no alert: it paged nobody");
  if (suppressedBy === "tier") return nobody("mild: a score below 0.4 alerts nobody");
  if (suppressedBy === RELIEF) return nobody("it is the end of what ran full");
  if (isResolved) return nobody(`${holdName(suppressedBy)} held it back until it ended`);
  return holdText(suppressedBy, null) === null ? nobody(`${suppressedBy} keeps it from paging`) : suppressed(suppressedBy, null);
}

/** The first that took it. */
function notified(deliveries: readonly NotifiedChannel[]): Notification | undefined {
  let first: Notification | undefined;
  for (const { channel, delivery } of deliveries) {
    const atMs = delivery.notifiedAtMs;
    if (atMs !== null && (first === undefined || atMs < (first.atMs as number))) first = { state: "told", channel, atMs, reason: null };
  }
  return first;
}

function pendingNotification(deliveries: readonly NotifiedChannel[]): Notification | undefined {
  const waiting = deliveries.find(
    ({ delivery }) => delivery.message !== null && (isPage(delivery.message.kind) || delivery.notified !== "yes"),
  );
  if (waiting === undefined) return undefined;
  const { error } = waiting.delivery;
  const reason = error === null ? "it is on its way" : `tried again: ${error}`;
  return { state: "to_be_told", channel: waiting.channel, atMs: null, reason };
}

function lostNotification(deliveries: readonly NotifiedChannel[]): Notification | undefined {
  const lost = deliveries.find(({ delivery }) => delivery.state === "exhausted");
  if (lost !== undefined) return nobody(lost.delivery.error ?? "it was given up", lost.channel);
  const [first] = deliveries;
  return first === undefined ? undefined : nobody("it ended, or somebody had it, before it was sent", first.channel);
}

function undelivered({ pages, heldBy, mergedInto, snooze, state }: NotifiedAlert, isAnyConfigured: boolean): Notification {
  if (heldBy !== null)
    return state.resolvedAtMs === null ? suppressed(heldBy, snooze) : nobody(`${holdName(heldBy)} held it back until it ended`);
  if (mergedInto !== null) return nobody(`it is a part of alert ${mergedInto}`);
  if (pages === 0) return nobody("it paged nobody");
  return nobody(isAnyConfigured ? NO_CHANNEL_THEN : NO_CHANNEL);
}

function suppressed(gate: string, snooze: Alert["snooze"]): Notification {
  const reason = ["held by", holdName(snooze === null ? gate : SNOOZED_GATE), holdText(gate, snooze) ?? ""].join(" ").trimEnd();
  return { state: "to_be_told", channel: null, atMs: null, reason };
}

function nobody(reason: string, channel: string | null = null): Notification {
  return { state: "not_told", channel, atMs: null, reason };
}
