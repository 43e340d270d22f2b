import { z } from "zod";
import {
  ALERT_WEBHOOK_BODY_BYTES_MAX,
  RESOLUTION_BODY_BYTES_MAX,
  RESOLUTION_CHARACTERS_MAX,
  RESOLUTION_TAGS_PER_RECORD_MAX,
  WEBHOOK_ALERTS_PER_REQUEST_MAX,
} from "../../core/config/analysis-limits.ts";
import { HOPS_MAX } from "../../domain/topology/reach.ts";
import { declared } from "../declared.ts";
import { environmentParameter, numberParameter, textParameter, timeField, timeText } from "../parameters.ts";
import {
  ALERTS_TAKEN,
  ANALYSIS,
  BLAST_RADIUS,
  CORRELATIONS,
  RCA_REPORTS,
  REPORT_EXAMPLE,
  RESOLUTION_STORED,
  SCORECARD,
  SIMILAR_REPORTS,
} from "../shapes/analysis.ts";
import { nameField, optionalName } from "../shapes/name.ts";
import { EXAMPLE_TIME } from "../shapes/scalars.ts";
import { PAGE, TIME_RANGE } from "./query-shapes.ts";

const ID = nameField();
const DEPTH_INITIAL = 3;
const RECOVERY_MINUTES_MAX = 525_600;

/** Depth of a walk over calls. */
const depth = () =>
  numberParameter("depth", 1, HOPS_MAX)
    .refine(Number.isInteger, "must be a whole number")
    .meta({ type: "integer", "x-default": DEPTH_INITIAL })
    .optional()
    .transform((value) => value ?? DEPTH_INITIAL);

