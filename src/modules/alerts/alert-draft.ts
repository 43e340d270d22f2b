// What a transaction does to alerts: made over the committed ones, with the verdicts that it follows from, and taken over once committed. It may be thrown away
// and made again.
import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import type { StreamEvents } from "../../core/protocol/query.ts";
import { type Alert, isFiring, restated } from "../../domain/alerting/paging/alert.ts";
import { findingOf, isFarWorseThanNotified, mayChangeDecision } from "../../domain/alerting/paging/anomaly-finding.ts";
import { askAlert } from "../../domain/alerting/paging/asked-alert.ts";
import { endText } from "../../domain/alerting/paging/end-text.ts";
import type { Finding } from "../../domain/alerting/paging/finding.ts";
import { type JoinedInstances, withInstances } from "../../domain/alerting/paging/instance-update.ts";
import type { PageDecision } from "../../domain/alerting/paging/page-decision.ts";
import { type AnomalyEnd, decideEnd, decideFire, type FireOutcome } from "../../domain/alerting/paging/page-pipeline.ts";
import { PagingMemory } from "../../domain/alerting/paging/paging-memory.ts";
import type { PagingSources } from "../../domain/alerting/paging/paging-sources.ts";
import { linesOf, type TimelineLine } from "../../domain/alerting/timeline.ts";
import type { Anomaly, EpisodeEffect } from "../../domain/anomaly/anomaly.ts";
import { type Ending, endingOf } from "../../domain/anomaly/ending.ts";
import { saysAnother, sentenceOf } from "../../domain/anomaly/sentence.ts";
import type { AlertStep } from "../../domain/notification/decided-messages.ts";
import type { Notification } from "../../domain/notification/notification-state.ts";
import { instanceOf } from "../../domain/series/instance-name.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import { tenantTimeKey } from "../state/tables.ts";
import type { AlertBook } from "./alert-book.ts";
import type { FollowingDraft } from "./alert-follower.ts";
import type { AlertEntry } from "./alert-index.ts";
import { type LedgerRow, ledgerRowId } from "./ledger-book.ts";
import { encodeAlert } from "./rows/alert-row.ts";

/** An anomaly of a tenant as it is now, changes that are not stored yet included. */
export type ReadAnomaly = (tenant: string, id: string) => Anomaly | undefined;

/** Who says that an anomaly has ended, and what of it. */
interface SaidOfEnd {
  readonly person: string | null;
  readonly note: string | null;
}

/** Outcome of a frame: the anomaly that it has changed, and those that the ensemble has raised with it. */
interface DecidedAnomalies {
  readonly anomaly: Anomaly | undefined;
  readonly raised: readonly Anomaly[];
}

/** Counts of a draft for the metrics. */
export interface AlertCounts {
  readonly opened: number;
  readonly paged: number;
  readonly suppressed: number;
  readonly dropped: number;
}

export class AlertDraft {
  readonly #book: AlertBook;
  readonly #sources: PagingSources;
  readonly #nowMs: number;
  readonly #alertsMax: number;
  readonly #memory: PagingMemory;
  readonly #rows: LedgerRow[] = [];
  readonly #triggered = new Map<string, Anomaly>();
  /** Further instances of metrics that people know of, by the id of the alert and the metric. */
  readonly #instances = new Map<string, { readonly alertId: string } & JoinedInstances>();
  /** Lines for timelines, by the id of the alert. */
  readonly #lines = new Map<string, { readonly tenant: string; readonly lines: TimelineLine[] }>();
  #evicted: ReadonlyArray<{ readonly tenant: string; readonly entry: AlertEntry }> = [];
  #following: FollowingDraft | undefined;

  constructor(book: AlertBook, sources: PagingSources, nowMs: number, alertsMax: number) {
    this.#book = book;
    this.#sources = sources;
    this.#nowMs = nowMs;
    this.#alertsMax = alertsMax;
    this.#memory = new PagingMemory(book.memory, undefined, (before, after) => this.#record(before, after));
  }

