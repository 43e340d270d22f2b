// What one transaction does to deliveries of events: new ones for the anomalies that it changes, released ones, and outcomes of attempts. It may be thrown away and
// made again.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { WEBHOOK_CAUSE_WAIT_MS, WEBHOOK_EVENTS_WAITING_PER_WEBHOOK_MAX } from "../../core/config/webhook-limits.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import type { Anomaly } from "../../domain/anomaly/anomaly.ts";
import { isOpen, NEW_DELIVERY } from "../../domain/delivery/delivery.ts";
import { anomalyScore } from "../../domain/detection/anomaly-score.ts";
import type { DeliveryReport } from "../../domain/webhooks/outbound-messages.ts";
import { matchesSubject, searched, type Webhook } from "../../domain/webhooks/webhook.ts";
import { afterAttempt, type EventAttempt } from "../../domain/webhooks/webhook-delivery.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { AnalysisBooks } from "../analysis/analysis-context.ts";
import { rootCauseView } from "../analysis/root-cause-view.ts";
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import type { AnomalyFollowing, AnomalyStep } from "../anomalies/anomaly-follower.ts";
import { DeadLetterDraft } from "../dead-letters/dead-letter-draft.ts";
import type { DeadLetterBooks } from "../dead-letters/dead-letters-context.ts";
import { keyOfText, keyText, tenantOfKey } from "../deliveries/delivery-key.ts";
import { DraftedRows } from "../deliveries/drafted-rows.ts";
import type { StateWith } from "../state/stored-state.ts";
import { eventText } from "./event-view.ts";
import { EVENT_ROW, EVENT_TABLES } from "./stored-event.ts";
import type { WebhookBooks } from "./webhook-book.ts";
import { deliveryIdOf, deliveryKey, deliveryPosition, type EventType, eventIdOf, type WebhookDeliveryRow } from "./webhook-row.ts";

/** State that events are made of. */
export type WebhookDraftState = StateWith<AlertBooks & AnalysisBooks & AnomalyBooks & DeadLetterBooks, WebhookBooks>;

export interface WebhookDraftSources {
  readonly state: WebhookDraftState;
  readonly control: KeyValueStore;
  nowMs(): number;
  /** Number of events of a webhook that wait. */
  waiting(webhookId: string): number;
  /** Whether a tenant may have another event waiting. */
  hasCapacity(tenant: string): boolean;
  committed(draft: WebhookDraft): void;
  /** PUBLIC_URL; null where there is none. */
  readonly publicUrl: string | null;
}

const EMPTY = new Uint8Array(0);
const { encode, decode } = EVENT_ROW;
const openValue = (_: string, row: WebhookDeliveryRow) => (isOpen(row) ? EMPTY : undefined);
const DONE = { state: "dropped", event: null, holdUntilMs: null } as const;

export class WebhookDraft implements AnomalyFollowing {
  readonly #sources: WebhookDraftSources;
  readonly #rows: DraftedRows<WebhookDeliveryRow>;
  readonly #back = new Set<string>();
  readonly #disabled = new Map<string, Webhook>();
  #letters: DeadLetterDraft | undefined;
  readonly counts = { delivered: 0, failed: 0, exhausted: 0, dropped: 0 };

  constructor(sources: WebhookDraftSources) {
    this.#sources = sources;
    this.#rows = new DraftedRows({ control: sources.control, ...EVENT_TABLES, encode, decode, openValue });
  }

  get changed(): ReadonlyMap<string, WebhookDeliveryRow> {
    return this.#rows.changed;
  }

  /** Rows that the notifier has no more. */
  get back(): Iterable<string> {
    return this.#back;
  }

  /** Webhooks that their receivers have ended. */
  get disabled(): Iterable<Webhook> {
    return this.#disabled.values();
  }

