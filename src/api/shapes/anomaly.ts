// An anomaly as clients see it (contract 2.3).
import { z } from "zod";
import { END_REASONS } from "../../domain/anomaly/ending.ts";
import { DECISION, DECISION_EXAMPLE } from "./alert.ts";
import { NOTIFICATION, NOTIFICATION_EXAMPLE } from "./notification.ts";
import { ATTRIBUTES, COUNT, EXAMPLE_TIME, NEXT_PAGE, SEVERITY_COUNTS, TIMESTAMP } from "./scalars.ts";

const CONTRIBUTION = z.strictObject({ feature: z.string(), delta_score: z.number() });
const GATE = z.strictObject({ name: z.string(), passed: z.boolean(), value: z.number(), limit: z.number() });

/** Features of the metric that contributes most to what its service's metrics do together; names as in contract 4.5. */
const FEATURES = z
  .strictObject({
    metric_name: z.string(),
    raw_value: z.number(),
    derivative_value: z.number().describe("against the vector before"),
    second_derivative: z.number(),
    hour_of_day: COUNT.describe("UTC"),
    day_of_week: COUNT.describe("0 is Sunday"),
    is_weekend: z.boolean(),
    correlated_metrics: z.record(z.string(), z.number()).describe("values of the other metrics that contribute most"),
  })
  .describe("only where metrics of a service are judged together");

/** Why a sample is thought to be out of the ordinary, with every number that led there (domain/detection/verdict.ts). */
export const VERDICT = z
  .strictObject({
    detector: z.string(),
    observed: z.number(),
    expected: z.number(),
    lower: z.number().describe("values between lower and upper are ordinary at the threshold"),
    upper: z.number(),
    z: z.number(),
    p: z
      .number()
      .describe("probability of a value as far out; of a statistic never less than 1 / (n + 1), which is all that n values can show"),
    threshold: z.number(),
    baseline: z.strictObject({
      n: COUNT,
      mean: z.number(),
      sd: z.number(),
      median: z.number(),
      bucket: z.string().nullable(),
      age_seconds: z.number(),
    }),
    contributions: z.array(CONTRIBUTION),
    gates: z.array(GATE).describe("conditions in the order in which they were asked"),
    suppressed_by: z.string().nullable(),
    layers: z.array(z.string()),
    features: FEATURES.optional(),
    declared_by: z.string().optional().describe("who has declared it, or sent it as an alert: their subject"),
  })
  .meta({ id: "Verdict" });

const ANOMALY_FIELDS = {
  anomaly_id: z.string(),
  service_id: z.string(),
  metric_name: z.string(),
  anomaly_score: z.number().min(0).max(1),
  z_score: z.number().describe("signed equivalent z of the peak, within +-99"),
  detected_at: TIMESTAMP,
  rca_triggered: z.boolean(),
  resolved: z.boolean(),
  severity: z.enum(["low", "medium", "high"]).describe("how bad it is, not how improbable: that is the score"),
  environment: z.string(),
  attributes: ATTRIBUTES,
  series: z
    .strictObject({ service_id: z.string(), metric_name: z.string(), environment: z.string(), attributes: ATTRIBUTES.nullable() })
    .nullable()
    .describe(
      "the stored series that it is of, null where no one series has it (service.stale); attributes are null where it is of several",
    ),
  observed_at: TIMESTAMP.describe("time of the sample at the peak"),
  started_at: TIMESTAMP,
  resolved_at: TIMESTAMP.nullable(),
  resolved_by: z
    .enum(END_REASONS)
    .nullable()
    .describe(
      "recovered: its values are usual again; accepted: they stay, and are the new level; ended: nothing more is heard of it (its sender ended the stream, it is silent for long, or it is not judged any more); person; upstream: who sent it says so; cascade: it goes on in another",
    ),
  resolved_by_name: z.string().nullable().describe("who has resolved it"),
  accepted_level: z
    .strictObject({ from: z.number(), to: z.number() })
    .nullable()
    .describe("of one that was accepted: what was usual before it, and the level that is usual now"),
  direction: z.enum(["high", "low"]),
  detector: z.string(),
  explanation: z.string(),
  verdict: VERDICT,
  streams: COUNT.describe("member streams of the pair"),
  alert_id: z.string().nullable().describe("the alert that it belongs to"),
  outcome: z
    .enum(["paged", "absorbed", "suppressed", "logged"])
    .nullable()
    .describe("what became of it on its way to a page; of one that was held back, by what its alert has come to since"),
  suppressed_by: z.string().nullable().describe("the gate that holds it back, or held it back to the end"),
  feedback: z.enum(["true_positive", "false_positive"]).nullable().describe("what people say of it"),
  notification: NOTIFICATION,
};

