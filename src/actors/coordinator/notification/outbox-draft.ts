// What one transaction does to deliveries: messages of the alerts that it changes, and outcomes of attempts. It may be thrown away and made again.
import type { KeyValueStore, StoreOperation } from "../../../adapters/storage/key-value-store.ts";
import { hash128 } from "../../../core/base/hash128.ts";
import type { DeadLetterEnvelope } from "../../../core/protocol/coordinator-frame.ts";
import type { RoutedChannel } from "../../../domain/notification/alert-channels.ts";
import { type AlertMessage, headline } from "../../../domain/notification/alert-message.ts";
import { parseChannel } from "../../../domain/notification/channel.ts";
import {
  type ChannelDelivery,
  isPage,
  undeliverable,
  withAttempt,
  withMessage,
  withOutcome,
  withRecall,
} from "../../../domain/notification/channel-delivery.ts";
import { type AlertStep, decidedMessages } from "../../../domain/notification/decided-messages.ts";
import { destinationKey } from "../../../domain/notification/destinations.ts";
import type { DeliveryReport } from "../../../domain/notification/notifier-messages.ts";
import type { FollowingDraft } from "../alerts/alert-follower.ts";
import type { DeadLetterDraft } from "../dead-letters/dead-letter-draft.ts";
import {
  currentRow,
  DELIVERY_ROW,
  type DeliveryRow,
  deliveryKey,
  encodeRow,
  keyOfText,
  keyText,
  laneOf,
  OUTBOX_ROW,
  rowsOfAlert,
  tenantOfKey,
} from "./delivery-row.ts";
import type { Routes } from "./routes.ts";

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
}

export interface OutboxDraftSources {
  readonly control: KeyValueStore;
  readonly routes: Routes;
  readonly run: string;
  isHeld(key: string): boolean;
  nowMs(): number;
  /** 0..1. */
  random(): number;
  /** Draft of dead letters, of messages that came to nothing. */
  letters(): DeadLetterDraft;
  committed(draft: OutboxDraft): void;
}

export class OutboxDraft implements FollowingDraft {
  readonly #sources: OutboxDraftSources;
  readonly #rows = new Map<string, DeliveryRow>();
  readonly #back = new Set<string>();
  #letters: DeadLetterDraft | undefined;
  readonly settled: SettledAttempt[] = [];

  constructor(sources: OutboxDraftSources) {
    this.#sources = sources;
  }

