// What one transaction does to deliveries: messages of the alerts that it changes, and outcomes of attempts. It may be thrown away and made again.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import type { DeadLetterEnvelope } from "../../core/protocol/coordinator-frame.ts";
import type { TimelineLine } from "../../domain/alerting/timeline.ts";
import type { RoutedChannel } from "../../domain/notification/alert-channels.ts";
import { type AlertMessage, headline } from "../../domain/notification/alert-message.ts";
import { parseChannel } from "../../domain/notification/channel.ts";
import {
  type ChannelDelivery,
  isPage,
  undeliverable,
  withAttempt,
  withJoined,
  withMessage,
  withOutcome,
  withRecall,
} from "../../domain/notification/channel-delivery.ts";
import type { ForgottenChannel } from "../../domain/notification/channel-health.ts";
import { type AlertStep, decidedMessages } from "../../domain/notification/decided-messages.ts";
import { type Destination, destinationKey } from "../../domain/notification/destinations.ts";
import { nowhereReason } from "../../domain/notification/notification-state.ts";
import type { DeliveryCommand, DeliveryReport } from "../../domain/webhooks/outbound-messages.ts";
import type { FollowingDraft } from "../alerts/alert-follower.ts";
import type { TimelineBook } from "../alerts/timeline-book.ts";
import type { DeadLetterDraft } from "../dead-letters/dead-letter-draft.ts";
import { encodeEntry } from "../deliveries/delivery-form.ts";
import { keyText, tenantOfKey } from "../deliveries/delivery-key.ts";
import { DraftedRows } from "../deliveries/drafted-rows.ts";
import { type ChannelSuccess, successOperation, successRemoval } from "./channel-success.ts";
import { currentRow, type DeliveryRow, deliveryKey, receiverOf } from "./delivery-row.ts";
import type { Routes } from "./routes.ts";
import { CHANNEL_ROW, CHANNEL_TABLES, encodeRow, rowsOfAlert } from "./stored-channel.ts";

/** A row that a transaction has changed. */
export interface ChangedRow {
  readonly key: string;
  readonly row: DeliveryRow;
}

/** Outcome as the counters record it. */
export interface SettledAttempt {
  readonly notifier: DeliveryRow["notifier"];
  readonly outcome: "delivered" | "retried" | "exhausted";
  /** From the decision to the first byte of an attempt that arrived. */
  readonly latencyMs: number | null;
  readonly tenant: string;
  readonly alertId: string;
  /** Where it was sent; null where its channel leads nowhere. */
  readonly destination: Destination | null;
  readonly endedAtMs: number;
  /** Why it was not taken; null where it was. */
  readonly error: string | null;
}

export interface ChannelDraftSources {
  readonly timeline: TimelineBook;
  readonly control: KeyValueStore;
  readonly routes: Routes;
  readonly run: string;
  isHanded(key: string): boolean;
  nowMs(): number;
  /** 0..1. */
  random(): number;
  /** Draft of dead letters, of messages that came to nothing. */
  letters(): DeadLetterDraft;
  committed(draft: ChannelDraft): void;
}

export class ChannelDraft implements FollowingDraft {
  readonly #sources: ChannelDraftSources;
  readonly #rows: DraftedRows<DeliveryRow>;
  readonly #back = new Set<string>();
  #letters: DeadLetterDraft | undefined;
  readonly settled: SettledAttempt[] = [];
  /** Pages that had no channel to go to. */
  unreachable = 0;
  /** By destination and tenant. */
  readonly #successes = new Map<string, StoreOperation>();
  /** Lines for timelines, by the id of the alert. */
  readonly #lines = new Map<string, { readonly tenant: string; readonly lines: TimelineLine[] }>();
  /** What the notifier is to be told of mails that it has asked to join. */
  readonly joins: Array<Extract<DeliveryCommand, { type: "join" }>> = [];

