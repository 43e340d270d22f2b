/**
 * Messages of alerts on their way to channels: which are decided, where each belongs, what an outcome comes to, and what is said of it. The outbox hands them over; a
 * message is stored in the transaction that stores its alert.
 */
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import {
  CAUSE_CHANGES_SENT_MAX,
  ENDS_HANDED_PER_DESTINATION_MAX,
  EXHAUSTED_REPORTED_MS,
  MESSAGES_HANDED_PER_DESTINATION_MAX,
} from "../../core/config/notification-limits.ts";
import type { CoordinatorMessage } from "../../core/protocol/query.ts";
import { type Alert, isFiring } from "../../domain/alerting/paging/alert.ts";
import { isPage } from "../../domain/notification/channel-delivery.ts";
import { ChannelHealth, type ChannelState, type ForgottenChannel } from "../../domain/notification/channel-health.ts";
import { causeMessage } from "../../domain/notification/decided-messages.ts";
import type { Destination } from "../../domain/notification/destinations.ts";
import { joinsOf, rankOf } from "../../domain/notification/message-joins.ts";
import { type Notification, notificationOf } from "../../domain/notification/notification-state.ts";
import { isSameCause, summaryOf } from "../../domain/rca/advice.ts";
import type { DeliveryReport, LeavingDelivery } from "../../domain/webhooks/outbound-messages.ts";
import type { AlertFollower } from "../alerts/alert-follower.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import { alertCauseView, reportOfAlert } from "../analysis/alert-cause.ts";
import type { AnalysisBooks } from "../analysis/analysis-context.ts";
import type { RcaReport } from "../analysis/report-row.ts";
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import { DeadLetterDraft } from "../dead-letters/dead-letter-draft.ts";
import type { DeadLetterBooks } from "../dead-letters/dead-letters-context.ts";
import { decodeEntry } from "../deliveries/delivery-form.ts";
import { keyOfText, keyText, tenantOfKey } from "../deliveries/delivery-key.ts";
import type { DeliveryKind, DeliveryWork } from "../deliveries/delivery-kind.ts";
import { removalOf } from "../deliveries/drafted-rows.ts";
import type { Outbox } from "../deliveries/outbox.ts";
import type { LabelBooks } from "../labels/labels-context.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import { scan } from "../state/scan.ts";
import type { StateWith } from "../state/stored-state.ts";
import { type ChangedRow, ChannelDraft } from "./channel-draft.ts";
import { type ChannelSuccess, storedSuccesses } from "./channel-success.ts";
import { currentRow, type DeliveryRow, deliveryKey, deliveryView, receiverOf } from "./delivery-row.ts";
import { jsonEntry } from "./json-deliveries.ts";
import { type NotificationOptions, Routes } from "./routes.ts";
import type { RoutingBooks } from "./routing-book.ts";
import { CHANNEL_ROW, CHANNEL_TABLES, rowsOfAlert } from "./stored-channel.ts";

export interface ChannelDeliveriesDependencies {
  readonly state: StateWith<AlertBooks & AnalysisBooks & AnomalyBooks & DeadLetterBooks, LabelBooks & RoutingBooks>;
  readonly counters: CoordinatorCounters;
  nowMs(): number;
  randomBytes(count: number): Uint8Array;
  emit(message: CoordinatorMessage): void;
  /** Whether anybody reads events. */
  hasSubscribers?(): boolean;
}

/** Notifier state in the status. */
export interface NotifierFacts {
  readonly state: "disabled" | "ok" | "degraded";
  readonly reasons: readonly string[];
  readonly waiting: number;
  /** Channels that have taken nothing for minutes. */
  readonly failing: readonly ChannelState[];
}

/** A row with something to be sent. */
interface WaitingRow extends DeliveryRow {
  readonly key: string;
  readonly destination: NonNullable<DeliveryRow["destination"]>;
  readonly message: NonNullable<DeliveryRow["delivery"]["message"]>;
}

const NOBODY = "nobody is notified: no channel is configured";
/** In names of counters. */
const COUNTED = { delivered: "Delivered", retried: "Retried", exhausted: "Exhausted" } as const;

