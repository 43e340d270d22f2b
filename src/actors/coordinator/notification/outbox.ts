/**
 * The outbox: hands stored messages to the notifier and stores what becomes of them. A message is stored in the transaction that stores its alert, so what was
 * decided leaves, at least once, whatever dies in between.
 *
 * A row with a message is either in the notifier's hands or waits here, in the order of its destination. Each destination has at most so many in the notifier's
 * hands, and each tenant its share of all, so that a dead receiver fills neither. All of it happens between transactions: a draft and what it was made over
 * never differ.
 */
import type { KeyValueStore, StoreOperation } from "../../../adapters/storage/key-value-store.ts";
import {
  ENDS_HANDED_PER_DESTINATION_MAX,
  EXHAUSTED_REPORTED_MS,
  MESSAGES_HANDED_PER_DESTINATION_MAX,
  MESSAGES_HANDED_PER_STEP,
  REPORTS_PER_COMMIT,
} from "../../../core/config/notification-limits.ts";
import type { CoordinatorMessage } from "../../../core/protocol/query.ts";
import { type Alert, isFiring } from "../../../domain/alerting/paging/alert.ts";
import type { AlertMessage } from "../../../domain/notification/alert-message.ts";
import { isPage } from "../../../domain/notification/channel-delivery.ts";
import { ChannelHealth, type ChannelState } from "../../../domain/notification/channel-health.ts";
import { causeMessage } from "../../../domain/notification/decided-messages.ts";
import type { Destination } from "../../../domain/notification/destinations.ts";
import { joinsOf, rankOf } from "../../../domain/notification/message-joins.ts";
import { type Notification, notificationOf } from "../../../domain/notification/notification-state.ts";
import type { DeliveryReport, HandedDelivery, HandedKey, NotifierCommand } from "../../../domain/notification/notifier-messages.ts";
import { summaryOf } from "../../../domain/rca/advice.ts";
import type { AlertFollower } from "../alerts/alert-follower.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { RcaReport } from "../analysis/report-row.ts";
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import { DeadLetterDraft } from "../dead-letters/dead-letter-draft.ts";
import type { DeadLetterBooks } from "../dead-letters/dead-letters-context.ts";
import { decodeEntry } from "../deliveries/delivery-form.ts";
import { keyOfText, keyText, tenantOfKey } from "../deliveries/delivery-key.ts";
import type { LabelBooks } from "../labels/labels-context.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import { scan } from "../state/scan.ts";
import type { StateWith } from "../state/stored-state.ts";
import { currentRow, type DeliveryRow, deliveryKey, laneOf } from "./delivery-row.ts";
import { deliveryView } from "./delivery-view.ts";
import { type HeldRow, HeldRows } from "./held-rows.ts";
import { jsonEntry } from "./json-deliveries.ts";
import { type ChangedRow, OutboxDraft } from "./outbox-draft.ts";
import { type NotificationOptions, Routes } from "./routes.ts";
import type { RoutingBooks } from "./routing-book.ts";
import { type StoreTurns, StoreWork } from "./store-work.ts";
import { CHANNEL_ROW, rowsOfAlert } from "./stored-channel.ts";
import { WaitingRows } from "./waiting-rows.ts";

/** The notifier's end. */
interface NotifierLink {
  send(command: NotifierCommand): void;
}

export interface OutboxDependencies extends StoreTurns {
  readonly state: StateWith<AlertBooks & AnomalyBooks & DeadLetterBooks, LabelBooks & RoutingBooks>;
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
  readonly destination: Destination;
  readonly message: AlertMessage;
}

interface RecallableRow extends HeldRow {
  isRecalled: boolean;
}

const NOBODY = "nobody is notified: no channel is configured";
/** In names of counters. */
const COUNTED = { delivered: "Delivered", retried: "Retried", exhausted: "Exhausted" } as const;
/** Random bytes of the name of a run, which no earlier one had. */
const RUN_BYTES = 8;

