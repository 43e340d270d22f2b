// Webhooks and their attempts as clients see them: what is secret is `***`.

import { HIDDEN } from "../../core/text/secret.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { FaultPause } from "../../domain/webhooks/fault-pauses.ts";
import type { Webhook } from "../../domain/webhooks/webhook.ts";
import type { AttemptNote } from "../../domain/webhooks/webhook-delivery.ts";
import type { WebhookDeliveryRow } from "./webhook-row.ts";

/** The URL without what is behind its origin. */
export function shownUrl(url: string): string {
  return URL.canParse(url) ? `${new URL(url).origin}/${HIDDEN}` : HIDDEN;
}

function shownHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, HIDDEN]));
}

/** A webhook, with why it sends nothing now. */
export function webhookView(webhook: Webhook, pause: FaultPause | null = null) {
  const { name, url, method, headers, pattern, transform, retry, secret, enabled, createdAtMs } = webhook;
  return {
    name,
    url: shownUrl(url),
    method,
    headers: shownHeaders(headers),
    pattern: {
      service_id_regex: pattern.serviceIdRegex,
      metric_name_regex: pattern.metricNameRegex,
      min_anomaly_score: pattern.minAnomalyScore,
      root_cause_category: pattern.rootCauseCategory,
      environments: pattern.environments,
    },
    transform:
      transform === null
        ? null
        : transform.type === "jq"
          ? { type: transform.type, expression: transform.expression ?? "" }
          : { type: transform.type, code: transform.code ?? "" },
    retry: {
      max_attempts: retry.maxAttempts,
      initial_delay_ms: retry.initialDelayMs,
      backoff_multiplier: retry.backoffMultiplier,
      max_delay_ms: retry.maxDelayMs,
    },
    secret: secret === null ? null : HIDDEN,
    enabled,
    paused: pause && { until: formatRfc3339(pause.untilMs), failures: pause.failures, error: pause.error },
    created_at: formatRfc3339(createdAtMs),
  };
}

/** The attempts of a delivery, the newest first; one that is to be made stands first. */
export function attemptViews(row: WebhookDeliveryRow) {
  const made = row.notes.map((note) => attemptView(row, note)).reverse();
  return row.state === "pending" ? [pendingView(row), ...made] : made;
}

/** Number of attempts of a delivery that the list shows. */
export function attemptCount({ state, attempts }: WebhookDeliveryRow): number {
  return attempts + (state === "pending" ? 1 : 0);
}

export function attemptView({ deliveryId, eventId, eventType }: WebhookDeliveryRow, note: AttemptNote) {
  return {
    delivery_id: deliveryId,
    event_id: eventId,
    event_type: eventType,
    attempt: note.attempt,
    state: note.state,
    status_code: note.statusCode,
    response_time_ms: note.responseTimeMs,
    error: note.error,
    attempted_at: formatRfc3339(note.attemptedAtMs),
    next_attempt_at: note.nextAttemptAtMs === null ? null : formatRfc3339(note.nextAttemptAtMs),
  };
}

function pendingView({ deliveryId, eventId, eventType, attempts, nextAttemptAtMs, createdAtMs }: WebhookDeliveryRow) {
  return {
    delivery_id: deliveryId,
    event_id: eventId,
    event_type: eventType,
    attempt: attempts + 1,
    state: "pending",
    status_code: null,
    response_time_ms: null,
    error: null,
    attempted_at: null,
    next_attempt_at: formatRfc3339(nextAttemptAtMs === 0 ? createdAtMs : nextAttemptAtMs),
  };
}