export class ChannelDeliveries implements AlertFollower, DeliveryKind {
  readonly name = "channel";
  readonly routes: Routes;
  readonly health = new ChannelHealth();
  readonly #hints: readonly string[];
  readonly #dependencies: ChannelDeliveriesDependencies;
  readonly #outbox: Outbox;
  readonly #control: KeyValueStore;
  readonly #exhaustedMs = new Map<string, number>();
  /** Reports whose cause is to be told. */
  #causes = new Map<string, RcaReport>();
  /** Tests that were taken, and destinations that are forgotten, to be stored. */
  #tested: ChannelSuccess[] = [];
  #forgotten: ForgottenChannel[] = [];

  /** Nobody is notified where no options are given. */
  constructor(options: NotificationOptions | undefined, outbox: Outbox, dependencies: ChannelDeliveriesDependencies) {
    const { state } = dependencies;
    const { routing, labels } = state.configured;
    this.routes = new Routes(routing, labels, options?.publicUrl ?? null);
    this.#hints = options?.hints ?? [];
    this.#dependencies = dependencies;
    this.#outbox = outbox;
    this.#control = state.control;
    state.alerts.follower = this;
    outbox.register(this);
  }

  get places() {
    return this.#dependencies.state.shares.ledger("messages_handed");
  }

