import { type AlertMessage, OF_NO_ALERT } from "../../src/domain/notification/alert-message.ts";

/** A page of an alert on one series. */
export const ALERT_MESSAGE: AlertMessage = {
  ...OF_NO_ALERT,
  kind: "opened",
  tenant: "default",
  alertId: "a1",
  severity: "high",
  serviceId: "checkout",
  environment: "",
  source: "metric",
  metricName: "latency_ms",
  explanation: "latency_ms was 400",
  startedAtMs: 0,
  atMs: 0,
};