  operations(steps: readonly AnomalyStep[]): StoreOperation[] {
    for (const step of steps)
      for (const webhook of this.#sources.state.configured.webhooks.of(step.after.tenant)) this.#follow(step, webhook);
    const { webhooks } = this.#sources.state.configured;
    const disabled = [...this.#disabled.values()].map((webhook) => webhooks.operation(webhook));
    return [...this.#rows.operations(), ...disabled, ...(this.#letters?.operations() ?? [])];
  }

  apply(): void {
    this.#letters?.apply();
    for (const webhook of this.#disabled.values()) this.#sources.state.configured.webhooks.put(webhook);
    this.#sources.committed(this);
  }

  /** Takes in what became of an attempt. */
  settle(report: DeliveryReport): void {
    if (report.kind !== "attempted") return;
    for (const { key } of report.deliveries) this.#attempted(key, report);
  }

  #attempted(key: string, report: EventAttempt): void {
    this.#back.add(key);
    const webhook = this.#webhookOf(key);
    const row = this.#rows.get(key);
    if (row === undefined || row.state !== "pending" || webhook === undefined) return;
    const ended = afterAttempt(row, report, webhook.retry);
    this.#rows.put(key, isOpen(ended) ? ended : { ...ended, event: null });
    this.counts[isOpen(ended) ? "failed" : (ended.state as "delivered" | "exhausted" | "dropped")]++;
    if (ended.state === "exhausted") this.#lose(ended, webhook);
    if (report.outcome.answer?.gone === true && webhook.enabled) this.#disabled.set(webhook.id, { ...webhook, enabled: false });
  }

  /** Lets an event go that has waited for its cause: it is sent, waits on, or is dropped where no cause will match any more. */
  release(hex: string, isDue: boolean): void {
    const row = this.#rows.get(hex);
    const webhook = this.#webhookOf(hex);
    if (row === undefined || row.state !== "held") return;
    const { state } = this.#sources;
    const tenant = tenantOfKey(hex);
    const anomaly = state.anomalies.find(tenant, row.anomalyId);
    if (anomaly === undefined || webhook === undefined) {
      this.#rows.put(hex, { ...row, ...DONE });
      return;
    }
    const report = state.analyses.reports.ofAnomaly(tenant, row.anomalyId);
    const cause = rootCauseView(state, report);
    const wanted = webhook.pattern.rootCauseCategory;
    if (wanted !== null && cause?.category !== wanted) {
      if (report?.isFinal === true) this.#rows.put(hex, { ...row, ...DONE });
      return;
    }
    if (wanted === null && cause === null && !isDue) return;
    const event = eventText(row, { anomaly, alert: state.alerts.ofAnomaly(anomaly), cause, publicUrl: this.#sources.publicUrl });
    this.#rows.put(hex, { ...row, state: "pending", event, holdUntilMs: null });
  }

  /** Puts an event that was given up back on its way, under its id; false where its webhook is gone. */
  again(
    tenant: string,
    webhookName: string,
    lost: Pick<WebhookDeliveryRow, "eventId" | "eventType" | "anomalyId" | "occurredAtMs">,
    event: string,
  ): boolean {
    const webhook = this.#sources.state.configured.webhooks.find(tenant, webhookName);
    if (webhook === undefined) return false;
    const deliveryId = deliveryIdOf(webhook.id, lost.eventId);
    const hex = keyOf(webhook, lost.occurredAtMs, deliveryId);
    const createdAtMs = this.#rows.get(hex)?.createdAtMs ?? this.#sources.nowMs();
    this.#rows.put(hex, { ...lost, ...NEW_DELIVERY, deliveryId, createdAtMs, holdUntilMs: null, event, notes: [] });
    return true;
  }

  #follow({ before, after, alert }: AnomalyStep, webhook: Webhook): void {
    const ended = after.resolvedAtMs !== null;
    const wasEnded = before !== undefined && before.resolvedAtMs !== null;
    const reopened = wasEnded && !ended;
    if (!webhook.enabled) return;
    if (before === undefined || reopened || before.z !== after.z) {
      this.#declare({ before, after, alert }, webhook, reopened ? (before.resolvedAtMs as number) : 0);
    }
    if (ended && !wasEnded) this.#resolve({ before, after, alert }, webhook, after.resolvedAtMs as number);
  }

  /** Once, when it matches first. */
  #declare({ after, alert }: AnomalyStep, webhook: Webhook, epochMs: number): void {
    if (!this.#matches(webhook, after)) return;
    const eventId = eventIdOf(after.tenant, after.id, "anomaly.declared", epochMs);
    const occurredAtMs = epochMs === 0 ? after.detectedAtMs : this.#sources.nowMs();
    this.#add({ webhook, anomaly: after, alert, eventId, eventType: "anomaly.declared", occurredAtMs });
  }

  /** To whoever heard of it, or would by what its pattern says. */
  #resolve({ after, alert }: AnomalyStep, webhook: Webhook, resolvedAtMs: number): void {
    const declared = eventIdOf(after.tenant, after.id, "anomaly.declared", 0);
    const hex = keyOf(webhook, after.detectedAtMs, deliveryIdOf(webhook.id, declared));
    const row = this.#rows.get(hex);
    const heard = row !== undefined && row.state !== "dropped" && (row.state !== "held" || row.holdUntilMs !== null);
    if (!heard && (webhook.pattern.rootCauseCategory !== null || !this.#matches(webhook, after))) return;
    if (row?.state === "held" && row.holdUntilMs !== null) this.#send(hex, row, after, alert);
    const eventId = eventIdOf(after.tenant, after.id, "anomaly.resolved", resolvedAtMs);
    this.#add({ webhook, anomaly: after, alert, eventId, eventType: "anomaly.resolved", occurredAtMs: resolvedAtMs });
  }

  #send(hex: string, row: WebhookDeliveryRow, anomaly: Anomaly, alert: AnomalyStep["alert"]): void {
    const event = eventText(row, { anomaly, alert, cause: this.#causeOf(anomaly), publicUrl: this.#sources.publicUrl });
    this.#rows.put(hex, { ...row, state: "pending", event, holdUntilMs: null });
  }

  #add(made: {
    readonly webhook: Webhook;
    readonly anomaly: Anomaly;
    readonly alert: AnomalyStep["alert"];
    readonly eventId: string;
    readonly eventType: EventType;
    readonly occurredAtMs: number;
  }): void {
    const { webhook, anomaly, alert, eventId, eventType, occurredAtMs } = made;
    const deliveryId = deliveryIdOf(webhook.id, eventId);
    const hex = keyOf(webhook, occurredAtMs, deliveryId);
    if (this.#rows.get(hex) !== undefined) return;
    const nowMs = this.#sources.nowMs();
    const cause = this.#causeOf(anomaly);
    const wanted = eventType === "anomaly.declared" ? webhook.pattern.rootCauseCategory : null;
    // No analysis will ever name a cause of it.
    if (wanted !== null && cause === null && anomaly.paging?.rcaTriggered !== true) return;
    const waits =
      wanted !== null
        ? cause?.category !== wanted
        : cause === null && eventType === "anomaly.declared" && anomaly.paging?.rcaTriggered === true;
    const holdUntilMs = waits && wanted === null ? nowMs + WEBHOOK_CAUSE_WAIT_MS : null;
    const head = { deliveryId, eventId, eventType, anomalyId: anomaly.id, occurredAtMs, createdAtMs: nowMs };
    const { waiting, hasCapacity, publicUrl } = this.#sources;
    const event = waits ? null : eventText(head, { anomaly, alert, cause, publicUrl });
    const row: WebhookDeliveryRow = { ...head, ...NEW_DELIVERY, holdUntilMs, event, state: waits ? "held" : "pending", notes: [] };
    if (waiting(webhook.id) >= WEBHOOK_EVENTS_WAITING_PER_WEBHOOK_MAX || !hasCapacity(webhook.tenant)) {
      const text = event ?? eventText(head, { anomaly, alert, cause, publicUrl });
      this.#lose({ ...row, event: text }, webhook, "too many events of this webhook wait");
      this.counts.exhausted++;
      return;
    }
    this.#rows.put(hex, row);
  }

  #causeOf(anomaly: Anomaly) {
    const { state } = this.#sources;
    return rootCauseView(state, state.analyses.reports.ofAnomaly(anomaly.tenant, anomaly.id));
  }

  #matches({ pattern }: Webhook, { serviceId, metricName, environment, z }: Anomaly): boolean {
    const { patterns } = this.#sources.state.configured;
    const finds = (regex: string, value: string) => patterns.matches(searched(regex), value) === true;
    return matchesSubject(pattern, { serviceId, metricName, environment, score: anomalyScore(z) }, finds);
  }

  #webhookOf(key: string): Webhook | undefined {
    const { webhookId } = deliveryPosition(keyOfText(key));
    return this.#disabled.get(webhookId) ?? this.#sources.state.configured.webhooks.byId(webhookId);
  }

  #lose(row: WebhookDeliveryRow, { tenant, name }: Webhook, error = row.error ?? ""): void {
    const { eventId, eventType, anomalyId, occurredAtMs, deliveryId, attempts, notes, event } = row;
    this.#letters ??= new DeadLetterDraft(this.#sources.state);
    this.#letters.add({
      tenant,
      id: hash128(JSON.stringify([deliveryId, notes.at(-1)?.attemptedAtMs ?? this.#sources.nowMs()])),
      reason: "webhook_exhausted",
      field: null,
      message: `webhook ${name}: ${eventType} was not delivered in ${attempts} attempts: ${error}`,
      topic: "webhook",
      receivedMs: this.#sources.nowMs(),
      payload: {
        webhook: name,
        event_id: eventId,
        event_type: eventType,
        anomaly_id: anomalyId,
        occurred_at_ms: occurredAtMs,
        attempts,
        error,
        event,
      },
    });
  }
}

function keyOf({ tenant, id: webhookId }: Webhook, occurredAtMs: number, deliveryId: string): string {
  return keyText(deliveryKey({ tenant, webhookId, occurredAtMs, deliveryId }));
}