  load(): void {
    for (const { tenant, destination, atMs } of storedSuccesses(this.#control)) this.#note(tenant, destination, atMs, null);
    for (const { key, value } of scan(this.#control, CHANNEL_TABLES.open)) {
      this.#outbox.queue.add(keyText(key), { kind: this, ...decodeEntry(value, jsonEntry) });
    }
  }

  connected(): void {
    this.#dependencies.counters.add("notifierStarts", 1);
  }

  handedMost(isUrgent: boolean): number {
    return isUrgent ? MESSAGES_HANDED_PER_DESTINATION_MAX : ENDS_HANDED_PER_DESTINATION_MAX;
  }

  mayLeave(): boolean {
    return true;
  }

  /** The row with what is to be sent, or all parts of the mail that it is a part of. */
  leaving(key: string): LeavingDelivery[] {
    const row = this.#rowOf(key);
    return row === undefined ? [] : this.#partsOf(tenantOfKey(key), row).map(leavingOf);
  }

  work(reports: readonly DeliveryReport[]): DeliveryWork {
    const causes = this.#causes;
    this.#causes = new Map();
    const [tested, forgotten] = [this.#tested, this.#forgotten];
    [this.#tested, this.#forgotten] = [[], []];
    const draft = this.draft();
    for (const channel of forgotten) draft.forgetSuccess(channel);
    for (const success of tested) draft.noteSuccess(success);
    for (const report of causes.values()) this.#reportCause(draft, report);
    for (const report of reports) draft.settle(report);
    return {
      operations: () => draft.operations([]),
      apply: () => draft.apply(),
      undone: () => {
        this.#tested.unshift(...tested);
        this.#forgotten.unshift(...forgotten);
        for (const [id, report] of causes) if (!this.#causes.has(id)) this.#causes.set(id, report);
      },
    };
  }

  count(): void {
    this.#dependencies.counters.set("outboxDepth", this.#outbox.queue.size(this));
  }

  draft(): ChannelDraft {
    const { nowMs, randomBytes, state } = this.#dependencies;
    return new ChannelDraft({
      control: this.#control,
      timeline: state.alerts.timeline,
      routes: this.routes,
      run: this.#outbox.run,
      isHanded: (key) => this.#outbox.queue.handed(key) !== undefined,
      nowMs,
      random: () => Buffer.from(randomBytes(4)).readUInt32LE() / 2 ** 32,
      letters: () => new DeadLetterDraft(state),
      committed: (draft) => this.#committed(draft),
    });
  }

  removal(tenant: string, alertId: string): StoreOperation[] {
    return removalOf(
      CHANNEL_TABLES,
      rowsOfAlert(this.#control, tenant, alertId).map(({ key }) => key),
    );
  }

  /** A revision of a report is stored: who was informed of its alerts hears of the cause, once there is one. */
  reportRevised(report: RcaReport): void {
    if (!report.analysis.enough) return;
    this.#causes.set(report.id, report);
    this.#outbox.want();
  }

  /** Notes how a test of a channel has ended; `error` is null where it was taken. */
  noteTest(tenant: string, destination: Destination, atMs: number, error: string | null): void {
    this.#note(tenant, destination, atMs, error);
    if (error !== null) return;
    this.#tested.push({ tenant, destination, atMs });
    this.#outbox.want();
  }

  facts(tenant: string): NotifierFacts {
    const { nowMs } = this.#dependencies;
    const hints = this.#hints;
    const waiting = this.#outbox.queue.size(this);
    if (!this.routes.isAnyConfigured) return { state: "disabled", reasons: [...hints], waiting, failing: [] };
    const troubles: string[] = [];
    if (!this.#outbox.isConnected) troubles.push("the notifier has ended and is being started again");
    const exhaustedMs = this.#exhaustedMs.get(tenant);
    if (exhaustedMs !== undefined && nowMs() - exhaustedMs < EXHAUSTED_REPORTED_MS) {
      troubles.push("a message could not be delivered in the last hour: see deliveries of alerts and the dead letters channel_exhausted");
    }
    const failing = this.health.failing(tenant, nowMs());
    for (const { channel, error } of failing) troubles.push(`${channel} has taken nothing for minutes: ${error}`);
    return { state: troubles.length === 0 ? "ok" : "degraded", reasons: [...troubles, ...hints], waiting, failing };
  }

  notification(alert: Alert): Notification {
    const { id, key } = alert.state;
    const rows = rowsOfAlert(this.#control, key.tenant, id).map(({ row }) => row);
    return notificationOf(alert, rows, this.routes.isAnyConfigured);
  }

  /** What channels are told of an alert, as its answer shows it: deliveries, and the cause that messages name. */
  view(alert: Alert) {
    const { id, key } = alert.state;
    const rows = rowsOfAlert(this.#control, key.tenant, id).map(({ row }) => row);
    return {
      root_cause: alertCauseView(this.#dependencies.state, alert),
      deliveries: rows.map(deliveryView),
      delivery_note: rows.length === 0 && !this.routes.isAnyConfigured ? NOBODY : null,
    };
  }

  /** Of several incidents in one alert, people hear of the cause that its page names. */
  #hasOtherCause(alert: Alert, { id }: RcaReport): boolean {
    const own = reportOfAlert(this.#dependencies.state, alert);
    return own?.analysis.enough === true && own.id !== id;
  }

  #reportCause(draft: ChannelDraft, report: RcaReport): void {
    const { state, nowMs } = this.#dependencies;
    const { tenant, anomalies, analysis } = report;
    const alertIds = new Set(anomalies.map((id) => state.anomalies.find(tenant, id)?.paging?.alertId));
    for (const alertId of alertIds) {
      const alert = alertId == null ? undefined : state.alerts.find(tenant, alertId);
      if (alert === undefined || !isFiring(alert) || this.#hasOtherCause(alert, report)) continue;
      const text = summaryOf(analysis);
      // A revision that says the same is no line more, and one that names another cause is told again.
      const known = state.alerts.timeline.read(tenant, alert.state.id).flatMap((line) => (line.kind === "cause" ? line.text : []));
      if (known.at(-1) !== text) draft.note({ tenant, alertId: alert.state.id }, { atMs: nowMs(), kind: "cause", by: null, text });
      const changes = [...known, text].filter((cause, at, all) => at > 0 && !isSameCause(cause, all[at - 1] as string)).length;
      const isOther = known.length > 0 && !isSameCause(known.at(-1) as string, text) && changes <= CAUSE_CHANGES_SENT_MAX;
      draft.reportCause(causeMessage(alert, text, nowMs(), this.routes.facts(alert)), isOther);
    }
  }

  #committed(draft: ChannelDraft): void {
    const { counters, nowMs, state } = this.#dependencies;
    for (const { notifier, outcome, latencyMs, tenant, destination, endedAtMs, error } of draft.settled) {
      if (destination !== null) this.#note(tenant, destination, endedAtMs, error);
      counters.add(`${notifier}${COUNTED[outcome]}`, 1);
      if (latencyMs !== null) counters.notifyLatency(latencyMs / 1_000);
      if (outcome === "exhausted") this.#exhaustedMs.set(tenant, nowMs());
    }
    counters.add("pagesUnreachable", draft.unreachable);
    for (const key of draft.back) this.#outbox.queue.release(key);
    for (const changed of draft.changed) this.#enqueue(changed);
    for (const join of draft.joins) this.#outbox.send(join);
    this.#outbox.handOver();
    this.#notifyReaders(draft);
    if (draft.settled.length > 0) counters.set("channelsFailing", this.health.failingCount(nowMs()));
    counters.set("deadLetters", state.deadLetters.total);
  }

  #note(tenant: string, destination: Destination, atMs: number, error: string | null): void {
    const forgotten = this.health.note(tenant, destination, atMs, error);
    if (forgotten !== undefined) this.#forgotten.push(forgotten);
  }

  /** Who reads events learns which alerts were told by now, or will not be. */
  #notifyReaders({ settled }: ChannelDraft): void {
    const { emit, hasSubscribers, state } = this.#dependencies;
    if (settled.length === 0 || hasSubscribers?.() === false) return;
    const known = new Map(settled.flatMap(({ outcome, tenant, alertId }) => (outcome === "retried" ? [] : [[alertId, tenant]])));
    const alerts = [...known].flatMap(([alertId, tenant]) => state.alerts.find(tenant, alertId) ?? []);
    const events = alerts.map((alert) => {
      return { event: "alert", tenant: alert.state.key.tenant, data: JSON.stringify(state.alerts.view(alert)) } as const;
    });
    if (events.length > 0) emit({ type: "events", events });
  }

  /** Where a changed row belongs now. */
  #enqueue({ key, row: { destination, delivery } }: ChangedRow): void {
    if (destination === null) return;
    const { queue } = this.#outbox;
    const { message, waiting } = delivery;
    const receiver = receiverOf(destination, tenantOfKey(key));
    const handed = queue.handed(key);
    if (handed === undefined) {
      if (message === null) queue.remove(key, receiver);
      else queue.add(key, { kind: this, receiver, isUrgent: isPage(message.kind) });
    } else if (waiting.length > 0 && !handed.isRecalled && delivery.joined === undefined) {
      handed.isRecalled = true;
      this.#outbox.send({ type: "recall", tenant: handed.tenant, key, destination });
    }
  }

  #partsOf(tenant: string, row: WaitingRow): WaitingRow[] {
    const { destination, channel, delivery } = row;
    const { joined } = delivery;
    if (joined === undefined) return [row];
    const parts = joined.alertIds.flatMap((alertId) => {
      const part = this.#rowOf(keyText(deliveryKey(tenant, alertId, destination, channel)));
      return part?.delivery.joined?.name === joined.name && this.#outbox.queue.handed(part.key) === undefined ? [part] : [];
    });
    return parts.length === 0 ? [row] : parts;
  }

  /** A row with something to be sent; undefined where it is gone. */
  #rowOf(key: string): WaitingRow | undefined {
    const stored = this.#control.get(CHANNEL_TABLES.log, keyOfText(key));
    const row = stored && currentRow(CHANNEL_ROW.decode(stored), this.#outbox.run, false);
    const message = row?.delivery.message;
    return row?.destination == null || message == null ? undefined : { ...row, key, message, destination: row.destination };
  }
}

function leavingOf({ key, destination, message, delivery }: WaitingRow): LeavingDelivery {
  const { alone, joined, nextAttemptAtMs: dueAtMs } = delivery;
  const joins = alone === true ? null : joinsOf(message);
  const schedule = { key, tenant: tenantOfKey(key), dueAtMs, rank: rankOf(message), joins, joined: joined?.name ?? null };
  return { ...schedule, kind: "channel", destination, message };
}
