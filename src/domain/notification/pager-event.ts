// Events API v2 of PagerDuty: one event for each message, known by `dedup_key`, the identity of the alert.

import { PAGER_EVENT_BYTES_MAX, PAGER_SUMMARY_CHARACTERS_MAX } from "../../core/config/notification-limits.ts";
import { isLongerThan } from "../../core/text/utf8.ts";
import { type AlertMessage, cut, headline, shownMessage } from "./alert-message.ts";

const SEVERITIES = { high: "critical", medium: "error", low: "info" } as const;
const CLIENT = "Vedette";

/** The body that is sent; `routingKey` is a secret. */
export function pagerEvent(decided: AlertMessage, routingKey: string): string {
  const message = shownMessage(decided);
  const whole = JSON.stringify(eventOf(message, routingKey, true));
  return isLongerThan(whole, PAGER_EVENT_BYTES_MAX) ? JSON.stringify(eventOf(message, routingKey, false)) : whole;
}

function eventOf(message: AlertMessage, routingKey: string, withDetails: boolean): object {
  const head = { routing_key: routingKey, event_action: actionOf(message), dedup_key: message.alertId };
  if (head.event_action === "resolve") return head;
  if (head.event_action === "acknowledge") return head;
  const details = {
    explanation: message.explanation,
    environment: message.environment,
    services: message.services,
    ...(message.cause === null ? {} : { cause: message.cause }),
  };
  return {
    ...head,
    client: CLIENT,
    ...(message.url === null ? {} : { client_url: message.url, links: [{ href: message.url, text: "Alert in Vedette" }] }),
    payload: {
      summary: cut(`${headline(message)}: ${message.kind === "cause" ? message.cause : message.explanation}`, PAGER_SUMMARY_CHARACTERS_MAX),
      source: cut(message.serviceId, PAGER_SUMMARY_CHARACTERS_MAX),
      severity: SEVERITIES[message.severity],
      timestamp: new Date(message.startedAtMs).toISOString(),
      component: cut(message.metricName, PAGER_SUMMARY_CHARACTERS_MAX),
      ...(message.team === null ? {} : { group: cut(message.team, PAGER_SUMMARY_CHARACTERS_MAX) }),
      class: message.source,
      custom_details: withDetails ? details : { left_out: "the event was larger than 512 KB" },
    },
  };
}

/** A cause triggers under the same key: the event is merged into the incident that is open. */
function actionOf({ kind }: AlertMessage): "trigger" | "acknowledge" | "resolve" {
  if (kind === "resolved") return "resolve";
  return kind === "acknowledged" ? "acknowledge" : "trigger";
}
