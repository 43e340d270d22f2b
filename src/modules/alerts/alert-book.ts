// All alerts as committed: those that fire or were resolved lately whole, all of them as an index per tenant, the rest in the store.

import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { alertView } from "../../api/alert-view.ts";
import { getOrMake } from "../../core/collections/get-or-make.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { type InhibitionRules, NO_INHIBITION_RULES } from "../../domain/alerting/inhibition/inhibition-rule.ts";
import { type Alert, isFiring } from "../../domain/alerting/paging/alert.ts";
import { followsAlert } from "../../domain/alerting/paging/outcome-now.ts";
import { isRepeated } from "../../domain/alerting/paging/page-repeat.ts";
import { PagingMemory } from "../../domain/alerting/paging/paging-memory.ts";
import { ServiceConfirmations } from "../../domain/alerting/paging/service-confirmations.ts";
import type { Anomaly } from "../../domain/anomaly/anomaly.ts";
import { asPartOf, type Notification, notificationOf, withoutAlert } from "../../domain/notification/notification-state.ts";
import { scan } from "../state/scan.ts";
import { tenantTimeKey } from "../state/tables.ts";
import type { AlertFollower } from "./alert-follower.ts";
import { AlertIndex } from "./alert-index.ts";
import { FeedbackBook } from "./feedback-book.ts";
import { LedgerBook } from "./ledger-book.ts";
import { decodeAlert } from "./rows/alert-row.ts";
import { TimelineBook } from "./timeline-book.ts";

const NO_ALERTS = new AlertIndex();

export class AlertBook {
  readonly memory: PagingMemory;
  /** Confirmations of pairs of late; not stored. */
  readonly confirmations = new ServiceConfirmations();
  readonly ledger: LedgerBook;
  readonly feedback: FeedbackBook;
  readonly timeline: TimelineBook;
  /** Stores what follows from changes of alerts with them; undefined where nobody does. */
  follower: AlertFollower | undefined;
  readonly #store: KeyValueStore;
  readonly #tenants = new Map<string, AlertIndex>();

  constructor(
    control: KeyValueStore,
    series: KeyValueStore,
    rules: InhibitionRules = NO_INHIBITION_RULES,
    opinionShares = ShareLedger.alone(),
  ) {
    this.feedback = new FeedbackBook(opinionShares);
    this.memory = new PagingMemory(undefined, rules);
    this.#store = control;
    this.ledger = new LedgerBook(series);
    this.timeline = new TimelineBook(control);
  }

  /** Reads both stores; to be called once. */
  load(): void {
    for (const { value } of scan(this.#store, "alerts")) {
      const alert = decodeAlert(value);
      this.#indexOf(alert.state.key.tenant).put(alert);
      this.memory.keep(alert);
    }
    this.feedback.load(this.#store);
    this.ledger.load();
  }

  get firingCount(): number {
    return this.memory.firingCount;
  }

  get tenants(): Iterable<string> {
    return this.#tenants.keys();
  }

  /** The index of a tenant, for reading. */
  index(tenant: string): AlertIndex {
    return this.#tenants.get(tenant) ?? NO_ALERTS;
  }

  /** An alert by its id, from memory or the store. */
  find(tenant: string, id: string): Alert | undefined {
    const entry = this.index(tenant).get(id);
    if (entry === undefined) return undefined;
    const known = this.memory.alert(id);
    if (known !== undefined) return known;
    const value = this.#store.get("alerts", tenantTimeKey(tenant, entry.createdAtMs, id));
    return value === undefined ? undefined : decodeAlert(value);
  }

  /** The alert of an anomaly, where what is said of the anomaly depends on it. */
  ofAnomaly({ tenant, paging }: Pick<Anomaly, "tenant" | "paging">): Alert | undefined {
    return paging !== null && followsAlert(paging) ? this.find(tenant, paging.alertId as string) : undefined;
  }

  /** Whether anybody was told of an alert, or of the one that it has closed into. */
  notification(alert: Alert): Notification {
    const own = this.#ownNotification(alert);
    const into = alert.mergedInto === null ? undefined : this.find(alert.state.key.tenant, alert.mergedInto);
    return into === undefined ? own : asPartOf(own, into.state.id, this.#ownNotification(into));
  }

  #ownNotification(alert: Alert): Notification {
    return this.follower?.notification(alert) ?? notificationOf(alert, [], false);
  }

  /** Whether anybody was told of an anomaly: of the alert that it belongs to. */
  notificationOfAnomaly(anomaly: Pick<Anomaly, "tenant" | "paging" | "resolvedAtMs">): Notification {
    return this.notificationsOfAnomalies()(anomaly);
  }

  /** The same for several at one moment, of which many are in one alert: what was told of it is read once. */
  notificationsOfAnomalies(): (anomaly: Pick<Anomaly, "tenant" | "paging" | "resolvedAtMs">) => Notification {
    const read = new Map<string, Notification>();
    return ({ tenant, paging, resolvedAtMs }) => {
      const id = paging?.alertId ?? null;
      const known = id === null ? undefined : read.get(id);
      if (known !== undefined) return known;
      const alert = id === null ? undefined : this.find(tenant, id);
      if (alert === undefined) return withoutAlert(paging?.suppressedBy ?? null, resolvedAtMs !== null);
      const notification = this.notification(alert);
      read.set(alert.state.id, notification);
      return notification;
    };
  }

  /** An alert as it leaves the server. */
  view(alert: Alert) {
    return alertView(alert, this.notification(alert));
  }

  /** Takes over what was committed. */
  take(changes: PagingMemory): void {
    this.memory.take(changes);
    for (const alert of changes.changed) this.#indexOf(alert.state.key.tenant).put(alert);
  }

  /** Forgets an alert that was deleted. */
  remove(tenant: string, id: string): void {
    this.#tenants.get(tenant)?.remove(id);
    this.memory.forget(id);
  }

  /** Alerts that fire and whose page is held back, that are snoozed, or whose page is to be repeated. */
  asked(nowMs: number, repeatMs: number): Alert[] {
    const isAsked = (alert: Alert) => alert.heldBy !== null || alert.snooze !== null || isRepeated(alert, nowMs, repeatMs);
    return this.memory.tenantsFiring.flatMap((tenant) =>
      [...this.memory.firing(tenant)].filter((alert) => isFiring(alert) && isAsked(alert)),
    );
  }

  #indexOf(tenant: string): AlertIndex {
    return getOrMake(this.#tenants, tenant, () => new AlertIndex());
  }
}
