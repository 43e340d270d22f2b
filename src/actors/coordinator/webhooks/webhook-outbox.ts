/**
 * Events on their way to webhooks. A delivery is stored in the transaction that stores its anomaly; what waits is handed to the notifier, so many at a time for each
 * webhook, and what becomes of an attempt is stored before the next. An event that waits for root-cause analysis is let go by a revision of its report, or when its
 * time is over. All of it happens between transactions.
 */
import type { KeyValueStore } from "../../../adapters/storage/key-value-store.ts";
import { background, task } from "../../../core/base/guard.ts";
import { REPORTS_PER_COMMIT } from "../../../core/config/notification-limits.ts";
import {
  FAULT_PAUSE_MS,
  FAULTS_IN_A_ROW,
  WEBHOOK_CAUSE_WAIT_MS,
  WEBHOOK_EVENTS_HANDED_PER_WEBHOOK_MAX,
  WEBHOOK_EVENTS_PER_STEP,
  WEBHOOK_OLD_SECRET_MS,
} from "../../../core/config/webhook-limits.ts";
import { isOpen } from "../../../domain/delivery/delivery.ts";
import { type FaultPause, FaultPauses } from "../../../domain/webhooks/fault-pauses.ts";
import type { Webhook } from "../../../domain/webhooks/webhook.ts";
import type { HandedEvent, WebhookReport, WebhookTarget } from "../../../domain/webhooks/webhook-messages.ts";
import type { RcaReport } from "../analysis/report-row.ts";
import type { AnomalyFollower } from "../anomalies/anomaly-follower.ts";
import { keyOfText, keyText } from "../deliveries/delivery-key.ts";
import { type HeldRow, HeldRows } from "../notification/held-rows.ts";
import type { OutboundLink } from "../notification/outbound-calls.ts";
import { type StoreTurns, StoreWork } from "../notification/store-work.ts";
import { WaitingRows } from "../notification/waiting-rows.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import { scan } from "../state/scan.ts";
import { DueRows } from "./due-rows.ts";
import { EVENT_ROW } from "./stored-event.ts";
import { type ChangedDelivery, WebhookDraft, type WebhookDraftState } from "./webhook-draft.ts";
import { deliveryPlace, type ExpiredDelivery } from "./webhook-row.ts";

export interface WebhookOutboxDependencies extends StoreTurns {
  readonly state: WebhookDraftState;
  readonly counters: CoordinatorCounters;
  nowMs(): number;
  /** Has the notifier started where it does not run. */
  wantNotifier(): void;
  /** The key of v1a signatures. */
  signingKey(): string;
  /** PUBLIC_URL; null where there is none. */
  readonly publicUrl: string | null;
}

export class WebhookOutbox implements AnomalyFollower {
  readonly #dependencies: WebhookOutboxDependencies;
  readonly #control: KeyValueStore;
  readonly #waiting = new WaitingRows();
  /** The lane is the webhook's id. */
  readonly #held = new HeldRows<HeldRow>(() => this.#handed);
  readonly #work: StoreWork;
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
  #reports: WebhookReport[] = [];
  #link: OutboundLink | undefined;
  #serial = 0;
  #sleepsUntilMs = Number.POSITIVE_INFINITY;

  constructor(dependencies: WebhookOutboxDependencies) {
    this.#dependencies = dependencies;
    this.#control = dependencies.state.control;
    this.#work = new StoreWork("the deliveries of webhooks", () => this.#step(), dependencies);
    dependencies.state.anomalies.follower = this;
  }