  constructor(sources: ChannelDraftSources) {
    this.#sources = sources;
    const { decode } = CHANNEL_ROW;
    this.#rows = new DraftedRows({ control: sources.control, ...CHANNEL_TABLES, encode: encodeRow, decode, openValue: openEntry });
  }

  operations(steps: readonly AlertStep[]): StoreOperation[] {
    for (const step of steps) {
      for (const message of decidedMessages(step, this.#sources.routes.facts(step.after))) this.#report(step, message);
    }
    const lines = [...this.#lines].flatMap(([id, of]) => this.#sources.timeline.operations(of.tenant, id, of.lines));
    return [...this.#rows.operations(), ...this.#successes.values(), ...lines, ...(this.#letters?.operations() ?? [])];
  }

  apply(): void {
    this.#letters?.apply();
    this.#sources.committed(this);
  }

  /** Rows that the notifier has no more. */
  get back(): Iterable<string> {
    return this.#back;
  }

  /** Pages first: of an alert that takes another's place people hear before the end of the other. */
  get changed(): ChangedRow[] {
    const rows = [...this.#rows.changed].map(([key, row]) => ({ key, row }));
    const rank = ({ row }: ChangedRow) => (row.delivery.message !== null && isPage(row.delivery.message.kind) ? 0 : 1);
    return rows.sort((a, b) => rank(a) - rank(b));
  }

  /** Takes in what became of rows that were handed over, of those that still are. */
  settle(report: DeliveryReport): void {
    if (report.kind === "recalled") this.#recall(report.key);
    else if (report.kind === "joining") this.#join(report);
    else this.#attempted(report);
  }

  #recall(key: string): void {
    this.#back.add(key);
    const row = this.#read(key, true);
    if (row !== undefined) this.#rows.put(key, { ...row, delivery: withRecall(row.delivery, row.notifier) });
  }

  /** Stores what leaves in one mail, under the name by which all of it is known. */
  #join({ id, destination, deliveries }: Extract<DeliveryReport, { kind: "joining" }>): void {
    const rows = deliveries.map(({ key }) => ({ key, row: this.#read(key, true) }));
    const messages = rows.map(({ row }) => row?.delivery.message ?? null);
    if (messages.length === 0 || messages.includes(null)) {
      this.joins.push({ type: "join", id, destination, name: null });
      return;
    }
    const states = messages.map((message) => [message?.alertId, message?.kind, message?.atMs]);
    const alertIds = messages.map((message) => message?.alertId ?? "");
    const joined = { alertIds, name: hash128(JSON.stringify(states)), sinceMs: this.#sources.nowMs(), attempts: 0, mayHaveArrived: false };
    for (const { key, row } of rows) if (row !== undefined) this.#rows.put(key, { ...row, delivery: withJoined(row.delivery, joined) });
    this.joins.push({ type: "join", id, destination, name: joined.name });
  }

  #attempted(report: Extract<DeliveryReport, { kind: "attempted" }>): void {
    const random = this.#sources.random();
    for (const { key } of report.deliveries) this.#ended(key, report, random);
  }

  #ended(key: string, report: Extract<DeliveryReport, { kind: "attempted" }>, random: number): void {
    this.#back.add(key);
    const row = this.#read(key, true);
    if (row === undefined || row.delivery.message === null) return;
    const { message } = row.delivery;
    const begun = withAttempt(row.delivery, report.sentAtMs);
    const { outcome, deliveries, endedAtMs } = report;
    const end = { outcome, messages: deliveries.length, nowMs: endedAtMs, random };
    const ended = withOutcome({ ...begun, waiting: [] }, end, row.notifier);
    this.#rows.put(key, { ...row, delivery: withOutcome(begun, end, row.notifier) });
    const isLost = ended.state === "exhausted";
    const isDelivered = outcome.kind === "delivered";
    if (isDelivered && row.destination !== null) {
      this.noteSuccess({ tenant: message.tenant, destination: row.destination, atMs: endedAtMs });
    }
    this.settled.push({
      notifier: row.notifier,
      outcome: isDelivered ? "delivered" : isLost ? "exhausted" : "retried",
      latencyMs: isDelivered ? report.sentAtMs - message.atMs : null,
      tenant: message.tenant,
      alertId: message.alertId,
      destination: row.destination,
      endedAtMs,
      error: isDelivered ? null : outcome.error,
    });
    if ((isDelivered || isLost) && message.kind !== "notice") {
      const text = isDelivered ? headline(message) : `${headline(message)}: ${ended.error ?? "not taken"}`;
      this.note(message, { atMs: endedAtMs, kind: isDelivered ? "told" : "not_told", by: row.channel, text });
    }
    if (isLost) this.#lose({ ...row, delivery: begun }, message, ended.error ?? "", this.#sources.nowMs());
  }

  /** Stores that a destination has taken something. */
  noteSuccess(success: ChannelSuccess): void {
    this.#successes.set(receiverOf(success.destination, success.tenant), successOperation(success));
  }

  /** Stores of a destination no longer when it took something. */
  forgetSuccess(channel: ForgottenChannel): void {
    this.#successes.set(receiverOf(channel.destination, channel.tenant), successRemoval(channel));
  }

  /** Adds a line to the timeline of an alert. */
  note({ tenant, alertId }: Pick<AlertMessage, "tenant" | "alertId">, line: TimelineLine): void {
    const known = this.#lines.get(alertId);
    if (known === undefined) this.#lines.set(alertId, { tenant, lines: [line] });
    else known.lines.push(line);
  }

  /** Tells who heard of an alert of its cause: behind its page, once, and again where it is another one. */
  reportCause(message: AlertMessage, isOther: boolean): void {
    for (const { key, row: stored } of rowsOfAlert(this.#sources.control, message.tenant, message.alertId)) {
      const text = keyText(key);
      if (stored.causeNotified === true && !isOther) continue;
      this.#put(text, message, undefined);
      const row = this.#rows.changed.get(text);
      if (row !== undefined) this.#rows.put(text, { ...row, causeNotified: true });
    }
  }

  /** Tells the channels that a runbook names; the channels that lead somewhere. */
  notice(message: AlertMessage, channels: readonly string[]): string[] {
    const routed = this.#sources.routes.named(message.tenant, channels).filter(({ destination }) => destination !== null);
    this.#send(message, null, routed);
    return routed.map(({ channel }) => channel);
  }

  #report({ after }: AlertStep, message: AlertMessage): void {
    const { tenant, alertId } = message;
    if (isPage(message.kind)) {
      this.#page(message, after.labels);
      return;
    }
    // Whoever was told hears of it, whatever the rules say by now.
    for (const { key } of rowsOfAlert(this.#sources.control, tenant, alertId)) this.#put(keyText(key), message, undefined);
    for (const [text, row] of this.#rows.changed) {
      if (row.delivery.message?.alertId === alertId && this.#rows.stored(text) === undefined) this.#put(text, message, undefined);
    }
  }

  #page(message: AlertMessage, labels: Readonly<Record<string, string>>): void {
    const { routes, nowMs } = this.#sources;
    const { ruleId, channels } = routes.of(message, labels);
    this.#send(message, ruleId, channels);
    if (channels.length > 0) return;
    this.unreachable++;
    this.note(message, {
      atMs: nowMs(),
      kind: "not_told",
      by: null,
      text: `${headline(message)}: ${nowhereReason(routes.isAnyConfigured)}`,
    });
  }

  #send(message: AlertMessage, ruleId: string | null, channels: readonly RoutedChannel[]): void {
    const { tenant, alertId } = message;
    for (const { channel, destination, fallback } of channels) {
      const text = keyText(deliveryKey(tenant, alertId, destination, channel));
      const parsed = parseChannel(channel);
      if (typeof parsed === "string") continue;
      const { notifier } = destination ?? parsed;
      const routed = { channel, ruleId, fallback, notifier, destination };
      if (destination !== null) this.#put(text, message, routed);
      else this.#nowhere(text, routed, message);
    }
  }

  #nowhere(text: string, routed: Omit<DeliveryRow, "delivery" | "run">, { tenant, alertId }: AlertMessage): void {
    const error = `${routed.channel} names no destination that is configured, and nobody else is notified in its place`;
    this.#rows.put(text, { ...routed, run: this.#sources.run, delivery: undeliverable(error) });
    const { nowMs } = this.#sources;
    const target = { notifier: routed.notifier, tenant, alertId, destination: null };
    this.settled.push({ ...target, outcome: "exhausted", latencyMs: null, endedAtMs: nowMs(), error });
  }

  /** `routed` is what a rule says of it; undefined where only those are told that were told before. */
  #put(text: string, message: AlertMessage, routed: Omit<DeliveryRow, "delivery" | "run"> | undefined): void {
    const known = this.#read(text, this.#sources.isHanded(text));
    const target = routed ?? known;
    if (target === undefined) return;
    const delivery = withMessage(known?.delivery, message, target.notifier);
    if (delivery === undefined || delivery === known?.delivery) return;
    const { channel, ruleId, fallback, notifier, destination } = target;
    const causeNotified = known?.causeNotified === true ? ({ causeNotified: true } as const) : {};
    this.#rows.put(text, { channel, ruleId, fallback, notifier, destination, delivery, run: this.#sources.run, ...causeNotified });
  }

  #read(text: string, isHanded: boolean): DeliveryRow | undefined {
    const drafted = this.#rows.changed.get(text);
    if (drafted !== undefined) return drafted;
    const stored = this.#rows.stored(text);
    return stored && currentRow(stored, this.#sources.run, isHanded);
  }

  /** Nobody heard of it here: it is kept as a dead letter, and the default of its notifier is notified where that is another one. */
  #lose(row: DeliveryRow, message: AlertMessage, error: string, nowMs: number): void {
    const { tenant, alertId, kind, atMs } = message;
    const { attempts, waiting } = row.delivery;
    const letter: DeadLetterEnvelope = {
      tenant,
      id: hash128(JSON.stringify([alertId, row.channel, row.destination, kind, atMs])),
      reason: "channel_exhausted",
      field: null,
      message: `${headline(message)}: not told through ${row.channel}: ${error}`,
      topic: "notification",
      receivedMs: nowMs,
      payload: { channel: row.channel, rule_id: row.ruleId, attempts, error, message },
    };
    this.#letters ??= this.#sources.letters();
    this.#letters.add(letter);
    const other = this.#sources.routes.defaultOf(tenant, row.notifier);
    if (other === null || row.destination === null || destinationKey(other) === destinationKey(row.destination)) return;
    const routed = { channel: row.channel, ruleId: row.ruleId, fallback: true, notifier: row.notifier, destination: other };
    const text = keyText(deliveryKey(tenant, alertId, other, row.channel));
    const known = this.#read(text, this.#sources.isHanded(text));
    if (known !== undefined && hears(known.delivery, message)) return;
    this.#put(text, message, routed);
    for (const later of waiting) this.#put(text, later, undefined);
  }
}

/** Where a row waits; undefined where it has nothing to send. */
function openEntry(key: string, { delivery: { message }, destination }: DeliveryRow): Uint8Array | undefined {
  if (message === null || destination === null) return undefined;
  return encodeEntry({ receiver: receiverOf(destination, tenantOfKey(key)), isUrgent: isPage(message.kind) });
}

/** Whether a channel is told this message, or was, without another's failure. */
function hears({ message: own, notified, endNotified, sentAtMs }: ChannelDelivery, { atMs }: AlertMessage): boolean {
  if (own !== null) return own.atMs >= atMs;
  return notified !== "no" && !endNotified && sentAtMs !== null && sentAtMs >= atMs;
}
