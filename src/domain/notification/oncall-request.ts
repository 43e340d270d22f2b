// Requests in the dialect of Opsgenie's alert API, which JSM takes too: an alert is known by its `alias`, the identity of ours.
import { ONCALL_DESCRIPTION_CHARACTERS_MAX, ONCALL_MESSAGE_CHARACTERS_MAX } from "../../core/config/notification-limits.ts";
import { type AlertMessage, cut, detailLines, headline, shownMessage, timesLine } from "./alert-message.ts";

const PRIORITIES = { high: "P1", medium: "P3", low: "P5" } as const;
const SOURCE = "Vedette";
const DETAIL_CHARACTERS_MAX = 1_000;

/** Path behind the base URL, and the body. */
export interface OncallRequest {
  readonly path: string;
  readonly body: string;
}

export function oncallRequest(decided: AlertMessage, team: string): OncallRequest {
  const message = shownMessage(decided);
  const ofAlias = `/v2/alerts/${encodeURIComponent(message.alertId)}`;
  if (message.kind === "resolved") return { path: `${ofAlias}/close?identifierType=alias`, body: JSON.stringify({ source: SOURCE }) };
  if (message.kind === "acknowledged") {
    const user = message.acknowledgedBy === null ? {} : { user: cut(message.acknowledgedBy, 100) };
    return { path: `${ofAlias}/acknowledge?identifierType=alias`, body: JSON.stringify({ source: SOURCE, ...user }) };
  }
  if (message.kind === "cause") {
    const note = cut(`Cause: ${message.cause ?? ""}`, ONCALL_DESCRIPTION_CHARACTERS_MAX);
    return { path: `${ofAlias}/notes?identifierType=alias`, body: JSON.stringify({ source: SOURCE, note }) };
  }
  return { path: "/v2/alerts", body: JSON.stringify(alertOf(message, team)) };
}

function alertOf(message: AlertMessage, team: string): object {
  const { alertId, environment, metricName, severity, serviceId, source, url } = message;
  const details = { environment, metric_name: metricName, severity, source, ...(url === null ? {} : { url }) };
  return {
    message: cut(headline(message), ONCALL_MESSAGE_CHARACTERS_MAX),
    alias: alertId,
    description: cut([...detailLines(message), timesLine(message)].join("\n"), ONCALL_DESCRIPTION_CHARACTERS_MAX),
    responders: [{ type: "team", name: team }],
    tags: [severity, source],
    details: Object.fromEntries(Object.entries(details).map(([name, value]) => [name, cut(value, DETAIL_CHARACTERS_MAX)])),
    entity: cut(serviceId, 512),
    source: SOURCE,
    priority: PRIORITIES[severity],
  };
}
