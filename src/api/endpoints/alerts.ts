import { z } from "zod";
import { LABEL_KEY_CHARACTERS_MAX } from "../../core/config/declaration-limits.ts";
import { NOTE_CHARACTERS_MAX } from "../../core/config/limits.ts";
import { DETECTOR_FAMILIES } from "../../domain/alerting/ensemble.ts";
import type { Endpoint } from "../endpoint.ts";
import { bucketsParameter, choiceParameter, environmentParameter, partParameter, textParameter, timeParameter } from "../parameters.ts";
import { ALERT, ALERT_DETAIL, ALERT_EXAMPLE, ALERT_LIST, DECISION_EXAMPLE } from "../shapes/alert.ts";
import { ANOMALY_EXAMPLE } from "../shapes/anomaly.ts";
import { DELIVERY_EXAMPLE } from "../shapes/delivery.ts";
import { LEDGER } from "../shapes/ledger.ts";
import { nameField } from "../shapes/name.ts";
import { NO_QUERY, PAGE, TIME_RANGE } from "./query-shapes.ts";

const PERSON = nameField().max(LABEL_KEY_CHARACTERS_MAX);
const PARAMETERS = { alert_id: "alert_id of the alert" };

/** Endpoints of alerts. */
export const ALERTS_ENDPOINTS = [
  {
    name: "alerts",
    method: "GET",
    path: "/api/v1/alerts",
    access: "viewer",
    handledBy: "coordinator",
    query: z.strictObject({
      state: choiceParameter("state", ["firing", "resolved"]).optional(),
      severity: choiceParameter("severity", ["low", "medium", "high"]).optional(),
      service_id: textParameter("service_id").optional(),
      environment: environmentParameter().optional(),
      family: choiceParameter("family", DETECTOR_FAMILIES).optional(),
      q: partParameter().optional(),
      team: textParameter("team").optional(),
      acknowledged: choiceParameter("acknowledged", ["true", "false"]).optional(),
      buckets: bucketsParameter().optional(),
      ...TIME_RANGE,
      ...PAGE,
    }),
    responses: { 200: ALERT_LIST },
    examples: { response: { alerts: [ALERT_EXAMPLE], total: 1, page_token: "" } },
    summary: "Alerts by their start, newest first",
  },
  {
    name: "alertLedger",
    method: "GET",
    path: "/api/v1/alerts/ledger",
    access: "viewer",
    handledBy: "coordinator",
    query: z.strictObject({
      service_id: textParameter("service_id"),
      metric_name: textParameter("metric_name").optional(),
      environment: environmentParameter().optional(),
      at: timeParameter("at").optional(),
      ...TIME_RANGE,
    }),
    responses: { 200: LEDGER },
    examples: {
      response: {
        decisions: [DECISION_EXAMPLE],
        moments: [
          {
            environment: "production",
            attributes: { route: "/pay" },
            sample_at: ALERT_EXAMPLE.started_at,
            declared: false,
            reason: "not_persistent",
            verdict: { ...ANOMALY_EXAMPLE.verdict, suppressed_by: "not_persistent" },
            layers: [
              {
                layer: "adaptive",
                state: "evaluated",
                reason: "ordinary",
                declared: false,
                at: ALERT_EXAMPLE.started_at,
                value: 0.41,
                bar: 1,
                verdict: null,
                made_again_since: "2026-01-17T12:00:00.000Z",
              },
            ],
          },
        ],
        services: [
          {
            environment: "production",
            layer: "isolation_forest",
            state: "learning",
            reason: "learning",
            declared: false,
            at: null,
            value: 120,
            bar: 256,
            verdict: null,
            made_again_since: "2026-01-31T10:00:00.000Z",
          },
        ],
        complete: true,
      },
    },
    summary:
      "Why a pair did or did not page: what was decided in a range of time, or at a moment with what each layer of detection said of it",
  },
  {
    name: "alert",
    method: "GET",
    path: "/api/v1/alerts/{alert_id}",
    access: "viewer",
    handledBy: "coordinator",
    query: NO_QUERY,
    parameters: PARAMETERS,
    responses: { 200: ALERT_DETAIL },
    examples: {
      response: {
        ...ALERT_EXAMPLE,
        members: [
          {
            anomaly_id: "3b1f0c5a9d2e47f6a8b0c1d2e3f40516",
            service_id: "checkout",
            metric_name: "request.duration_ms.p95",
            severity: "high",
            resolved: false,
          },
        ],
        history: [{ at: ALERT_EXAMPLE.started_at, change: "opened", severity: "high", by: null, note: null }],
        deliveries: [DELIVERY_EXAMPLE],
        delivery_note: null,
        decisions: [DECISION_EXAMPLE],
        decisions_complete: true,
      },
    },
    summary: "One alert with its anomalies, its history and what was decided on it",
  },
  {
    name: "acknowledgeAlert",
    method: "POST",
    path: "/api/v1/alerts/{alert_id}/acknowledge",
    access: "operator",
    handledBy: "coordinator",
    query: NO_QUERY,
    parameters: PARAMETERS,
    body: z.strictObject({ by: PERSON.optional(), note: z.string().max(NOTE_CHARACTERS_MAX).optional() }),
    responses: { 200: ALERT },
    errors: ["conflict"],
    examples: {
      body: { note: "looking at it" },
      response: { ...ALERT_EXAMPLE, acknowledged_by: "ada@example.com", acknowledged_at: ALERT_EXAMPLE.started_at, note: "looking at it" },
    },
    summary: "Acknowledges an alert that fires: it pages again only where its severity rises to high",
  },
  {
    name: "assignAlert",
    method: "POST",
    path: "/api/v1/alerts/{alert_id}/assign",
    access: "operator",
    handledBy: "coordinator",
    query: NO_QUERY,
    parameters: PARAMETERS,
    body: z.strictObject({ assignee: PERSON.nullable() }),
    responses: { 200: ALERT },
    examples: { body: { assignee: "ada@example.com" }, response: { ...ALERT_EXAMPLE, assignee: "ada@example.com" } },
    summary: "Says who looks after an alert; null: nobody",
  },
] as const satisfies readonly Endpoint[];
