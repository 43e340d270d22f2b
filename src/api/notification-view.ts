// A fire drill as its answer and the status show it.
import { formatRfc3339 } from "../core/time/rfc3339.ts";
import type { Alert } from "../domain/alerting/paging/alert.ts";
import type { Anomaly } from "../domain/anomaly/anomaly.ts";
import { type Drill, failedStage } from "../domain/notification/drill.ts";
import type { Notification } from "../domain/notification/notification-state.ts";
import { anomalyView } from "./anomaly-view.ts";

/** Whether anybody was told, as answers and events show it. */
export function notificationView({ state, channel, atMs, reason }: Notification) {
  return { state, channel, at: atMs === null ? null : formatRfc3339(atMs), reason };
}

/** An anomaly with what was told of it, as lists and the event stream show it; `alert` as anomalyView() wants it. */
export function notifiedAnomalyView(anomaly: Anomaly, alert: Alert | undefined, notification: Notification) {
  return { ...anomalyView(anomaly, alert), notification: notificationView(notification) };
}

export function drillView(drill: Drill) {
  const failed = failedStage(drill);
  return {
    drill_id: drill.id,
    result: failed === undefined ? ("passed" as const) : ("failed" as const),
    failed_stage: failed ?? null,
    reason: drill.reason,
    started_at: formatRfc3339(drill.startedAtMs),
    duration_ms: drill.endedAtMs - drill.startedAtMs,
    stages: drill.stages.map(({ stage, state, afterMs }) => ({ stage, state, after_ms: afterMs })),
    environment: drill.environment,
    anomaly_id: drill.anomalyId,
    alert_id: drill.alertId,
  };
}
