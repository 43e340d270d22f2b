// What one transaction does to deliveries of events: new ones for the anomalies that it changes, released ones, and outcomes of attempts. It may be thrown away and
// made again.
import type { KeyValueStore, StoreOperation } from "../../../adapters/storage/key-value-store.ts";
import { hash128 } from "../../../core/base/hash128.ts";
import { WEBHOOK_CAUSE_WAIT_MS, WEBHOOK_EVENTS_WAITING_PER_WEBHOOK_MAX } from "../../../core/config/webhook-limits.ts";
import type { Anomaly } from "../../../domain/anomaly/anomaly.ts";
import { isOpen, NEW_DELIVERY } from "../../../domain/delivery/delivery.ts";
import { anomalyScore } from "../../../domain/detection/anomaly-score.ts";
import { matchesSubject, searched, type Webhook } from "../../../domain/webhooks/webhook.ts";
import { afterAttempt } from "../../../domain/webhooks/webhook-delivery.ts";
import type { WebhookReport } from "../../../domain/webhooks/webhook-messages.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { AnalysisBooks } from "../analysis/analysis-context.ts";
import { rootCauseView } from "../analysis/root-cause-view.ts";
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import type { AnomalyFollowing, AnomalyStep } from "../anomalies/anomaly-follower.ts";
import { DeadLetterDraft } from "../dead-letters/dead-letter-draft.ts";
import type { DeadLetterBooks } from "../dead-letters/dead-letters-context.ts";
import { keyOfText, keyText } from "../deliveries/delivery-key.ts";
import type { StateWith } from "../state/stored-state.ts";
import { eventText } from "./event-view.ts";
import { EVENT_ROW } from "./stored-event.ts";
import type { WebhookBooks } from "./webhook-book.ts";
import {
  type DeliveryPlace,
  deliveryIdOf,
  deliveryKey,
  deliveryPlace,
  type EventType,
  eventIdOf,
  type WebhookDeliveryRow,
} from "./webhook-row.ts";

/** A row that a transaction has made or changed. */
export interface ChangedDelivery {
  readonly place: DeliveryPlace;
  readonly row: WebhookDeliveryRow;
  readonly isNew: boolean;
}

/** State that events are made of. */
export type WebhookDraftState = StateWith<AlertBooks & AnalysisBooks & AnomalyBooks & DeadLetterBooks, WebhookBooks>;

export interface WebhookDraftSources {
  readonly state: WebhookDraftState;
  readonly control: KeyValueStore;
  nowMs(): number;
  /** Number of events of a webhook that wait. */
  waiting(webhookId: string): number;
  /** Whether a tenant may have another event waiting. */
  hasRoom(tenant: string): boolean;
  committed(draft: WebhookDraft): void;
  /** PUBLIC_URL; null where there is none. */
  readonly publicUrl: string | null;
}

const EMPTY = new Uint8Array(0);
const DONE = { state: "dropped", event: null, holdUntilMs: null } as const;

export class WebhookDraft implements AnomalyFollowing {
  readonly #sources: WebhookDraftSources;
  readonly #rows = new Map<string, ChangedDelivery>();
  readonly #back = new Set<string>();
  readonly #disabled = new Map<string, Webhook>();
  #letters: DeadLetterDraft | undefined;
  readonly counts = { delivered: 0, failed: 0, exhausted: 0, dropped: 0 };

  constructor(sources: WebhookDraftSources) {
    this.#sources = sources;
  }