  operations(steps: readonly AlertStep[]): StoreOperation[] {
    for (const step of steps) {
      for (const message of decidedMessages(step, this.#sources.routes.facts(step.after))) this.#report(step, message);
    }
    const rows = [...this.#rows].flatMap(([text, row]): StoreOperation[] => {
      const key = keyOfText(text);
      const isWaiting = row.delivery.message !== null && row.destination !== null;
      const lane = isWaiting ? OUTBOX_ROW.encode({ lane: laneOf(row.destination, tenantOfKey(text)) }) : undefined;
      return [
        { table: "deliveries", key, value: encodeRow(row) },
        { table: "outbox", key, value: lane },
      ];
    });
    return [...rows, ...(this.#letters?.operations() ?? [])];
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
    const rows = [...this.#rows].map(([key, row]) => ({ key, row }));
    const rank = ({ row }: ChangedRow) => (row.delivery.message !== null && isPage(row.delivery.message.kind) ? 0 : 1);
    return rows.sort((a, b) => rank(a) - rank(b));
  }

  /** Takes in what became of a row that was handed over. */
  settle(report: DeliveryReport): void {
    this.#back.add(report.key);
    const row = this.#read(report.key, true);
    if (row === undefined || row.delivery.message === null) return;
    if (report.kind === "recalled") {
      this.#rows.set(report.key, { ...row, delivery: withRecall(row.delivery, row.notifier) });
      return;
    }
    const { message } = row.delivery;
    const { nowMs, random } = this.#sources;
    const begun = withAttempt(row.delivery, report.sentAtMs);
    const draw = random();
    const ended = withOutcome({ ...begun, waiting: [] }, report.outcome, row.notifier, report.endedAtMs, draw);
    const delivery = withOutcome(begun, report.outcome, row.notifier, report.endedAtMs, draw);
    this.#rows.set(report.key, { ...row, delivery });
    const isLost = ended.state === "exhausted";
    const isDelivered = report.outcome.kind === "delivered";
    this.settled.push({
      notifier: row.notifier,
      outcome: isDelivered ? "delivered" : isLost ? "exhausted" : "retried",
      latencyMs: isDelivered ? report.sentAtMs - message.atMs : null,
      tenant: message.tenant,
    });
    if (isLost) this.#lose({ ...row, delivery: begun }, message, ended.error ?? "", nowMs());
  }

  /** Tells who heard of an alert of its cause: once, and behind its page. */
  reportCause(message: AlertMessage): void {
    for (const { key, row: stored } of rowsOfAlert(this.#sources.control, message.tenant, message.alertId)) {
      const text = keyText(key);
      if (stored.causeTold === true) continue;
      this.#put(text, message, undefined);
      const row = this.#rows.get(text);
      if (row !== undefined) this.#rows.set(text, { ...row, causeTold: true });
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
    for (const [text, row] of this.#rows) {
      if (row.delivery.message?.alertId === alertId && !this.#isStored(text)) this.#put(text, message, undefined);
    }
  }

  #page(message: AlertMessage, labels: Readonly<Record<string, string>>): void {
    const { ruleId, channels } = this.#sources.routes.of(message, labels);
    this.#send(message, ruleId, channels);
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
      else this.#nowhere(text, routed, tenant);
    }
  }

  #nowhere(text: string, routed: Omit<DeliveryRow, "delivery" | "run">, tenant: string): void {
    const error = `${routed.channel} names no destination that is configured, and nobody else is notified in its place`;
    this.#rows.set(text, { ...routed, run: this.#sources.run, delivery: undeliverable(error) });
    this.settled.push({ notifier: routed.notifier, outcome: "exhausted", latencyMs: null, tenant });
  }

  /** `routed` is what a rule says of it; undefined where only those are told that were told before. */
  #put(text: string, message: AlertMessage, routed: Omit<DeliveryRow, "delivery" | "run"> | undefined): void {
    const known = this.#read(text, this.#sources.isHeld(text));
    const place = routed ?? known;
    if (place === undefined) return;
    const delivery = withMessage(known?.delivery, message, place.notifier);
    if (delivery === undefined || delivery === known?.delivery) return;
    const { channel, ruleId, fallback, notifier, destination } = place;
    const causeTold = known?.causeTold === true ? ({ causeTold: true } as const) : {};
    this.#rows.set(text, { channel, ruleId, fallback, notifier, destination, delivery, run: this.#sources.run, ...causeTold });
  }

  #read(text: string, isHeld: boolean): DeliveryRow | undefined {
    const drafted = this.#rows.get(text);
    if (drafted !== undefined) return drafted;
    const stored = this.#sources.control.get("deliveries", keyOfText(text));
    return stored && currentRow(DELIVERY_ROW.decode(stored), this.#sources.run, isHeld);
  }

  #isStored(text: string): boolean {
    return this.#sources.control.get("deliveries", keyOfText(text)) !== undefined;
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
    const known = this.#read(text, this.#sources.isHeld(text));
    if (known !== undefined && hears(known.delivery, message)) return;
    this.#put(text, message, routed);
    for (const later of waiting) this.#put(text, later, undefined);
  }
}

/** Whether a channel is told this message, or was, without another's failure. */
function hears({ message: own, told, endTold, sentAtMs }: ChannelDelivery, { atMs }: AlertMessage): boolean {
  if (own !== null) return own.atMs >= atMs;
  return told !== "no" && !endTold && sentAtMs !== null && sentAtMs >= atMs;
}