export const ANOMALY = z.strictObject(ANOMALY_FIELDS).meta({ id: "Anomaly" });

/** One anomaly with what became of it. */
export const ANOMALY_DETAIL = z
  .strictObject({
    ...ANOMALY_FIELDS,
    contributions: z.array(CONTRIBUTION).describe("shares of features in a multivariate score"),
    decision: DECISION.nullable().describe("the last decision on its way to a page; null where its row is no longer kept"),
    feedback_by: z.string().nullable(),
    feedback_at: TIMESTAMP.nullable(),
    feedback_note: z.string().nullable(),
    annotations: z
      .array(z.strictObject({ text: z.string(), at: TIMESTAMP, execution_id: z.string(), runbook_name: z.string() }))
      .describe("what runs of runbooks have noted"),
  })
  .meta({ id: "AnomalyDetail" });

/** A page of them. */
const LISTED = z
  .strictObject({ ...ANOMALY_FIELDS, verdict: VERDICT.optional().describe("absent with view=list") })
  .meta({ id: "ListedAnomaly" });
export const ANOMALY_LIST = z.strictObject({
  anomalies: z.array(LISTED),
  total: COUNT,
  page_token: NEXT_PAGE,
  counts: SEVERITY_COUNTS.optional(),
});

/** For the documentation. */
export const ANOMALY_EXAMPLE = {
  anomaly_id: "3b1f0c5a9d2e47f6a8b0c1d2e3f40516",
  service_id: "checkout",
  metric_name: "request.duration_ms.p95",
  anomaly_score: 0.82,
  z_score: 7.4,
  detected_at: EXAMPLE_TIME,
  rca_triggered: false,
  resolved: false,
  severity: "high",
  environment: "production",
  attributes: { route: "/pay" },
  series: { service_id: "checkout", metric_name: "request.duration_ms.p95", environment: "production", attributes: { route: "/pay" } },
  observed_at: EXAMPLE_TIME,
  started_at: "2026-01-31T11:59:50.000Z",
  resolved_at: null,
  resolved_by: null,
  resolved_by_name: null,
  accepted_level: null,
  direction: "high",
  detector: "z_score",
  explanation: "request.duration_ms.p95 was 412 (equivalent z 7.4), above its usual 180 (expected 86 to 274 over the last 120 samples)",
  verdict: {
    detector: "z_score",
    observed: 412,
    expected: 180,
    lower: 86,
    upper: 274,
    z: 7.4,
    p: 0.0083,
    threshold: 3,
    baseline: { n: 120, mean: 180, sd: 31, median: 178, bucket: null, age_seconds: 1200 },
    contributions: [],
    gates: [{ name: "minimum_samples", passed: true, value: 120, limit: 12 }],
    suppressed_by: null,
    layers: ["statistical"],
  },
  streams: 1,
  alert_id: "9a3c0f1e5b7d42468ace13579bdf0246",
  outcome: "paged",
  suppressed_by: null,
  feedback: null,
  notification: NOTIFICATION_EXAMPLE,
};

/** For the documentation. */
export const ANOMALY_DETAIL_EXAMPLE = {
  ...ANOMALY_EXAMPLE,
  contributions: [],
  decision: DECISION_EXAMPLE,
  feedback_by: null,
  feedback_at: null,
  feedback_note: null,
  annotations: [],
};