/** Of any length that the body has room for: names are mended and values cut where they become an anomaly's. */
const LABELS = z.record(z.string(), z.string());
/** As Alertmanager sends it; members that it may add are passed over. */
const WEBHOOK_ALERT = z.object({
  status: z.enum(["firing", "resolved"]).default("firing"),
  labels: LABELS,
  annotations: LABELS.default({}),
  startsAt: timeText().optional(),
  endsAt: timeText().optional(),
});
const WEBHOOK_ALERTS = z.array(WEBHOOK_ALERT).min(1).max(WEBHOOK_ALERTS_PER_REQUEST_MAX);
/** Why it broke, what else breaks, and what helped before. */
export const ANALYSIS_ENDPOINTS = declared([
  {
    name: "rcaReports",
    method: "GET",
    path: "/api/v1/rca/reports",
    access: "viewer",
    answersCommitted: true,
    query: z.strictObject({
      service_id: textParameter("service_id").optional(),
      environment: environmentParameter().optional(),
      anomaly_id: textParameter("anomaly_id").optional(),
      ...TIME_RANGE,
      ...PAGE,
    }),
    responses: { 200: RCA_REPORTS },
    examples: { response: { reports: [REPORT_EXAMPLE], total: 1, page_token: "" } },
    summary: "Reports of root causes, newest incident first, each in its newest revision",
  },
  {
    name: "analyze",
    method: "POST",
    path: "/api/v1/ml/analyze",
    access: "operator",
    body: z
      .strictObject({
        anomaly_id: ID.optional(),
        service_id: nameField().optional(),
        metric_name: nameField().optional(),
        timestamp: timeField().optional(),
        anomaly_score: z.number().min(0).max(1).optional(),
        environment: optionalName().optional(),
      })
      .refine(
        ({ anomaly_id, service_id, metric_name, timestamp }) =>
          anomaly_id !== undefined || (service_id !== undefined && metric_name !== undefined && timestamp !== undefined),
        "give the anomaly_id of a stored anomaly, or service_id, metric_name and timestamp",
      )
      .meta({ anyOf: [{ required: ["anomaly_id"] }, { required: ["service_id", "metric_name", "timestamp"] }] }),
    responses: { 200: ANALYSIS },
    errors: ["not_found", "overloaded"],
    examples: {
      body: { anomaly_id: REPORT_EXAMPLE.anomaly_id },
      response: {
        anomaly_id: REPORT_EXAMPLE.anomaly_id,
        service_id: "checkout",
        analyzed_at: EXAMPLE_TIME,
        root_cause: {
          category: "infrastructure",
          confidence: 0.91,
          summary: REPORT_EXAMPLE.summary,
          evidence: { resource_novelty: 14.1, symptom_novelty: 6.2 },
          suggested_actions: ["orders-db: free or add disk space; see what writes"],
          historical_matches: [],
        },
        suggested_runbook: "",
        features: {
          raw_value: 812,
          derivative_value: 310,
          second_derivative: 12,
          hour_of_day: 12,
          day_of_week: 6,
          is_weekend: true,
          correlated_metrics: { "service.errors": 0.82 },
        },
        blast_radius: ["frontend"],
        causal_relationships: [],
        predicted_anomalies: [],
      },
    },
    summary: "Analyses the cause of a stored anomaly, or of what a metric did at a time, which stores nothing",
  },
  {
    name: "correlations",
    method: "GET",
    path: "/api/v1/rca/correlations",
    access: "viewer",
    answersCommitted: true,
    query: z.strictObject({ service_id: textParameter("service_id"), depth: depth(), environment: environmentParameter().optional() }),
    responses: { 200: CORRELATIONS },
    errors: ["not_found", "overloaded"],
    examples: {
      response: {
        service_id: "orders",
        correlations: [{ related_service: "checkout", correlation_score: 0.83, lag_minutes: 1, direction: "downstream" }],
      },
    },
    summary: "Services that calls join with a service, or that move with it; downstream is affected by it",
  },
  {
    name: "blastRadius",
    method: "GET",
    path: "/api/v1/ml/blast-radius",
    access: "viewer",
    answersCommitted: true,
    query: z.strictObject({
      service_id: textParameter("service_id"),
      metric: textParameter("metric").optional(),
      environment: environmentParameter().optional(),
    }),
    responses: { 200: BLAST_RADIUS },
    errors: ["not_found", "overloaded"],
    examples: {
      response: {
        origin_service: "orders",
        directly_affected: ["checkout"],
        transitively_affected: ["frontend"],
        estimated_severity: "high",
        confidence: 0.62,
      },
    },
    summary: "Services that a failure of a service reaches",
  },
  {
    name: "resolutionWebhook",
    method: "POST",
    path: "/api/v1/resolutions/webhook",
    access: "operator",
    body: z.strictObject({
      incident_id: ID,
      service_id: nameField(),
      resolution: z.string().min(1).max(RESOLUTION_CHARACTERS_MAX),
      resolved_by: nameField(),
      time_to_recovery_minutes: z.int().min(0).max(RECOVERY_MINUTES_MAX),
      tags: z.array(nameField()).max(RESOLUTION_TAGS_PER_RECORD_MAX).default([]),
    }),
    bodyBytesMax: RESOLUTION_BODY_BYTES_MAX,
    responses: { 200: RESOLUTION_STORED },
    errors: ["not_found"],
    examples: {
      body: {
        incident_id: REPORT_EXAMPLE.incident_id,
        service_id: "orders-db",
        resolution: "deleted old WAL segments, added a volume",
        resolved_by: "ada@example.com",
        time_to_recovery_minutes: 25,
        tags: ["disk"],
      },
      response: { status: "ok", stored: true, knowledge_base_id: "9a1f2a0b9d8e4f3a6c1f2a0b9d8e4f3a" },
    },
    summary: "Stores how an incident was resolved, resolves its anomaly, and scores the reports on it; incident_id is an anomaly_id",
  },
  {
    name: "similarReports",
    method: "GET",
    path: "/api/v1/rca/similar",
    access: "viewer",
    answersCommitted: true,
    query: z.strictObject({ anomaly_id: textParameter("anomaly_id") }),
    responses: { 200: SIMILAR_REPORTS },
    errors: ["not_found"],
    examples: {
      response: {
        anomaly_id: REPORT_EXAMPLE.anomaly_id,
        reports: [{ ...REPORT_EXAMPLE, similarity: 0.87, why: ["disk of the cause departs"], resolution: null }],
      },
    },
    summary: "The five past incidents that are most like that of an anomaly, and why",
  },
  {
    name: "scorecard",
    method: "GET",
    path: "/api/v1/rca/scorecard",
    access: "viewer",
    answersCommitted: true,
    responses: { 200: SCORECARD },
    examples: {
      response: {
        resolutions: 12,
        hits_at_1: 0.75,
        hits_at_3: 0.92,
        not_enough: 1,
        revisions: [{ revision: 1, reports: 12, hits_at_1: 0.58, hits_at_3: 0.83 }],
        calibration: [{ confidence_from: 0.8, confidence_to: 1, reports: 7, right: 6 }],
        brier: 0.11,
      },
    },
    summary: "How often reports named the service at which incidents were resolved, and what their confidence was worth",
  },
  {
    name: "alertWebhook",
    method: "POST",
    path: "/api/v1/alerts/webhook",
    access: "operator",
    isPatient: true,
    isOfSender: true,
    body: z.object({ alerts: WEBHOOK_ALERTS, commonLabels: LABELS.default({}), groupLabels: LABELS.default({}) }),
    bodyArrayMember: "alerts",
    bodyHalves: true,
    bodyBytesMax: ALERT_WEBHOOK_BODY_BYTES_MAX,
    responses: { 200: ALERTS_TAKEN },
    examples: {
      body: {
        version: "4",
        groupLabels: { alertname: "HighLatency" },
        commonLabels: {},
        alerts: [
          {
            status: "firing",
            labels: { alertname: "HighLatency", service: "checkout", severity: "critical" },
            annotations: { summary: "p95 above 2 s" },
            startsAt: EXAMPLE_TIME,
            endsAt: "0001-01-01T00:00:00Z",
          },
        ],
      },
      response: {
        status: "ok",
        rca_triggered: true,
        anomaly_id: REPORT_EXAMPLE.anomaly_id,
        anomalies: [{ anomaly_id: REPORT_EXAMPLE.anomaly_id, status: "firing", rca_triggered: true }],
      },
    },
    summary:
      "Takes alerts of an Alertmanager, version 4 or an array of alerts alone, as anomalies of their own; on ALERTS_PORT without a credential",
  },
]);
