// An alert and a decision as clients see them, in lists, alone and in the event stream.

import { formatRfc3339 } from "../core/time/rfc3339.ts";
import { type Alert, beginOfAlert, endOfAlert } from "../domain/alerting/paging/alert.ts";
import { endText } from "../domain/alerting/paging/end-text.ts";
import { holdText, SNOOZED_GATE } from "../domain/alerting/paging/hold-text.ts";
import type { PageDecision } from "../domain/alerting/paging/page-decision.ts";
import { lineText, type TimelineLine } from "../domain/alerting/timeline.ts";
import { sentenceText } from "../domain/anomaly/sentence.ts";
import type { GateResult } from "../domain/detection/gates/gate-result.ts";
import type { Notification } from "../domain/notification/notification-state.ts";
import { notificationView } from "./notification-view.ts";

/** The object that leaves the server. */
export function alertView(alert: Alert, notification: Notification) {
  return { ...alertFields(alert), notification: notificationView(notification) };
}

/** What of it is the alert's own. */
export function alertFields({ state, ...alert }: Alert) {
  const { key, resolvedAtMs } = state;
  const endedAtMs = endOfAlert({ state, ...alert });
  return {
    alert_id: state.id,
    state: resolvedAtMs === null ? ("firing" as const) : ("resolved" as const),
    severity: state.tier,
    service_id: key.serviceId,
    environment: key.environment,
    family: key.family,
    started_at: formatRfc3339(beginOfAlert({ state, ...alert })),
    updated_at: formatRfc3339(alert.updatedAtMs),
    resolved_at: endedAtMs === null ? null : formatRfc3339(endedAtMs),
    anomaly_ids: alert.members.map(({ anomalyId }) => anomalyId),
    anomalies: alert.anomalies,
    open_anomalies: alert.open,
    services: alert.services,
    merged_into: alert.mergedInto,
    explanation: sentenceText(alert.peak.explanation),
    labels: alert.labels,
    resolved_by: alert.ending?.reason ?? null,
    resolved_by_name: alert.ending?.person ?? null,
    accepted_level: alert.ending?.level ?? null,
    resolution: endText(alert.ending, alert.peak),
    acknowledged_by: alert.acknowledged?.by ?? null,
    acknowledged_at: alert.acknowledged === null ? null : formatRfc3339(alert.acknowledged.atMs),
    note: alert.acknowledged?.note ?? null,
    assignee: alert.assignee,
    snoozed_until: alert.snooze === null ? null : formatRfc3339(alert.snooze.untilMs),
    snoozed_by: alert.snooze?.by ?? null,
    pages: alert.pages,
    held_back_by: alert.snooze !== null && resolvedAtMs === null ? SNOOZED_GATE : alert.heldBy,
    held_back_until: resolvedAtMs === null ? holdText(alert.heldBy, alert.snooze) : null,
  };
}

/** Changes of its state, oldest first. */
export function historyView({ history }: Alert) {
  return history.map(({ atMs, kind, tier, by, note }) => ({ at: formatRfc3339(atMs), change: kind, severity: tier, by, note }));
}

export function timelineEntryView(line: TimelineLine) {
  return { at: formatRfc3339(line.atMs), kind: line.kind, by: line.by, text: lineText(line) };
}

export function decisionView(decision: PageDecision) {
  return {
    at: formatRfc3339(decision.atMs),
    service_id: decision.serviceId,
    metric_name: decision.metricName,
    environment: decision.environment,
    detector: decision.detector,
    family: decision.family,
    anomaly_id: decision.anomalyId,
    alert_id: decision.alertId,
    severity: decision.tier,
    anomaly_score: decision.score,
    z_score: decision.z,
    outcome: decision.outcome,
    suppressed_by: decision.suppressedBy,
    gates: decision.gates.map(gateView),
    rca: decision.rca === null ? null : gateView(decision.rca),
    explanation: sentenceText(decision.explanation),
  };
}

/** A value that is infinite, such as the time since something that never was, is null. */
function gateView({ name, passed, value, limit }: GateResult) {
  return { name, passed, value: finite(value), limit: finite(limit) };
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