export class Outbox implements AlertFollower {
  readonly routes: Routes;
  readonly health = new ChannelHealth();
  readonly #hints: readonly string[];
  readonly #dependencies: OutboxDependencies;
  readonly #control: KeyValueStore;
  readonly #held = new HeldRows<RecallableRow>(() => this.#handed);
  readonly #waiting = new WaitingRows();
  readonly #exhaustedMs = new Map<string, number>();
  #reports: DeliveryReport[] = [];
  /** Reports whose cause is to be told. */
  #causes = new Map<string, RcaReport>();
  #link: NotifierLink | undefined;
  #run: string;
  #runs = 0;
  #serial = 0;
  readonly #work: StoreWork;

  /** Nobody is notified where no options are given. */
  constructor(options: NotificationOptions | undefined, dependencies: OutboxDependencies) {
    const { state, randomBytes } = dependencies;
    const { routing, labels } = state.configured;
    this.routes = new Routes(routing, labels, options?.publicUrl ?? null);
    this.#hints = options?.hints ?? [];
    this.#run = `${Buffer.from(randomBytes(RUN_BYTES)).toString("hex")}-${dependencies.nowMs()}`;
    this.#dependencies = dependencies;
    this.#control = state.control;
    this.#work = new StoreWork("the deliveries to channels", () => this.#step(), dependencies);
    state.alerts.follower = this;
  }

  /** Reads which rows have something to be sent. To be called once, before anything is committed. */
  load(): void {
    for (const { key, value } of scan(this.#control, "outbox")) {
      const { lane, isUrgent } = decodeEntry(value, jsonEntry);
      this.#waiting.add(lane, keyText(key), isUrgent);
    }
    this.#count();
  }

  draft(): OutboxDraft {
    const { nowMs, randomBytes, state } = this.#dependencies;
    return new OutboxDraft({
      control: this.#control,
      timeline: state.alerts.timeline,
      routes: this.routes,
      run: this.#run,
      isHeld: (key) => this.#held.has(key),
      nowMs,
      random: () => Buffer.from(randomBytes(4)).readUInt32LE() / 2 ** 32,
      letters: () => new DeadLetterDraft(state),
      committed: (draft) => this.#committed(draft),
    });
  }

  removal(tenant: string, alertId: string): StoreOperation[] {
    return rowsOfAlert(this.#control, tenant, alertId).flatMap(({ key }) => [
      { table: "deliveries", key, value: undefined },
      { table: "outbox", key, value: undefined },
    ]);
  }

  /** A notifier is there. */
  connect(link: NotifierLink): void {
    this.disconnect();
    this.#link = link;
    this.#dependencies.counters.add("notifierStarts", 1);
    this.#work.want();
  }

