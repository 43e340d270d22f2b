/**
 * Events on their way to webhooks: which are decided, what waits for a cause, what an outcome comes to, and which webhooks pause. The outbox hands them over; a delivery
 * is stored in the transaction that stores its anomaly. One that waits for root-cause analysis is let go by a revision of its report, or when its time is over.
 */
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import {
  FAULT_PAUSE_MS,
  FAULTS_IN_A_ROW,
  WEBHOOK_CAUSE_WAIT_MS,
  WEBHOOK_EVENTS_HANDED_PER_WEBHOOK_MAX,
  WEBHOOK_OLD_SECRET_MS,
} from "../../core/config/webhook-limits.ts";
import { background, task } from "../../core/faults/guard.ts";
import { messageOf } from "../../core/text/error-text.ts";
import { type AttemptOutcome, isOpen } from "../../domain/delivery/delivery.ts";
import { type FaultPause, FaultPauses } from "../../domain/webhooks/fault-pauses.ts";
import type { DeliveryReport, LeavingDelivery, WebhookTarget } from "../../domain/webhooks/outbound-messages.ts";
import type { Webhook } from "../../domain/webhooks/webhook.ts";
import type { RcaReport } from "../analysis/report-row.ts";
import type { AnomalyFollower } from "../anomalies/anomaly-follower.ts";
import { keyOfText, keyText } from "../deliveries/delivery-key.ts";
import type { DeliveryKind, DeliveryWork } from "../deliveries/delivery-kind.ts";
import type { Outbox } from "../deliveries/outbox.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import { scan } from "../state/scan.ts";
import { EVENT_ROW, EVENT_TABLES } from "./stored-event.ts";
import { WebhookDraft, type WebhookDraftState } from "./webhook-draft.ts";
import { deliveryPosition, type ExpiredDelivery, type WebhookDeliveryRow } from "./webhook-row.ts";

export interface WebhookDeliveriesDependencies {
  readonly state: WebhookDraftState;
  readonly counters: CoordinatorCounters;
  nowMs(): number;
  sleep(ms: number): Promise<void>;
  /** Has the notifier started where it does not run. */
  wantNotifier(): void;
  /** The key of v1a signatures. */
  signingKey(): string;
  /** PUBLIC_URL; null where there is none. */
  readonly publicUrl: string | null;
}

export class WebhookDeliveries implements AnomalyFollower, DeliveryKind {
  readonly name = "webhook";
  readonly #dependencies: WebhookDeliveriesDependencies;
  /** The receiver is the webhook's id. */
  readonly #outbox: Outbox;
  readonly #control: KeyValueStore;
  readonly #pauses = new FaultPauses();
  /** Webhooks whose target the notifier has. */
  readonly #aimed = new Set<string>();
  /** Rows that are not done with, by webhook. */
  readonly #opened = new Map<string, Set<string>>();
  /** Rows that wait for their cause, by anomaly. */
  readonly #gathering = new Map<string, Set<string>>();
  /** Those of them that wait for any cause, and not for long. */
  readonly #holds = new DueRows(WEBHOOK_CAUSE_WAIT_MS);
  #released = new Set<string>();
  #sleepsUntilMs = Number.POSITIVE_INFINITY;

  constructor(outbox: Outbox, dependencies: WebhookDeliveriesDependencies) {
    this.#outbox = outbox;
    this.#dependencies = dependencies;
    this.#control = dependencies.state.control;
    dependencies.state.anomalies.follower = this;
    outbox.register(this);
  }

