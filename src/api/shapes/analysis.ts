// Reports of root causes, and what is said about a service's surroundings.
import { z } from "zod";
import { PREDICTION, RELATIONSHIP } from "./prediction.ts";
import { COUNT, EXAMPLE_TIME, NEXT_PAGE, TIMESTAMP } from "./scalars.ts";

/** Category of a cause; unknown where the evidence is not enough. */
export const CATEGORY = z.enum(["infrastructure", "application", "external", "unknown"]);
const SHARE = z.number().min(0).max(1);

const EVIDENCE = z.object({
  source: z.enum(["metric", "log", "span", "call", "change", "silence", "saturation", "load"]),
  text: z.string(),
  strength: z.number().describe("in spreads above, or standard deviations from, what is usual"),
});
const CANDIDATE = z.object({
  service_id: z.string(),
  metric_name: z.string(),
  instance: z.string().nullable(),
  score: z.number(),
  evidence: z.array(EVIDENCE),
});
const FIRST_SYMPTOM = z
  .object({ service_id: z.string(), metric_name: z.string(), instance: z.string().nullable(), at: TIMESTAMP })
  .nullable();
const IMPACT = z.object({ service_id: z.string(), metric_name: z.string(), strength: z.number() });

const REPORT_FIELDS = {
  report_id: z.string(),
  anomaly_id: z.string().describe("of the anomaly that began the incident"),
  incident_id: z.string().describe("the same: what resolutions name"),
  environment: z.string(),
  service_id: z.string(),
  metric_name: z.string(),
  anomalies: z.array(z.string()).describe("of the incident, as far as they are remembered"),
  anomaly_count: COUNT,
  created_at: TIMESTAMP,
  onset: TIMESTAMP,
  revision: z.int().min(1),
  evidence_until: TIMESTAMP,
  final: z.boolean(),
  candidates: z.array(CANDIDATE),
  first_symptom: FIRST_SYMPTOM,
  impact: z.array(IMPACT),
  category: CATEGORY,
  confidence: SHARE,
  enough: z.boolean().describe("false: not enough evidence for a cause"),
  summary: z.string(),
  suggested_runbook: z.string().describe("name of the runbook that matches; empty where none does"),
  looked_at: z.object({ services: COUNT, series: COUNT, lines: COUNT, operations: COUNT, calls: COUNT, changes: COUNT }),
};
const RCA_REPORT = z.object(REPORT_FIELDS);
export const RCA_REPORTS = z.object({ reports: z.array(RCA_REPORT), total: COUNT, page_token: NEXT_PAGE });

const RESOLUTION = z.object({
  resolution: z.string(),
  resolved_by: z.string(),
  time_to_recovery_minutes: COUNT,
  tags: z.array(z.string()),
});
export const SIMILAR_REPORTS = z.object({
  anomaly_id: z.string(),
  reports: z.array(
    z.object({
      ...Object.fromEntries(Object.entries(REPORT_FIELDS).map(([name, shape]) => [name, shape.optional()])),
      report_id: z.string(),
      incident_id: z.string(),
      service_id: z.string(),
      category: CATEGORY,
      similarity: SHARE,
      why: z.array(z.string()),
      resolution: RESOLUTION.nullable(),
    }),
  ),
});

export const SCORECARD = z.object({
  resolutions: COUNT.describe("resolutions of incidents that have a report"),
  hits_at_1: SHARE.nullable(),
  hits_at_3: SHARE.nullable(),
  not_enough: COUNT.describe("of them, reports that named no cause"),
  revisions: z.array(z.object({ revision: z.int(), reports: COUNT, hits_at_1: SHARE.nullable(), hits_at_3: SHARE.nullable() })),
  calibration: z.array(z.object({ confidence_from: SHARE, confidence_to: SHARE, reports: COUNT, right: COUNT })),
  brier: z.number().nullable(),
});

const MATCH = z.object({
  incident_id: z.string(),
  resolution: z.string(),
  similarity: SHARE,
  time_to_recovery_mins: COUNT,
});
export const ANALYSIS = z.object({
  anomaly_id: z.string(),
  service_id: z.string(),
  analyzed_at: TIMESTAMP,
  root_cause: z.object({
    category: CATEGORY,
    confidence: SHARE,
    summary: z.string(),
    evidence: z.record(z.string(), z.number()),
    suggested_actions: z.array(z.string()),
    historical_matches: z.array(MATCH),
  }),
  suggested_runbook: z.string().describe("name of the runbook that matches; empty where none does"),
  features: z.object({
    raw_value: z.number().nullable(),
    derivative_value: z.number().nullable(),
    second_derivative: z.number().nullable(),
    hour_of_day: z.int(),
    day_of_week: z.int().describe("0 is Sunday"),
    is_weekend: z.boolean(),
    correlated_metrics: z.record(z.string(), z.number()),
  }),
  blast_radius: z.array(z.string()),
  causal_relationships: z.array(RELATIONSHIP),
  predicted_anomalies: z.array(PREDICTION),
});

export const CORRELATIONS = z.object({
  service_id: z.string(),
  correlations: z.array(
    z.object({
      related_service: z.string(),
      correlation_score: SHARE,
      lag_minutes: z.int().describe("above 0: the related service follows"),
      direction: z.enum(["downstream", "upstream"]),
    }),
  ),
});

export const BLAST_RADIUS = z.object({
  origin_service: z.string(),
  directly_affected: z.array(z.string()),
  transitively_affected: z.array(z.string()),
  estimated_severity: z.enum(["none", "low", "medium", "high"]),
  confidence: SHARE,
});

export const RESOLUTION_STORED = z.object({ status: z.literal("ok"), stored: z.boolean(), knowledge_base_id: z.string() });

export const ALERTS_TAKEN = z.object({
  status: z.literal("ok"),
  rca_triggered: z.boolean(),
  anomaly_id: z.string().describe("of the first alert; empty where none was taken"),
  anomalies: z.array(z.object({ anomaly_id: z.string(), status: z.enum(["firing", "resolved"]), rca_triggered: z.boolean() })),
});

export const REPORT_EXAMPLE = {
  report_id: "6c1f2a0b9d8e4f3a6c1f2a0b9d8e4f3a",
  anomaly_id: "0f8fad5bd9cb469fa165708670895f0f",
  incident_id: "0f8fad5bd9cb469fa165708670895f0f",
  environment: "production",
  service_id: "checkout",
  metric_name: "service.duration_ms.p95",
  anomalies: ["0f8fad5bd9cb469fa165708670895f0f"],
  anomaly_count: 1,
  created_at: EXAMPLE_TIME,
  onset: EXAMPLE_TIME,
  revision: 2,
  evidence_until: EXAMPLE_TIME,
  final: false,
  candidates: [
    {
      service_id: "orders-db",
      metric_name: "disk_used_percent",
      instance: "db-1",
      score: 3.2,
      evidence: [{ source: "metric", text: "disk_used_percent of db-1 went from 71.2 to 99.8", strength: 14.1 }],
    },
  ],
  first_symptom: { service_id: "orders-db", metric_name: "service.errors", instance: null, at: EXAMPLE_TIME },
  impact: [{ service_id: "checkout", metric_name: "service.duration_ms.p95", strength: 8.3 }],
  category: "infrastructure",
  confidence: 0.91,
  enough: true,
  summary: "orders-db (db-1), infrastructure (confidence 0.91): disk_used_percent of db-1 went from 71.2 to 99.8.",
  suggested_runbook: "",
  looked_at: { services: 5, series: 180, lines: 40, operations: 5, calls: 6, changes: 0 },
} as const;