  /** The notifier has ended: what it had in its hands may have been sent. */
  disconnect(): void {
    if (this.#link === undefined) return;
    this.#link = undefined;
    this.#reports = [];
    this.#run = `${this.#run.split(".", 1)[0]}.${++this.#runs}`;
    this.#held.returnTo(this.#waiting);
  }

  /** Takes what the notifier reports. */
  take(reports: readonly DeliveryReport[]): void {
    this.#reports.push(...reports);
    this.#work.want();
  }

  /** A revision of a report is stored: who was informed of its alerts hears of the cause, once there is one. */
  reportRevised(report: RcaReport): void {
    if (!report.analysis.enough) return;
    this.#causes.set(report.id, report);
    this.#work.want();
  }

  /** Nothing is handed over any more. */
  stop(): void {
    this.#work.stop();
  }

  facts(tenant: string): NotifierFacts {
    const { nowMs } = this.#dependencies;
    const hints = this.#hints;
    const waiting = this.#held.size + this.#waiting.size;
    if (!this.routes.isAnyConfigured) return { state: "disabled", reasons: [...hints], waiting, failing: [] };
    const troubles: string[] = [];
    if (this.#link === undefined) troubles.push("the notifier has ended and is being started again");
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

  /** Deliveries of an alert to channels, as its answer shows them. */
  view({ state }: Alert) {
    const rows = rowsOfAlert(this.#control, state.key.tenant, state.id).map(({ row }) => row);
    return {
      deliveries: rows.map(deliveryView),
      delivery_note: rows.length === 0 && !this.routes.isAnyConfigured ? NOBODY : null,
    };
  }

  get #handed() {
    return this.#dependencies.state.shares.ledger("messages_handed");
  }

  /** One commit of outcomes, one run of handing over; true where there is more of either. */
  async #step(): Promise<boolean> {
    const run = this.#run;
    const reports = this.#reports.splice(0, REPORTS_PER_COMMIT);
    const causes = this.#causes;
    this.#causes = new Map();
    const draft = this.draft();
    for (const report of causes.values()) this.#reportCause(draft, report);
    for (const report of reports.flatMap((one) => this.#current(one))) draft.settle(report);
    try {
      const operations = draft.operations([]);
      // What a loss of power takes of it is sent again under the same key.
      if (operations.length > 0) await this.#control.commit(operations, { flushLater: true });
    } catch (error) {
      if (run === this.#run) this.#reports.unshift(...this.#answered(reports));
      for (const [id, report] of causes) if (!this.#causes.has(id)) this.#causes.set(id, report);
      throw error;
    }
    draft.apply();
    return this.#reports.length > 0 || this.#handOver(MESSAGES_HANDED_PER_STEP);
  }

  /** A report as far as it is of rows that are still handed over. */
  #current(report: DeliveryReport): DeliveryReport[] {
    const isHeld = ({ key, serial }: HandedKey) => this.#held.get(key)?.serial === serial;
    if (report.kind === "recalled") return isHeld(report) ? [report] : [];
    const deliveries = report.deliveries.filter(isHeld);
    // A mail of which a part is not here any more is not joined.
    const isPart = report.kind === "joining" && deliveries.length < report.deliveries.length;
    return [{ ...report, deliveries: isPart ? [] : deliveries }];
  }

  /** Reports that are to be stored later. Where nothing can be stored no mail waits for it: each message leaves by itself. */
  #answered(reports: readonly DeliveryReport[]): DeliveryReport[] {
    for (const report of reports) {
      if (report.kind === "joining") this.#link?.send({ type: "join", id: report.id, destination: report.destination, name: null });
    }
    return reports.filter(({ kind }) => kind !== "joining");
  }

  #reportCause(draft: OutboxDraft, report: RcaReport): void {
    const { state, nowMs } = this.#dependencies;
    const { tenant, anomalies, analysis } = report;
    const alertIds = new Set(anomalies.map((id) => state.anomalies.find(tenant, id)?.paging?.alertId));
    for (const alertId of alertIds) {
      const alert = alertId == null ? undefined : state.alerts.find(tenant, alertId);
      if (alert === undefined || !isFiring(alert)) continue;
      const text = summaryOf(analysis);
      // A revision that says the same is no line more.
      const known = state.alerts.timeline.read(tenant, alert.state.id).findLast(({ kind }) => kind === "cause");
      if (known?.text !== text) draft.note({ tenant, alertId: alert.state.id }, { atMs: nowMs(), kind: "cause", by: null, text });
      draft.reportCause(causeMessage(alert, text, nowMs(), this.routes.facts(alert)));
    }
  }

  #committed(draft: OutboxDraft): void {
    const { counters, nowMs, state } = this.#dependencies;
    for (const { notifier, outcome, latencyMs, tenant, destination, endedAtMs, error } of draft.settled) {
      if (destination !== null) this.health.note(tenant, destination, endedAtMs, error);
      counters.add(`${notifier}${COUNTED[outcome]}`, 1);
      if (latencyMs !== null) counters.notifyLatency(latencyMs / 1_000);
      if (outcome === "exhausted") this.#exhaustedMs.set(tenant, nowMs());
    }
    for (const key of draft.back) this.#held.release(key);
    for (const changed of draft.changed) this.#place(changed);
    for (const join of draft.joins) this.#link?.send(join);
    this.#handOver(MESSAGES_HANDED_PER_STEP);
    this.#tellReaders(draft);
    if (draft.settled.length > 0) counters.set("channelsFailing", this.health.failingCount(nowMs()));
    counters.set("deadLetters", state.deadLetters.total);
  }

  /** Who reads events learns which alerts were told by now, or will not be. */
  #tellReaders({ settled }: OutboxDraft): void {
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
  #place({ key, row }: ChangedRow): void {
    const { message, waiting } = row.delivery;
    if (row.destination === null) return;
    const lane = laneOf(row.destination, tenantOfKey(key));
    const held = this.#held.get(key);
    if (held === undefined) {
      if (message === null) this.#waiting.remove(lane, key);
      else this.#waiting.add(lane, key, isPage(message.kind));
    } else if (waiting.length > 0 && !held.isRecalled && row.delivery.joined === undefined) {
      held.isRecalled = true;
      this.#link?.send({ type: "recall", tenant: held.tenant, key, destination: row.destination });
    }
  }

  /** Hands over what there is room for, a destination after the other; true where more could be. */
  #handOver(most: number): boolean {
    const deliveries: HandedDelivery[] = [];
    if (this.#link !== undefined && !this.#work.isStopped) {
      for (const lane of this.#waiting.lanes()) {
        if (this.#handed.taken >= this.#handed.most) break;
        while (deliveries.length < most) {
          const handed = this.#handFirst(lane);
          if (handed === undefined) break;
          deliveries.push(...handed);
        }
        if (deliveries.length >= most) break;
      }
      if (deliveries.length > 0) this.#link.send({ type: "send", deliveries });
    }
    this.#count();
    return deliveries.length >= most;
  }

  /** Hands over what leaves first for a destination; undefined where there is no room, or nothing. */
  #handFirst(lane: string): HandedDelivery[] | undefined {
    const key = this.#waiting.first(lane);
    if (key === undefined) return undefined;
    const most = this.#waiting.isUrgent(lane, key) ? MESSAGES_HANDED_PER_DESTINATION_MAX : ENDS_HANDED_PER_DESTINATION_MAX;
    if (this.#held.count(lane) >= most || this.#handed.room(tenantOfKey(key)) < 1) return undefined;
    const row = this.#rowOf(key);
    if (row === undefined) {
      this.#waiting.remove(lane, key);
      return [];
    }
    const parts = this.#partsOf(tenantOfKey(key), row).map((part) => this.#hand(lane, part));
    const dueAtMs = Math.max(...parts.map((part) => part.dueAtMs));
    return parts.map((part) => ({ ...part, dueAtMs }));
  }

  /** The row with what is to be sent, or all parts of the mail that it is a part of, in their order. */
  #partsOf(tenant: string, row: WaitingRow): WaitingRow[] {
    const { destination, channel, delivery } = row;
    const { joined } = delivery;
    if (joined === undefined) return [row];
    const parts = joined.alertIds.flatMap((alertId) => {
      const part = this.#rowOf(keyText(deliveryKey(tenant, alertId, destination, channel)));
      return part?.delivery.joined?.name === joined.name && !this.#held.has(part.key) ? [part] : [];
    });
    return parts.length === 0 ? [row] : parts;
  }

  /** A row with something to be sent; undefined where it is gone. */
  #rowOf(key: string): WaitingRow | undefined {
    const stored = this.#control.get("deliveries", keyOfText(key));
    const row = stored && currentRow(CHANNEL_ROW.decode(stored), this.#run, false);
    const message = row?.delivery.message;
    return row?.destination == null || message == null ? undefined : { ...row, key, message, destination: row.destination };
  }

  #hand(lane: string, { key, destination, message, delivery }: WaitingRow): HandedDelivery {
    const tenant = tenantOfKey(key);
    this.#waiting.remove(lane, key);
    const serial = ++this.#serial;
    this.#held.hold(key, { serial, tenant, lane, isRecalled: false, isUrgent: isPage(message.kind) });
    const { alone, joined, nextAttemptAtMs: dueAtMs } = delivery;
    const joins = alone === true ? null : joinsOf(message);
    return { key, serial, tenant, destination, message, dueAtMs, rank: rankOf(message), joins, joined: joined?.name ?? null };
  }

  #count(): void {
    this.#dependencies.counters.set("outboxDepth", this.#held.size + this.#waiting.size);
  }
}