  /** Decides on what a frame has done to an anomaly; returns the anomaly with what became of it, and those that were raised with it. `read` finds others. */
  take({ kind, anomaly }: EpisodeEffect, before: Anomaly | undefined, read: ReadAnomaly): DecidedAnomalies {
    if (anomaly === undefined || kind === "left") return { anomaly, raised: [] };
    if (kind === "resolved") {
      this.end(anomaly, read);
      return { anomaly, raised: [] };
    }
    const isReopened = before !== undefined && before.resolvedAtMs !== null;
    if (
      before !== undefined &&
      !isReopened &&
      !mayChangeDecision({ before, after: anomaly, reached: hasReached(before) }, this.#nowMs) &&
      !this.#isFarWorse(anomaly)
    ) {
      this.#restate(anomaly, before);
      return { anomaly, raised: [] };
    }
    return this.#decide(anomaly, before === undefined ? "opened" : isReopened ? "reopened" : "raised", read);
  }

  #isFarWorse(anomaly: Anomaly): boolean {
    const alert = anomaly.paging?.alertId == null ? undefined : this.#memory.current(anomaly.paging.alertId);
    return alert !== undefined && isFarWorseThanNotified(anomaly, alert, this.#nowMs);
  }

  /** Another stream of an open anomaly has joined it: people who know of its alert are to hear of an instance that is new. */
  join({ paging, metricName, attributes, resolvedAtMs }: Anomaly, joined: Attributes): void {
    const instance = instanceOf(joined);
    const alertId = paging?.alertId ?? null;
    if (resolvedAtMs !== null || alertId === null || instance === null || instance === instanceOf(attributes)) return;
    const key = `${alertId} ${metricName}`;
    const known = this.#instances.get(key)?.instances ?? [];
    if (!known.includes(instance)) this.#instances.set(key, { alertId, metricName, instances: [...known, instance] });
  }

  /** Decides again on an open anomaly that is held, or worse by now, or that its alert has left behind: that alert is no longer its own. */
  askFinding(anomaly: Anomaly, read: ReadAnomaly): DecidedAnomalies {
    const { paging } = anomaly;
    const alert = paging?.alertId == null ? undefined : this.#memory.current(paging.alertId);
    const isLeft = paging !== null && (alert === undefined || !isFiring(alert));
    return this.#decide(isLeft ? { ...anomaly, paging: { ...paging, alertId: null } } : anomaly, "raised", read);
  }

  /** An anomaly that belonged to an alert has ended; `said` is who says so, where the word of its end does not name them. `read` finds what else is open in it. */
  end(anomaly: Anomaly, read: ReadAnomaly, said: SaidOfEnd = { person: null, note: null }): void {
    const alertId = anomaly.paging?.alertId ?? null;
    if (alertId === null) return;
    const { id, serviceId, metricName, detector, z, endedAtMs } = anomaly;
    const before = this.#memory.current(alertId);
    // One that is dropped for want of room ends without a word.
    const { reason, person, level } = endingOf(anomaly.resolvedBy ?? "ended", anomaly.level);
    const of = { anomalyId: id, alertId, serviceId, metricName, detector, z };
    const end = { ...of, by: person ?? said.person, note: said.note, reason, level, endedAtMs, atMs: this.#nowMs };
    const ended = decideEnd(end, this.#memory, (other) => this.#openFinding(read(anomaly.tenant, other)));
    if (ended !== undefined) this.#keepOfAlert(ended);
    else if (before !== undefined && isFiring(before)) this.#noteMember(before, end);
  }

  /** The line of a member that has ended in an alert that goes on, where its history has none: what does not stand for the alert is no news to people. */
  #noteMember(before: Alert, { serviceId, metricName, by, reason, level, note }: AnomalyEnd): void {
    const after = this.#memory.current(before.state.id) ?? before;
    const change = after.history.at(-1);
    const of = { atMs: this.#nowMs, by };
    if (change?.kind !== "member_ended" || change === before.history.at(-1)) {
      const end = endText({ reason: reason ?? "ended", person: by, ...(level !== undefined && { level }) }, after.peak);
      this.note(after, { ...of, kind: "member_ended", text: `${metricName} of ${serviceId} ${end}; ${after.open} more open in the alert` });
    }
    if (note != null && note !== "") this.note(after, { ...of, kind: "comment", text: note });
  }

  /** Ends an alert, whatever is open in it. */
  endAlert(alert: Alert, { reason, person }: Ending, note: string | null): void {
    const end = { ...alert.peak, alertId: alert.state.id, by: person, reason, note, endsAlert: true, atMs: this.#nowMs };
    const ended = decideEnd(end, this.#memory, () => undefined);
    if (ended !== undefined) this.#keepOfAlert(ended);
  }

  /** Adds a line to the timeline of an alert. */
  note({ state }: Alert, line: TimelineLine): void {
    const { id, key } = state;
    const known = this.#lines.get(id);
    if (known === undefined) this.#lines.set(id, { tenant: key.tenant, lines: [line] });
    else known.lines.push(line);
  }

  /** An alert of a tenant as this draft leaves it. */
  find(tenant: string, id: string): Alert | undefined {
    const stored = this.#book.find(tenant, id);
    return stored === undefined ? undefined : (this.#memory.alert(id) ?? stored);
  }

  /** Whether it changes nothing. */
  get isEmpty(): boolean {
    for (const _ of this.#memory.changed) return false;
    return this.#lines.size === 0;
  }

  /** The alert of an anomaly as this draft leaves it, where what is said of the anomaly depends on it. */
  ofAnomaly(anomaly: Anomaly): Alert | undefined {
    const drafted = anomaly.paging?.alertId == null ? undefined : this.#memory.alert(anomaly.paging.alertId);
    return drafted ?? this.#book.ofAnomaly(anomaly);
  }

  /** Whether anybody was told of each of several anomalies, once this draft is committed. */
  notificationsOfAnomalies(): (anomaly: Anomaly) => Notification {
    return this.#book.notificationsOfAnomalies();
  }

  /** An anomaly that says something else at the same height: who reads its alert is to read that, and nobody is called. */
  #restate(anomaly: Anomaly, before: Anomaly): void {
    const { id, z, paging } = anomaly;
    if (z !== before.z || paging === null || paging.alertId === null || !saysAnother(before, anomaly)) return;
    const alert = this.#memory.alert(paging.alertId);
    if (alert === undefined || !isFiring(alert) || alert.peak.anomalyId !== id) return;
    this.#memory.keep(restated(alert, sentenceOf(anomaly), this.#nowMs));
  }

  /** Takes over what somebody did to an alert. */
  keep(alert: Alert): void {
    this.#memory.keep(alert);
  }

  /** Asks again what holds alerts back, or whether their page is to be repeated. */
  askAgain(alerts: readonly Alert[]): void {
    for (const { state } of alerts) {
      for (const decision of askAlert(state.id, this.#sources, this.#memory, this.#nowMs)) this.#keepOfAlert(decision);
    }
  }

  /** The last decision on an anomaly that was made here. */
  decisionOn(anomalyId: string): PageDecision | undefined {
    return this.#rows.findLast(({ decision }) => decision.anomalyId === anomalyId)?.decision;
  }

  /** Anomalies that trigger root-cause analysis. */
  get triggered(): Anomaly[] {
    return [...this.#triggered.values()];
  }

  /** The operations of the transaction in `control`; also decides which old alerts make room. */
  operations(): StoreOperation[] {
    for (const of of this.#instances.values()) this.#updateInstances(of);
    this.#instances.clear();
    const changed = [...this.#memory.changed];
    const puts = changed.map((alert): StoreOperation => ({ table: "alerts", key: keyOf(alert), value: encodeAlert(alert) }));
    this.#evicted = this.#chooseEvicted(changed);
    const { follower } = this.#book;
    const drops = this.#evicted.flatMap(({ tenant, entry }): StoreOperation[] => [
      { table: "alerts", key: tenantTimeKey(tenant, entry.createdAtMs, entry.id), value: undefined },
      ...this.#book.timeline.removal(tenant, entry.id),
      ...(follower?.removal(tenant, entry.id) ?? []),
    ]);
    this.#following = changed.length === 0 ? undefined : follower?.draft();
    const following = this.#following?.operations(changed.map((alert) => this.#stepOf(alert))) ?? [];
    const lines = [...this.#lines].flatMap(([id, of]) =>
      this.#book.timeline.operations(of.tenant, id, of.lines, this.#isNew(of.tenant, id)),
    );
    return [...puts, ...lines, ...drops, ...following];
  }

  #updateInstances(of: { readonly alertId: string } & JoinedInstances): void {
    const alert = this.#memory.current(of.alertId);
    const updated = alert === undefined ? undefined : withInstances(alert, of, this.#nowMs);
    if (updated !== undefined) this.#memory.keep(updated);
  }

  /** What a step does to an alert is told at once: whatever else is in the transaction, its line says what was so by then. */
  #record(before: Alert | undefined, after: Alert): void {
    const { id, key } = after.state;
    for (const line of linesOf(before ?? this.#book.find(key.tenant, id), after)) this.note(after, line);
  }

  /** Takes the changes over into the book after the commit. */
  apply(): AlertCounts {
    let opened = 0;
    for (const { state } of this.#memory.changed) if (this.#isNew(state.key.tenant, state.id)) opened++;
    this.#book.take(this.#memory);
    this.#book.ledger.add(this.#rows);
    for (const { tenant, entry } of this.#evicted) this.#book.remove(tenant, entry.id);
    this.#following?.apply();
    return { opened, paged: this.#count("paged"), suppressed: this.#count("suppressed"), dropped: this.#evicted.length };
  }

  /** Whether the book does not know an alert yet. */
  #isNew(tenant: string, id: string): boolean {
    return this.#book.index(tenant).get(id) === undefined;
  }

  #count(outcome: PageDecision["outcome"]): number {
    let count = 0;
    for (const { decision } of this.#rows) if (decision.outcome === outcome) count++;
    return count;
  }

  /** Events for the event stream: alerts that opened, were raised or acknowledged, or ended. */
  events(): StreamEvents["events"] {
    return [...this.#memory.changed]
      .filter(({ history }) => history.at(-1)?.atMs === this.#nowMs)
      .map((alert) => ({ event: "alert", tenant: alert.state.key.tenant, data: JSON.stringify(this.#book.view(alert)) }));
  }

  #decide(anomaly: Anomaly, kind: Finding["kind"], read: ReadAnomaly): DecidedAnomalies {
    const others = new Map<string, Anomaly>();
    const openFinding = (id: string) => {
      const other = read(anomaly.tenant, id);
      if (other !== undefined) others.set(id, other);
      return this.#openFinding(other);
    };
    const finding = findingOf(anomaly, kind, anomaly.paging, this.#nowMs);
    const { raised, ...own } = decideFire(finding, this.#sources, this.#memory, openFinding);
    return {
      anomaly: this.#decided(anomaly, kind, own),
      raised: raised.flatMap((outcome) => {
        const other = others.get(outcome.decision.anomalyId) as Anomaly;
        const after = this.#decided(other, "raised", outcome);
        return after === other ? [] : [after];
      }),
    };
  }

  #openFinding(anomaly: Anomaly | undefined): Finding | undefined {
    const isOpen = anomaly !== undefined && anomaly.resolvedAtMs === null;
    return isOpen ? findingOf(anomaly, "raised", anomaly.paging, this.#nowMs) : undefined;
  }

  /** The anomaly with what was decided on it. */
  #decided(anomaly: Anomaly, kind: Finding["kind"], { decision, ended, merged }: FireOutcome): Anomaly {
    for (const each of merged) this.#keepOfAlert(each);
    if (ended !== undefined) this.#keepOfAlert(ended);
    const { tier, outcome, suppressedBy, rca } = decision;
    const last = anomaly.paging;
    const triggers = rca?.passed === true || last?.rcaTriggered === true;
    const alertId = decision.alertId ?? last?.alertId ?? null;
    const isSame = kind === "raised" && last?.outcome === outcome && last.suppressedBy === suppressedBy && last.tier === tier;
    if (isSame && alertId === last?.alertId) return anomaly;
    const serial = last === null ? 0 : last.serial + 1;
    this.#rows.push({ id: ledgerRowId(anomaly.id, serial), decision });
    // What has paged has paged: that it rises is an update of the same alert.
    const hasPaged = last?.outcome === "paged" && outcome === "absorbed" && alertId === last.alertId;
    const said = hasPaged ? ({ outcome: "paged", suppressedBy: null } as const) : { outcome, suppressedBy };
    const paging = { tier, alertId, ...said, decidedAtMs: this.#nowMs, serial };
    const decided: Anomaly = { ...anomaly, paging: triggers ? { ...paging, rcaTriggered: true } : paging };
    if (rca?.passed === true) this.#triggered.set(anomaly.id, decided);
    return decided;
  }

  #stepOf(after: Alert): AlertStep {
    const { memory } = this.#book;
    const newest = memory.newestLike(after);
    const renews = newest !== undefined && newest.state.id !== after.state.id && isFiring(newest);
    return { before: this.#book.find(after.state.key.tenant, after.state.id), after, renews };
  }

  #keepOfAlert(decision: PageDecision): void {
    const alert = this.#memory.alert(decision.alertId as string) as Alert;
    this.#rows.push({ id: ledgerRowId(alert.state.id, alert.history.length + alert.pages), decision });
  }

  #chooseEvicted(changed: readonly Alert[]): Array<{ tenant: string; entry: AlertEntry }> {
    const added = new Map<string, number>();
    for (const { state } of changed) {
      const { tenant } = state.key;
      if (this.#book.index(tenant).get(state.id) === undefined) added.set(tenant, (added.get(tenant) ?? 0) + 1);
    }
    return [...added].flatMap(([tenant, count]) => {
      const index = this.#book.index(tenant);
      return index.oldest(index.size + count - this.#alertsMax).map((entry) => ({ tenant, entry }));
    });
  }
}

/** Whether the last decision on an anomaly has brought it to people, by itself or in an alert. */
function hasReached({ paging }: Anomaly): boolean {
  return paging?.outcome === "paged" || paging?.outcome === "absorbed";
}

function keyOf({ state }: Alert): Uint8Array {
  return tenantTimeKey(state.key.tenant, state.createdAtMs, state.id);
}

/** Takes what a draft has done over into the metrics. */
export function countAlerts(
  counters: CoordinatorCounters,
  { alerts }: { readonly alerts: Pick<AlertBook, "firingCount"> },
  done: AlertCounts,
): void {
  counters.add("alertsOpened", done.opened);
  counters.add("alertsDropped", done.dropped);
  counters.add("pagesDecided", done.paged);
  counters.add("pagesHeldBack", done.suppressed);
  counters.set("alertsFiring", alerts.firingCount);
}