  load(): void {
    const { webhooks } = this.#dependencies.state.configured;
    const rows: Array<readonly [string, WebhookDeliveryRow]> = [];
    for (const { key } of scan(this.#control, EVENT_TABLES.open)) {
      const stored = this.#control.get(EVENT_TABLES.log, key);
      if (stored === undefined || webhooks.byId(deliveryPosition(key).webhookId) === undefined) continue;
      rows.push([keyText(key), EVENT_ROW.decode(stored)]);
    }
    rows.sort(([, a], [, b]) => (a.holdUntilMs ?? 0) - (b.holdUntilMs ?? 0));
    for (const [key, row] of rows) this.#enqueue(key, row);
    if (webhooks.size > 0) this.#dependencies.wantNotifier();
  }

  get places() {
    return this.#dependencies.state.shares.ledger("webhook_events_handed");
  }

  /** Events that are not done with: those that wait for their cause too. */
  get size(): number {
    return this.#capacity.taken;
  }

  /** PUBLIC_URL; null where there is none. */
  get publicUrl(): string | null {
    return this.#dependencies.publicUrl;
  }

  follows(tenant: string): boolean {
    return this.#dependencies.state.configured.webhooks.has(tenant);
  }

  draft(): WebhookDraft {
    const { state, nowMs, publicUrl } = this.#dependencies;
    return new WebhookDraft({
      state,
      publicUrl,
      control: this.#control,
      nowMs,
      waiting: (webhookId) => this.#opened.get(webhookId)?.size ?? 0,
      hasCapacity: (tenant) => this.#capacity.available(tenant) >= 1,
      committed: (draft) => this.#committed(draft),
    });
  }

  connected(): void {
    this.#outbox.send({ type: "webhook-key", privateKey: this.#dependencies.signingKey() });
    for (const webhook of this.#dependencies.state.configured.webhooks.all()) this.aim(webhook);
  }

  disconnected(): void {
    this.#aimed.clear();
  }

  handedMost(): number {
    return WEBHOOK_EVENTS_HANDED_PER_WEBHOOK_MAX;
  }

  mayLeave(webhookId: string): boolean {
    return this.#aimed.has(webhookId) && this.#dependencies.state.configured.webhooks.byId(webhookId)?.enabled === true;
  }

  leaving(key: string): LeavingDelivery[] {
    const bytes = keyOfText(key);
    const stored = this.#control.get(EVENT_TABLES.log, bytes);
    const row = stored && EVENT_ROW.decode(stored);
    if (row?.state !== "pending" || row.event === null) return [];
    const { eventId, event, nextAttemptAtMs: dueAtMs } = row;
    const { tenant, webhookId } = deliveryPosition(bytes);
    return [{ key, tenant, dueAtMs, rank: 0, joins: null, joined: null, kind: "webhook", webhookId, eventId, event }];
  }

  work(reports: readonly DeliveryReport[]): DeliveryWork {
    const released = this.#released;
    this.#released = new Set();
    const draft = this.draft();
    for (const report of reports) draft.settle(report);
    for (const key of released) draft.release(key, false);
    for (const key of this.#holds.due(this.#dependencies.nowMs())) draft.release(key, true);
    return {
      operations: () => draft.operations([]),
      apply: () => {
        draft.apply();
        for (const report of reports) this.#judge(report);
      },
      undone: () => {
        for (const key of released) this.#released.add(key);
      },
    };
  }

  /** A webhook is new, or has changed. */
  aim(webhook: Webhook): void {
    if (!webhook.enabled) this.#call(webhook.id);
    else if (!this.#outbox.isConnected) this.#dependencies.wantNotifier();
    else if (this.pause(webhook) === null) this.#point(webhook);
    this.#outbox.want();
  }

  /** A webhook was saved: it begins anew, whatever it has failed by before. */
  saved(webhook: Webhook): void {
    this.#pauses.forget(webhook.id);
    this.aim(webhook);
  }

  /** Why a webhook sends nothing now; null where it does. */
  pause({ id }: Webhook): FaultPause | null {
    return this.#pauses.pause(id, this.#dependencies.nowMs());
  }

  /** Gives the notifier the target. One that cannot be given is the webhook's fault, and not the server's. */
  #point(webhook: Webhook): void {
    try {
      this.#outbox.send({ type: "webhook-target", target: this.target(webhook) });
      this.#aimed.add(webhook.id);
    } catch (error) {
      this.#aimed.delete(webhook.id);
      this.#fault(webhook.id, messageOf(error), FAULTS_IN_A_ROW);
    }
  }

  #fault(webhookId: string, error: string, times = 1): void {
    const { nowMs } = this.#dependencies;
    for (let i = 0; i < times; i++) {
      if (!this.#pauses.failed(webhookId, error, nowMs())) continue;
      this.#call(webhookId);
      this.#resumeLater(webhookId);
      break;
    }
    this.count();
  }

  /** What waits for a webhook leaves again once its pause is over. */
  #resumeLater(webhookId: string): void {
    const { sleep, state, nowMs } = this.#dependencies;
    const untilMs = this.#pauses.pause(webhookId, nowMs())?.untilMs ?? 0;
    const resumed = sleep(FAULT_PAUSE_MS).then(() => {
      this.#pauses.end(webhookId, untilMs);
      const webhook = state.configured.webhooks.byId(webhookId);
      if (webhook !== undefined && !this.#outbox.isStopped && this.pause(webhook) === null) this.aim(webhook);
    });
    background(task("the end of a webhook's pause"), resumed);
  }

  /** A webhook is gone: what waits for it has an end. */
  forget({ id, tenant }: Webhook): void {
    this.#pauses.forget(id);
    this.#call(id);
    this.#outbox.queue.clear(id);
    for (const key of this.#opened.get(id) ?? []) this.#holds.remove(key);
    for (const [name, keys] of this.#gathering) {
      for (const key of keys) if (deliveryPosition(keyOfText(key)).webhookId === id) keys.delete(key);
      if (keys.size === 0) this.#gathering.delete(name);
    }
    this.#capacity.give(tenant, this.#opened.get(id)?.size ?? 0);
    this.#opened.delete(id);
    this.count();
  }

  target({ id, tenant, url, method, headers, transform, secret, formerSecret, formerSecretUntilMs }: Webhook): WebhookTarget {
    const forEver = Number.MAX_SAFE_INTEGER;
    const former = formerSecret === null ? [] : [{ secret: formerSecret, untilMs: formerSecretUntilMs }];
    const secrets = secret === null ? [] : [{ secret, untilMs: forEver }, ...former];
    return { id, tenant, url, method, headers, transform, secrets };
  }

  /** The webhook with another secret: the one before signs beside it for a day. */
  static withSecret(webhook: Webhook, secret: string | null, nowMs: number): Webhook {
    if (secret === webhook.secret) return webhook;
    return { ...webhook, secret, formerSecret: webhook.secret, formerSecretUntilMs: nowMs + WEBHOOK_OLD_SECRET_MS };
  }

  /** A revision of a report is stored: events of its anomalies that wait for it are asked again. */
  reportRevised({ tenant, anomalies }: RcaReport): void {
    for (const id of anomalies) {
      const keys = this.#gathering.get(JSON.stringify([tenant, id]));
      for (const key of keys ?? []) this.#released.add(key);
    }
    if (this.#released.size > 0) this.#outbox.want();
  }

  /** Rows are gone before they were done with: they were too old. */
  expired(rows: readonly ExpiredDelivery[]): void {
    for (const { key, row } of rows) {
      this.#outbox.queue.release(keyText(key));
      this.#enqueue(keyText(key), { ...row, state: "dropped" });
    }
    this.count();
  }

  get #capacity() {
    return this.#dependencies.state.shares.ledger("webhook_events_waiting");
  }

  /** Takes back what the notifier has of a webhook. */
  #call(webhookId: string): void {
    this.#aimed.delete(webhookId);
    this.#outbox.send({ type: "webhook-gone", webhookId });
    const { queue } = this.#outbox;
    queue.giveBack(queue.allHanded(webhookId));
  }

  /** Counts failures of a webhook's own, which a receiver's are not. */
  #judge(report: DeliveryReport): void {
    if (report.kind !== "attempted") return;
    for (const { key } of report.deliveries) this.#judged(deliveryPosition(keyOfText(key)).webhookId, report.outcome);
  }

  #judged(webhookId: string, outcome: AttemptOutcome): void {
    if (this.#dependencies.state.configured.webhooks.byId(webhookId) === undefined) return;
    if (outcome.kind === "delivered") this.#pauses.forget(webhookId);
    else if (outcome.answer?.fault === true) this.#fault(webhookId, outcome.error);
  }

  #committed(draft: WebhookDraft): void {
    const { counters, state, wantNotifier } = this.#dependencies;
    for (const key of draft.back) this.#outbox.queue.release(key);
    for (const [key, row] of draft.changed) this.#enqueue(key, row);
    for (const webhook of draft.disabled) this.aim(webhook);
    counters.add("webhooksSucceeded", draft.counts.delivered);
    counters.add("webhooksFailed", draft.counts.failed);
    counters.add("webhooksExhausted", draft.counts.exhausted);
    counters.add("webhooksDropped", draft.counts.dropped);
    counters.set("deadLetters", state.deadLetters.total);
    if (this.#outbox.isConnected || this.#outbox.queue.size(this) === 0) this.#outbox.handOver();
    else if (!this.#outbox.isStopped) wantNotifier();
    this.#restUntilDue();
  }

  /** Where a row belongs now. */
  #enqueue(key: string, row: WebhookDeliveryRow): void {
    const { queue } = this.#outbox;
    const { tenant, webhookId } = deliveryPosition(keyOfText(key));
    if (row.state === "held") this.#gather(tenant, key, row);
    else this.#gathered(tenant, key, row);
    if (row.state === "pending") queue.add(key, { kind: this, receiver: webhookId, isUrgent: false });
    else queue.remove(key, webhookId);
    if (isOpen(row)) this.#open(tenant, webhookId, key);
    else this.#close(tenant, webhookId, key);
  }

  #gather(tenant: string, key: string, { anomalyId, holdUntilMs }: WebhookDeliveryRow): void {
    const name = JSON.stringify([tenant, anomalyId]);
    const keys = this.#gathering.get(name) ?? new Set<string>();
    this.#gathering.set(name, keys.add(key));
    if (holdUntilMs !== null) this.#holds.add(key, holdUntilMs);
  }

  #gathered(tenant: string, key: string, { anomalyId }: WebhookDeliveryRow): void {
    const name = JSON.stringify([tenant, anomalyId]);
    const keys = this.#gathering.get(name);
    keys?.delete(key);
    if (keys?.size === 0) this.#gathering.delete(name);
    this.#holds.remove(key);
  }

