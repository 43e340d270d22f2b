// What people do about alerts: it ends anomalies too, so it stands behind both.
import type { NounModule } from "../state/noun-module.ts";
import {
  acceptAlert,
  acknowledgeAlert,
  actOnAlerts,
  assignAlert,
  commentAlert,
  resolveAlert,
  snoozeAlert,
  unacknowledgeAlert,
} from "./alert-action-handlers.ts";

export const ALERT_ACTIONS = {
  handlers: {
    acknowledgeAlert,
    unacknowledgeAlert,
    assignAlert,
    resolveAlert,
    acceptAlert,
    snoozeAlert,
    commentAlert,
    actOnAlerts,
  },
} as const satisfies NounModule;
