import { formatRfc3339 } from "../core/time/rfc3339.ts";
import type { Alert } from "../domain/alerting/paging/alert.ts";
import type { Anomaly } from "../domain/anomaly/anomaly.ts";
import type { Notification } from "../domain/notification/notification-state.ts";
import { anomalyView } from "./anomaly-view.ts";

/** Whether anybody was told, as answers and events show it. */
export function notificationView({ state, channel, atMs, reason }: Notification) {
  return { state, channel, at: atMs === null ? null : formatRfc3339(atMs), reason };
}

/** An anomaly with what was told of it, as lists and the event stream show it; `alert` as anomalyView() wants it. */
export function toldAnomalyView(anomaly: Anomaly, alert: Alert | undefined, notification: Notification) {
  return { ...anomalyView(anomaly, alert), notification: notificationView(notification) };
}
