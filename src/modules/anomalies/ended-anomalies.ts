// What one change ends by hand: anomalies, the alerts that end with them, and what follows for webhooks and for readers of the stream. Nothing of it is learned as
// normal, and streams whose episodes go on stay with their anomaly: it is not found again before it was over once.
import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { notifiedAnomalyView } from "../../api/notification-view.ts";
import type { Alert } from "../../domain/alerting/paging/alert.ts";
import type { Anomaly } from "../../domain/anomaly/anomaly.ts";
import { type AcceptedLevel, type Ending, endWord } from "../../domain/anomaly/ending.ts";
import type { AlertDraft } from "../alerts/alert-draft.ts";
import { tenantTimeKey } from "../state/tables.ts";
import type { EndingContext } from "./anomalies-context.ts";
import type { AnomalyFollowing } from "./anomaly-follower.ts";
import { encodeAnomaly } from "./anomaly-row.ts";

interface ChangedAnomaly {
  readonly before: Anomaly;
  readonly after: Anomaly;
}

export class EndedAnomalies {
  readonly #context: EndingContext;
  readonly #tenant: string;
  readonly #ending: Ending;
  readonly #changed = new Map<string, ChangedAnomaly>();
  #openByAlert: ReadonlyMap<string, readonly string[]> | undefined;
  #following: AnomalyFollowing | undefined;
  /** Changes of alerts go with these. */
  readonly alerts: AlertDraft;

  constructor(context: EndingContext, tenant: string, ending: Ending) {
    this.#context = context;
    this.#tenant = tenant;
    this.#ending = ending;
    this.alerts = context.draftAlerts();
  }

  /** Whether anything is to be stored. */
  get isEmpty(): boolean {
    return this.#changed.size === 0 && this.alerts.isEmpty;
  }

  /** Stores an anomaly that was changed; where it has ended by that, its alert hears of it. */
  put(before: Anomaly, after: Anomaly): void {
    this.#keep({ before, after });
    if (before.resolvedAtMs === null && after.resolvedAtMs !== null) this.alerts.end(after, (_, other) => this.read(other));
  }

  /** Stores an anomaly that was changed, and ends the alert that it stands for, with everything that is open in it. */
  endWithAlert(changed: ChangedAnomaly, alert: Alert, note: string): void {
    this.#keep(changed);
    this.endAlert(alert, note);
  }

  #keep({ before, after }: ChangedAnomaly): void {
    this.#changed.set(after.id, { before: this.#changed.get(after.id)?.before ?? before, after });
  }

  /** An anomaly as this change leaves it. */
  read(id: string): Anomaly | undefined {
    return this.#changed.get(id)?.after ?? this.#context.state.anomalies.find(this.#tenant, id);
  }

  /** Ends an anomaly that is open. */
  end(anomaly: Anomaly): void {
    const now = this.read(anomaly.id) ?? anomaly;
    if (now.resolvedAtMs === null) this.put(now, this.#ended(now));
  }

  /** Ends anomalies of an alert as the levels that they are on, the last of them with what is said of the alert; what else is open in it goes on. */
  acceptLevels(levels: ReadonlyMap<string, AcceptedLevel | undefined>, note: string | null): void {
    const accepted = [...levels].flatMap(([id, level]) => {
      const now = this.read(id);
      if (now === undefined || now.resolvedAtMs !== null) return [];
      const after = { ...this.#ended(now), ...(level !== undefined && { level }) };
      this.#changed.set(id, { before: now, after });
      return [after];
    });
    for (const after of accepted) this.alerts.end(after, (_, other) => this.read(other), { person: this.#ending.person, note });
  }

  /** Ends an alert that fires, with everything that is open in it; `into` is the alert that tells what comes after it. */
  endAlert(alert: Alert, note: string | null, into: string | null = null): void {
    this.#openByAlert ??= openByAlert(this.#context.state, this.#tenant);
    for (const id of this.#openByAlert.get(alert.state.id) ?? []) {
      const now = this.read(id);
      if (now !== undefined && now.resolvedAtMs === null) this.#keep({ before: now, after: this.#ended(now) });
    }
    this.alerts.endAlert(alert, this.#ending, note);
    const now = into === null ? undefined : this.alerts.find(this.#tenant, alert.state.id);
    if (now !== undefined) this.alerts.keep({ ...now, mergedInto: into });
  }

  operations(): StoreOperation[] {
    const rows = [...this.#changed.values()].map(({ after }) => ({
      table: "anomalies",
      key: tenantTimeKey(this.#tenant, after.detectedAtMs, after.id),
      value: encodeAnomaly(after),
    }));
    const { follower } = this.#context.state.anomalies;
    this.#following = rows.length > 0 && follower?.follows(this.#tenant) === true ? follower.draft() : undefined;
    const steps = [...this.#changed.values()].map(({ before, after }) => ({ before, after, alert: this.alerts.ofAnomaly(after) }));
    return [...rows, ...this.alerts.operations(), ...(this.#following?.operations(steps) ?? [])];
  }

  /** Takes the changes over once they are stored. */
  apply(): void {
    const { state, publish, takeAlerts } = this.#context;
    for (const { after } of this.#changed.values()) state.anomalies.put(after);
    const notificationOf = this.alerts.notificationsOfAnomalies();
    const events = [...this.#changed.values()].map(({ after }) => {
      const data = JSON.stringify(notifiedAnomalyView(after, this.alerts.ofAnomaly(after), notificationOf(after)));
      return { event: "anomaly", tenant: this.#tenant, data } as const;
    });
    if (events.length > 0) publish(events);
    takeAlerts(this.alerts);
    this.#following?.apply();
  }

  #ended(anomaly: Anomaly): Anomaly {
    return { ...anomaly, resolvedAtMs: this.#context.nowMs(), resolvedBy: endWord(this.#ending) };
  }
}

/** Open anomalies of a tenant by the alert that they are in now. */
export function openByAlert({ anomalies, alerts }: EndingContext["state"], of: string): ReadonlyMap<string, readonly string[]> {
  const index = anomalies.index(of);
  const byAlert = new Map<string, string[]>();
  for (const { tenant, id } of anomalies.openAnomalies()) {
    const alertId = tenant === of ? (index.get(id)?.alertId ?? null) : null;
    const current = alertId === null ? undefined : alerts.memory.current(alertId)?.state.id;
    if (current === undefined) continue;
    const ids = byAlert.get(current);
    if (ids === undefined) byAlert.set(current, [id]);
    else ids.push(id);
  }
  return byAlert;
}
