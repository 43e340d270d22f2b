// An alert as it is kept: its identity and state, the anomalies that belong to it, and what people did about it.
import { ALERT_UPDATES_MAX } from "../../../core/config/alert-limits.ts";
import { ALERT_HISTORY_MAX, ALERT_MEMBERS_MAX } from "../../../core/config/limits.ts";
import { MINUTE_MS } from "../../../core/time/durations.ts";
import type { Ending } from "../../anomaly/ending.ts";
import type { Sentence } from "../../anomaly/sentence.ts";
import type { Tier } from "../../detection/anomaly-score.ts";
import type { AlertChangeKind } from "../alert-changes.ts";
import type { AlertState } from "../alert-identity.ts";
import type { Labels } from "../label-matcher.ts";
import { familyOfDetector } from "./detector-family.ts";
import type { Finding } from "./finding.ts";

export interface AlertMember {
  readonly anomalyId: string;
  readonly serviceId: string;
  readonly metricName: string;
}

/** One change of an alert's state, as its history tells it. */
export interface AlertChange {
  readonly atMs: number;
  readonly kind: AlertChangeKind;
  readonly tier: Tier;
  /** Who did it; null where the service did. */
  readonly by: string | null;
  readonly note: string | null;
  /** The metric that has joined, become worse or ended, where people hear of that; absent in rows of before. */
  readonly metricName?: string;
}

/** The finding that stands for an alert: the one with the highest |z|. */
export interface AlertPeak {
  readonly anomalyId: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly detector: string;
  readonly z: number;
  readonly explanation: Sentence;
}

/** How far a metric was off when people heard of it, in doublings of its effect (severity.ts). */
export interface NotifiedEffect {
  readonly metricName: string;
  readonly doublings: number;
}

export interface Acknowledgement {
  readonly by: string;
  readonly note: string | null;
  readonly atMs: number;
}

/** Nobody is called before its end; then, where the alert still fires, it is asked again. */
export interface Snooze extends Acknowledgement {
  readonly untilMs: number;
}

export interface Alert {
  readonly state: AlertState;
  /** Labels of its peak, with its own severity. */
  readonly labels: Labels;
  readonly peak: AlertPeak;
  /** The first ALERT_MEMBERS_MAX anomalies; `anomalies` counts all, `open` those that have not ended. */
  readonly members: readonly AlertMember[];
  readonly anomalies: number;
  readonly open: number;
  /** Services of a cascade; empty for others. */
  readonly services: readonly string[];
  readonly pages: number;
  /** Gate that holds its page back: asked again while the alert fires, and kept when it is resolved unreported. Null where people know all there is to tell. */
  readonly heldBy: string | null;
  /** The alert that it has closed into, as a part of its incident; null for most. */
  readonly mergedInto: string | null;
  readonly acknowledged: Acknowledgement | null;
  readonly assignee: string | null;
  readonly snooze: Snooze | null;
  /** How it has ended; null while it fires. */
  readonly ending: Ending | null;
  /** Of metrics, ALERT_MEMBERS_MAX at most; absent where none has an effect, and in rows of before. */
  readonly notifiedEffects?: readonly NotifiedEffect[];
  /** Time of the value that the first of its anomalies began with, whenever it came; absent in rows of before. */
  readonly beganAtMs?: number;
  /** Time of the value by which the last of them was over; absent while it fires, where no value showed that, and in rows of before. */
  readonly endedAtMs?: number;
  readonly updatedAtMs: number;
  /** Oldest first; the newest ALERT_HISTORY_MAX. */
  readonly history: readonly AlertChange[];
}

/** The alert with a line more in its history. */
export function withChange(alert: Alert, change: AlertChange): Alert {
  return { ...alert, updatedAtMs: change.atMs, history: [...alert.history, change].slice(-ALERT_HISTORY_MAX) };
}

const UPDATES: ReadonlySet<AlertChangeKind> = new Set(["updated", "worse", "member_ended"]);

/** Changes of which people hear as an update of what they know. */
export function updatesOf(history: readonly AlertChange[]): Array<AlertChange & { readonly note: string }> {
  return history.flatMap((change) => (change.note !== null && UPDATES.has(change.kind) ? [{ ...change, note: change.note }] : []));
}

/** Whether people may hear of one more; what is high has as many again, so that a noisy alert does not swallow it. */
export function hasUpdatesLeft({ history }: Pick<Alert, "history">, isHigh = false): boolean {
  return updatesOf(history).length < (isHigh ? 2 : 1) * ALERT_UPDATES_MAX;
}

/** Lines of the alert's history that it has had before; `before` may be a copy of it as it is stored. */
export function knownHistory(before: Alert | undefined, { history }: Alert): ReadonlySet<AlertChange> {
  const known = new Set(before?.history);
  if (known.size === 0 || history.some((change) => known.has(change))) return known;
  const texts = new Set(before?.history.map((change) => JSON.stringify(change)));
  return new Set(history.filter((change) => texts.has(JSON.stringify(change))));
}

/** The members with one more, as long as there is room. */
export function withMember(
  members: readonly AlertMember[] = [],
  { anomalyId, serviceId, metricName }: AlertMember,
): readonly AlertMember[] {
  return members.length >= ALERT_MEMBERS_MAX ? members : [...members, { anomalyId, serviceId, metricName }];
}

export function peakOf({ anomalyId, serviceId, metricName, detector, z, explanation }: Finding): AlertPeak {
  return { anomalyId, serviceId, metricName, detector, z, explanation };
}

/** The alert with what its peak says now, at the same height. */
export function restated(alert: Alert, explanation: Sentence, atMs: number): Alert {
  const change = { atMs, kind: "updated", tier: alert.state.tier, by: null, note: null } as const;
  return withChange({ ...alert, peak: { ...alert.peak, explanation } }, change);
}

/** Whether an alert takes in what opens at this time: no later than the dedup age after its own creation (rule 1.1.10). */
export function takesIn({ state }: Alert, openedAtMs: number, dedupMaxAgeMinutes: number): boolean {
  return openedAtMs - state.createdAtMs <= dedupMaxAgeMinutes * MINUTE_MS;
}

/** When what an alert is of began, by the values themselves. */
export function beginOfAlert({ state, beganAtMs }: Pick<Alert, "state" | "beganAtMs">): number {
  return beganAtMs ?? state.createdAtMs;
}

/** When it was over: by the value that showed it, else when the alert was ended; null while it fires. */
export function endOfAlert(alert: Pick<Alert, "state" | "beganAtMs" | "endedAtMs">): number | null {
  const { resolvedAtMs } = alert.state;
  return resolvedAtMs === null ? null : Math.max(beginOfAlert(alert), alert.endedAtMs ?? resolvedAtMs);
}

export function isFiring({ state }: Alert): boolean {
  return state.resolvedAtMs === null;
}

/** Whether an alert is that of a cascade, under whatever key it goes on. */
export function isOfCascade({ state, peak }: Alert): boolean {
  return state.key.family === "cascade" || familyOfDetector(peak.detector) === "cascade";
}