  get changed(): ReadonlyMap<string, ChangedDelivery> {
    return this.#rows;
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
    const rows = [...this.#rows].flatMap(([hex, { row }]): StoreOperation[] => {
      const key = keyOfText(hex);
      return [
        { table: "webhook_deliveries", key, value: EVENT_ROW.encode(row) },
        { table: "webhook_outbox", key, value: isOpen(row) ? EMPTY : undefined },
      ];
    });
    const { webhooks } = this.#sources.state.configured;
    const disabled = [...this.#disabled.values()].map((webhook) => webhooks.operation(webhook));
    return [...rows, ...disabled, ...(this.#letters?.operations() ?? [])];
  }

  apply(): void {
    this.#letters?.apply();
    for (const webhook of this.#disabled.values()) this.#sources.state.configured.webhooks.put(webhook);
    this.#sources.committed(this);
  }

  /** Takes in what became of an attempt. */
  settle(report: WebhookReport): void {
    this.#back.add(report.key);
    const place = deliveryPlace(keyOfText(report.key));
    const webhook = this.#webhookOf(place);
    const row = this.#read(report.key);
    if (row === undefined || row.state !== "pending" || webhook === undefined) return;
    const ended = afterAttempt(row, report, webhook.retry);
    this.#rows.set(report.key, { place, row: isOpen(ended) ? ended : { ...ended, event: null }, isNew: false });
    this.counts[isOpen(ended) ? "failed" : (ended.state as "delivered" | "exhausted" | "dropped")]++;
    if (ended.state === "exhausted") this.#lose(ended, webhook);
    if (report.outcome.answer?.gone === true && webhook.enabled) this.#disabled.set(webhook.id, { ...webhook, enabled: false });
  }

  /** Lets an event go that has waited for its cause: it is sent, waits on, or is dropped where no cause will match any more. */
  release(hex: string, isDue: boolean): void {
    const row = this.#read(hex);
    const place = deliveryPlace(keyOfText(hex));
    const webhook = this.#webhookOf(place);
    if (row === undefined || row.state !== "held") return;
    const { state } = this.#sources;
    const anomaly = state.anomalies.find(place.tenant, row.anomalyId);
    if (anomaly === undefined || webhook === undefined) {
      this.#rows.set(hex, { place, row: { ...row, ...DONE }, isNew: false });
      return;
    }
    const report = state.analyses.reports.ofAnomaly(place.tenant, row.anomalyId);
    const cause = rootCauseView(state, report);
    const wanted = webhook.pattern.rootCauseCategory;
    if (wanted !== null && cause?.category !== wanted) {
      if (report?.isFinal === true) this.#rows.set(hex, { place, row: { ...row, ...DONE }, isNew: false });
      return;
    }
    if (wanted === null && cause === null && !isDue) return;
    const event = eventText(row, { anomaly, alert: state.alerts.ofAnomaly(anomaly), cause, publicUrl: this.#sources.publicUrl });
    this.#rows.set(hex, { place, row: { ...row, state: "pending", event, holdUntilMs: null }, isNew: false });
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
    const place = placeOf(webhook, lost.occurredAtMs, deliveryIdOf(webhook.id, lost.eventId));
    const hex = keyText(deliveryKey(place));
    const known = this.#read(hex);
    const createdAtMs = known?.createdAtMs ?? this.#sources.nowMs();
    const head = { ...lost, deliveryId: place.deliveryId, createdAtMs, holdUntilMs: null };
    this.#rows.set(hex, { place, row: { ...head, ...NEW_DELIVERY, event, notes: [] }, isNew: known === undefined });
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
    const hex = keyText(deliveryKey(placeOf(webhook, after.detectedAtMs, deliveryIdOf(webhook.id, declared))));
    const row = this.#read(hex);
    const heard = row !== undefined && row.state !== "dropped" && (row.state !== "held" || row.holdUntilMs !== null);
    if (!heard && (webhook.pattern.rootCauseCategory !== null || !this.#matches(webhook, after))) return;
    if (row?.state === "held" && row.holdUntilMs !== null) this.#send(hex, row, webhook, after, alert);
    const eventId = eventIdOf(after.tenant, after.id, "anomaly.resolved", resolvedAtMs);
    this.#add({ webhook, anomaly: after, alert, eventId, eventType: "anomaly.resolved", occurredAtMs: resolvedAtMs });
  }

  #send(hex: string, row: WebhookDeliveryRow, webhook: Webhook, anomaly: Anomaly, alert: AnomalyStep["alert"]): void {
    const event = eventText(row, { anomaly, alert, cause: this.#causeOf(anomaly), publicUrl: this.#sources.publicUrl });
    const known = this.#rows.get(hex);
    const place = placeOf(webhook, row.occurredAtMs, row.deliveryId);
    this.#rows.set(hex, { place, row: { ...row, state: "pending", event, holdUntilMs: null }, isNew: known?.isNew ?? false });
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
    const place = placeOf(webhook, occurredAtMs, deliveryIdOf(webhook.id, eventId));
    const hex = keyText(deliveryKey(place));
    if (this.#read(hex) !== undefined) return;
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
    const head = { deliveryId: place.deliveryId, eventId, eventType, anomalyId: anomaly.id, occurredAtMs, createdAtMs: nowMs };
    const { waiting, hasRoom, publicUrl } = this.#sources;
    const event = waits ? null : eventText(head, { anomaly, alert, cause, publicUrl });
    const row: WebhookDeliveryRow = { ...head, ...NEW_DELIVERY, holdUntilMs, event, state: waits ? "held" : "pending", notes: [] };
    if (waiting(webhook.id) >= WEBHOOK_EVENTS_WAITING_PER_WEBHOOK_MAX || !hasRoom(webhook.tenant)) {
      const text = event ?? eventText(head, { anomaly, alert, cause, publicUrl });
      this.#lose({ ...row, event: text }, webhook, "too many events of this webhook wait");
      this.counts.exhausted++;
      return;
    }
    this.#rows.set(hex, { place, row, isNew: true });
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

  #webhookOf({ webhookId }: DeliveryPlace): Webhook | undefined {
    return this.#disabled.get(webhookId) ?? this.#sources.state.configured.webhooks.byId(webhookId);
  }

  #read(hex: string): WebhookDeliveryRow | undefined {
    const drafted = this.#rows.get(hex);
    if (drafted !== undefined) return drafted.row;
    const stored = this.#sources.control.get("webhook_deliveries", keyOfText(hex));
    return stored && EVENT_ROW.decode(stored);
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

function placeOf({ tenant, id: webhookId }: Webhook, occurredAtMs: number, deliveryId: string): DeliveryPlace {
  return { tenant, webhookId, occurredAtMs, deliveryId };
}