  #open(tenant: string, webhookId: string, key: string): void {
    const keys = this.#opened.get(webhookId) ?? new Set<string>();
    this.#opened.set(webhookId, keys);
    if (keys.has(key)) return;
    keys.add(key);
    this.#capacity.add(tenant);
  }

  #close(tenant: string, webhookId: string, key: string): void {
    const keys = this.#opened.get(webhookId);
    if (keys?.delete(key) !== true) return;
    this.#capacity.give(tenant);
    if (keys.size === 0) this.#opened.delete(webhookId);
  }

  /** Looks again when the first of those that gather has waited long enough. */
  #restUntilDue(): void {
    const { nowMs, sleep } = this.#dependencies;
    const dueMs = this.#holds.nextAtMs(nowMs()) ?? Number.POSITIVE_INFINITY;
    if (dueMs >= this.#sleepsUntilMs) return;
    this.#sleepsUntilMs = dueMs;
    const woken = sleep(Math.max(0, dueMs - nowMs()) + 1).then(() => {
      if (this.#sleepsUntilMs === dueMs) this.#sleepsUntilMs = Number.POSITIVE_INFINITY;
      if (!this.#outbox.isStopped) this.#outbox.want();
    });
    background(task("the deliveries of webhooks"), woken);
  }

  count(): void {
    const { counters, nowMs } = this.#dependencies;
    counters.set("webhookOutboxDepth", this.size);
    counters.set("webhooksPaused", this.#pauses.count(nowMs()));
  }
}

/** Rows that wait until a time, the first due first: all wait equally long, so that they stand in the order in which they came. 100 B a row. */
export class DueRows {
  readonly #waitMs: number;
  readonly #rows = new Map<string, number>();

  /** `waitMs`: how long a row waits at most. */
  constructor(waitMs: number) {
    this.#waitMs = waitMs;
  }

  get size(): number {
    return this.#rows.size;
  }

  /** A row that is here keeps its place. */
  add(key: string, untilMs: number): void {
    if (!this.#rows.has(key)) this.#rows.set(key, untilMs);
  }

  remove(key: string): void {
    this.#rows.delete(key);
  }

  /** Rows whose time is over. One that would wait longer than any does stands behind a clock that was put back: it has waited. */
  due(nowMs: number): string[] {
    const due: string[] = [];
    for (const [key, untilMs] of this.#rows) {
      if (!this.#isOver(untilMs, nowMs)) break;
      due.push(key);
    }
    return due;
  }

  /** When the first is due; undefined where none waits. */
  nextAtMs(nowMs: number): number | undefined {
    for (const untilMs of this.#rows.values()) return this.#isOver(untilMs, nowMs) ? nowMs : untilMs;
    return undefined;
  }

  #isOver(untilMs: number, nowMs: number): boolean {
    return untilMs <= nowMs || untilMs > nowMs + this.#waitMs;
  }
}