  /** Reads what waits. To be called once, before anything is committed. */
  load(): void {
    const { webhooks } = this.#dependencies.state.configured;
    const rows: Array<ChangedDelivery & { readonly key: string }> = [];
    for (const { key } of scan(this.#control, "webhook_outbox")) {
      const stored = this.#control.get("webhook_deliveries", key);
      const place = deliveryPlace(key);
      if (stored === undefined || webhooks.byId(place.webhookId) === undefined) continue;
      rows.push({ key: keyText(key), place, row: EVENT_ROW.decode(stored), isNew: true });
    }
    rows.sort((a, b) => (a.row.holdUntilMs ?? 0) - (b.row.holdUntilMs ?? 0));
    for (const { key, ...changed } of rows) this.#place(key, changed);
    this.#count();
    if (webhooks.size > 0) this.#dependencies.wantNotifier();
  }

  /** Events that are not done with: those that wait for their cause too. */
  get size(): number {
    return this.#room.taken;
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
      hasRoom: (tenant) => this.#room.room(tenant) >= 1,
      committed: (draft) => this.#committed(draft),
    });
  }

  /** A notifier is there. */
  connect(link: OutboundLink): void {
    this.disconnect();
    this.#link = link;
    link.send({ type: "webhook-key", privateKey: this.#dependencies.signingKey() });
    for (const webhook of this.#dependencies.state.configured.webhooks.all) this.aim(webhook);
    this.#work.want();
  }

  /** The notifier has ended: what it had in its hands is sent again under the same id. */
  disconnect(): void {
    this.#link = undefined;
    this.#aimed.clear();
    this.#reports = [];
    this.#held.returnTo(this.#waiting);
  }

  take(reports: readonly WebhookReport[]): void {
    this.#reports.push(...reports);
    this.#work.want();
  }

  /** A webhook is new, or has changed. */
  aim(webhook: Webhook): void {
    if (!webhook.enabled) this.#call(webhook.id);
    else if (this.#link === undefined) this.#dependencies.wantNotifier();
    else if (this.pause(webhook) === null) this.#point(webhook, this.#link);
    this.#work.want();
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
  #point(webhook: Webhook, link: OutboundLink): void {
    try {
      link.send({ type: "webhook-target", target: this.target(webhook) });
      this.#aimed.add(webhook.id);
    } catch (error) {
      this.#aimed.delete(webhook.id);
      this.#fault(webhook.id, error instanceof Error ? error.message : String(error), FAULTS_IN_A_ROW);
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
    this.#count();
  }

  /** What waits for a webhook leaves again once its pause is over. */
  #resumeLater(webhookId: string): void {
    const { sleep, state, nowMs } = this.#dependencies;
    const untilMs = this.#pauses.pause(webhookId, nowMs())?.untilMs ?? 0;
    const resumed = sleep(FAULT_PAUSE_MS).then(() => {
      this.#pauses.end(webhookId, untilMs);
      const webhook = state.configured.webhooks.byId(webhookId);
      if (webhook !== undefined && !this.#work.isStopped && this.pause(webhook) === null) this.aim(webhook);
    });
    background(task("the end of a webhook's pause"), resumed);
  }

  /** A webhook is gone: what waits for it has an end. */
  forget({ id, tenant }: Webhook): void {
    this.#pauses.forget(id);
    this.#call(id);
    for (let key = this.#waiting.first(id); key !== undefined; key = this.#waiting.first(id)) this.#waiting.remove(id, key);
    for (const key of this.#opened.get(id) ?? []) this.#holds.remove(key);
    for (const [name, keys] of this.#gathering) {
      for (const key of keys) if (deliveryPlace(keyOfText(key)).webhookId === id) keys.delete(key);
      if (keys.size === 0) this.#gathering.delete(name);
    }
    this.#room.give(tenant, this.#opened.get(id)?.size ?? 0);
    this.#opened.delete(id);
    this.#count();
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
    if (this.#released.size > 0) this.#work.want();
  }

  /** Rows are gone before they were done with: they were too old. */
  expired(rows: readonly ExpiredDelivery[]): void {
    for (const { key, row } of rows) {
      const place = deliveryPlace(key);
      const hex = keyText(key);
      this.#held.release(hex);
      this.#place(hex, { place, row: { ...row, state: "dropped" }, isNew: false });
    }
    this.#count();
  }

  /** Nothing is handed over any more. */
  stop(): void {
    this.#work.stop();
  }

  get #handed() {
    return this.#dependencies.state.shares.ledger("webhook_events_handed");
  }

  get #room() {
    return this.#dependencies.state.shares.ledger("webhook_events_waiting");
  }

  /** Takes back what the notifier has of a webhook. */
  #call(webhookId: string): void {
    this.#aimed.delete(webhookId);
    this.#link?.send({ type: "webhook-gone", webhookId });
    for (const key of this.#held.keysOf(webhookId)) {
      this.#held.release(key);
      this.#waiting.add(webhookId, key);
    }
  }

  /** One commit of outcomes and of events that are let go, one run of handing over; true where there is more of either. */
  async #step(): Promise<boolean> {
    const reports = this.#reports.splice(0, REPORTS_PER_COMMIT);
    const released = this.#released;
    this.#released = new Set();
    const draft = this.draft();
    for (const report of reports) if (this.#held.get(report.key)?.serial === report.serial) draft.settle(report);
    for (const key of released) draft.release(key, false);
    for (const key of this.#holds.due(this.#dependencies.nowMs())) draft.release(key, true);
    try {
      const operations = draft.operations([]);
      if (operations.length > 0) await this.#control.commit(operations, { flushLater: true });
    } catch (error) {
      this.#reports.unshift(...reports);
      for (const key of released) this.#released.add(key);
      throw error;
    }
    draft.apply();
    for (const { key, outcome } of reports) this.#judge(deliveryPlace(keyOfText(key)).webhookId, outcome);
    return this.#reports.length > 0 || this.#handOver();
  }

  /** Counts failures of a webhook's own, which a receiver's are not. */
  #judge(webhookId: string, outcome: WebhookReport["outcome"]): void {
    if (this.#dependencies.state.configured.webhooks.byId(webhookId) === undefined) return;
    if (outcome.answer?.fault === true) this.#fault(webhookId, outcome.kind === "delivered" ? "" : outcome.error);
    else if (outcome.kind === "delivered") this.#pauses.forget(webhookId);
  }

  #committed(draft: WebhookDraft): void {
    const { counters, state } = this.#dependencies;
    for (const key of draft.back) this.#held.release(key);
    for (const [key, changed] of draft.changed) this.#place(key, changed);
    for (const webhook of draft.disabled) this.aim(webhook);
    counters.add("webhooksSucceeded", draft.counts.delivered);
    counters.add("webhooksFailed", draft.counts.failed);
    counters.add("webhooksExhausted", draft.counts.exhausted);
    counters.add("webhooksDropped", draft.counts.dropped);
    counters.set("deadLetters", state.deadLetters.total);
    this.#handOver();
    this.#restUntilDue();
  }

  /** Where a row belongs now. */
  #place(key: string, { place, row }: ChangedDelivery): void {
    const { tenant, webhookId } = place;
    if (row.state === "held") this.#gather(tenant, key, row);
    else this.#gathered(tenant, key, row);
    if (row.state === "pending") this.#waiting.add(webhookId, key);
    else this.#waiting.remove(webhookId, key);
    if (isOpen(row)) this.#open(tenant, webhookId, key);
    else this.#close(tenant, webhookId, key);
  }

  #gather(tenant: string, key: string, { anomalyId, holdUntilMs }: ChangedDelivery["row"]): void {
    const name = JSON.stringify([tenant, anomalyId]);
    const keys = this.#gathering.get(name) ?? new Set<string>();
    this.#gathering.set(name, keys.add(key));
    if (holdUntilMs !== null) this.#holds.add(key, holdUntilMs);
  }

  #gathered(tenant: string, key: string, { anomalyId }: ChangedDelivery["row"]): void {
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
    this.#room.add(tenant);
  }

  #close(tenant: string, webhookId: string, key: string): void {
    const keys = this.#opened.get(webhookId);
    if (keys?.delete(key) !== true) return;
    this.#room.give(tenant);
    if (keys.size === 0) this.#opened.delete(webhookId);
  }

  #handOver(): boolean {
    const events: HandedEvent[] = [];
    const { webhooks } = this.#dependencies.state.configured;
    if (this.#link !== undefined && !this.#work.isStopped) {
      for (const webhookId of this.#waiting.lanes()) {
        if (events.length >= WEBHOOK_EVENTS_PER_STEP) break;
        if (webhooks.byId(webhookId)?.enabled !== true || !this.#aimed.has(webhookId)) continue;
        while (events.length < WEBHOOK_EVENTS_PER_STEP && this.#held.count(webhookId) < WEBHOOK_EVENTS_HANDED_PER_WEBHOOK_MAX) {
          const key = this.#waiting.first(webhookId);
          const handed = key === undefined ? undefined : this.#hand(webhookId, key);
          if (handed === undefined) break;
          if (handed !== "gone") events.push(handed);
        }
      }
      if (events.length > 0) this.#link.send({ type: "webhook-events", events });
    } else if (this.#waiting.size > 0 && !this.#work.isStopped) this.#dependencies.wantNotifier();
    this.#count();
    return events.length >= WEBHOOK_EVENTS_PER_STEP;
  }

  /** Undefined where its tenant has no room. */
  #hand(webhookId: string, key: string): HandedEvent | "gone" | undefined {
    const bytes = keyOfText(key);
    const { tenant } = deliveryPlace(bytes);
    if (this.#handed.room(tenant) < 1) return undefined;
    const stored = this.#control.get("webhook_deliveries", bytes);
    const row = stored && EVENT_ROW.decode(stored);
    this.#waiting.remove(webhookId, key);
    if (row?.state !== "pending" || row.event === null) return "gone";
    const serial = ++this.#serial;
    this.#held.hold(key, { serial, tenant, lane: webhookId });
    return { key, serial, webhookId, eventId: row.eventId, event: row.event, dueAtMs: row.nextAttemptAtMs };
  }

  /** Looks again when the first of those that gather has waited long enough. */
  #restUntilDue(): void {
    const { nowMs, sleep } = this.#dependencies;
    const dueMs = this.#holds.nextAtMs(nowMs()) ?? Number.POSITIVE_INFINITY;
    if (dueMs >= this.#sleepsUntilMs) return;
    this.#sleepsUntilMs = dueMs;
    const woken = sleep(Math.max(0, dueMs - nowMs()) + 1).then(() => {
      if (this.#sleepsUntilMs === dueMs) this.#sleepsUntilMs = Number.POSITIVE_INFINITY;
      if (!this.#work.isStopped) this.#work.want();
    });
    background(task("the deliveries of webhooks"), woken);
  }

  #count(): void {
    const { counters, nowMs } = this.#dependencies;
    counters.set("webhookOutboxDepth", this.size);
    counters.set("webhooksPaused", this.#pauses.count(nowMs()));
  }
}
