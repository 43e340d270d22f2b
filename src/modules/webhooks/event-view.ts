// An event as it is delivered (decisions, section 6): what happened, all that is said of its anomaly, its cause.
import { createHash } from "node:crypto";
import { anomalyView } from "../../api/anomaly-view.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { Alert } from "../../domain/alerting/paging/alert.ts";
import type { Anomaly } from "../../domain/anomaly/anomaly.ts";
import { alertPage } from "../../domain/notification/decided-messages.ts";
import type { RootCause } from "../analysis/root-cause-view.ts";
import type { EventType, WebhookDeliveryRow } from "./webhook-row.ts";

/** What an event tells of. */
interface EventSubject {
  readonly anomaly: Anomaly;
  readonly alert: Alert | undefined;
  readonly cause: RootCause | null;
  /** PUBLIC_URL; null where there is none. */
  readonly publicUrl: string | null;
}

/** JSON of an event; `link` opens the page of its alert. `verdict_digest` is SHA-256 over the JSON of the anomaly's member `verdict`, without spaces, as `GET /api/v1/anomalies/{id}` shows it. */
export function eventText(
  { eventId, eventType, occurredAtMs }: Pick<WebhookDeliveryRow, "eventId" | "eventType" | "occurredAtMs">,
  { anomaly, alert, cause, publicUrl }: EventSubject,
): string {
  const alertId = anomaly.paging?.alertId ?? null;
  return JSON.stringify({
    event_id: eventId,
    event_type: eventType,
    occurred_at: formatRfc3339(occurredAtMs),
    tenant_id: anomaly.tenant,
    ...anomalyView(anomaly, alert),
    verdict_digest: createHash("sha256").update(JSON.stringify(anomaly.verdict)).digest("hex"),
    root_cause: cause,
    link: publicUrl === null || alertId === null ? null : alertPage(publicUrl, alertId),
  });
}

/** JSON of a test event: of the same form, of no anomaly. */
export function testEventText(eventId: string, tenant: string, occurredAtMs: number): string {
  const at = formatRfc3339(occurredAtMs);
  return JSON.stringify({
    event_id: eventId,
    event_type: "webhook.test" satisfies EventType,
    occurred_at: at,
    tenant_id: tenant,
    anomaly_id: "0".repeat(32),
    service_id: "vedette.test",
    metric_name: "webhook.test",
    anomaly_score: 0.9,
    z_score: 8,
    detected_at: at,
    rca_triggered: true,
    resolved: false,
    severity: "high",
    environment: "",
    attributes: {},
    observed_at: at,
    started_at: at,
    resolved_at: null,
    resolved_by: null,
    direction: "high",
    detector: "manual",
    explanation: "a test of this webhook: nothing has happened",
    verdict: null,
    streams: 1,
    alert_id: null,
    outcome: null,
    suppressed_by: null,
    feedback: null,
    verdict_digest: createHash("sha256").update("null").digest("hex"),
    root_cause: {
      category: "application",
      confidence: 1,
      summary: "a test of this webhook: there is no cause",
      evidence: {},
      suggested_actions: ["nothing is to be done"],
    },
    link: null,
  });
}
