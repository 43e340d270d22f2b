// Answers about models of services and their trainings.
import { z } from "zod";
import { COUNT, NEXT_PAGE, TIMESTAMP } from "./scalars.ts";

export const MODEL_TYPES = ["isolation_forest"] as const;
export const MODEL_STATES = ["shadow", "production", "retired"] as const;
export const JOB_STATES = ["queued", "running", "succeeded", "failed", "cancelled"] as const;

const SHARE = z.number().min(0).max(1);

export const JOB_TAKEN = z.strictObject({ job_id: z.string(), status: z.enum(JOB_STATES), estimated_duration_minutes: COUNT });

export const JOB = z.strictObject({
  job_id: z.string(),
  status: z.enum(JOB_STATES),
  progress: SHARE,
  service_id: z.string(),
  environment: z.string(),
  model_type: z.enum(MODEL_TYPES),
  training_window_days: COUNT,
  requested_by: z.string(),
  created_at: TIMESTAMP,
  started_at: TIMESTAMP.nullable(),
  finished_at: TIMESTAMP.nullable(),
  reason: z.string().nullable().describe("why it failed or was cancelled"),
  samples_found: COUNT.nullable().describe("vectors, where they were too few"),
  samples_needed: COUNT.nullable(),
  notes: z.array(z.string()).describe("how the vectors were chosen: since when, what was left out, how they were thinned"),
  model_id: z.string().nullable(),
});
export const JOBS = z.strictObject({ jobs: z.array(JOB), total: COUNT, page_token: NEXT_PAGE });

const MODEL = z.strictObject({
  model_id: z.string(),
  service_id: z.string(),
  environment: z.string(),
  model_type: z.enum(MODEL_TYPES),
  state: z.enum(MODEL_STATES),
  origin: z.enum(["requested", "automatic"]).describe("automatic: trained by the server itself, and replaced by its next training"),
  trained_at: TIMESTAMP,
  promoted_at: TIMESTAMP.nullable(),
  training_window_days: COUNT.nullable(),
  since: TIMESTAMP.nullable().describe("oldest vector that it could learn from"),
  samples: COUNT.describe("vectors that it was trained on"),
  metrics: COUNT.nullable(),
  job_id: z.string().nullable(),
  previous_model_id: z.string().nullable().describe("what a rollback goes back to; null: the automatic trainings"),
  scored: COUNT.describe("vectors that it has scored as a shadow"),
  alerts: COUNT.describe("alerts that it would have opened"),
});
export const MODELS = z.strictObject({ models: z.array(MODEL), total: COUNT, page_token: NEXT_PAGE });

const RECORD = z.strictObject({
  pages: COUNT,
  pages_outside_incidents: COUNT,
  incidents_caught: COUNT,
  incidents_missed: COUNT,
  false_alarms: COUNT.describe("labelled false positives in which an alert of it began"),
});
const COMPARISON = z.strictObject({
  verdict: z.enum(["better", "equal", "worse", "unknown"]).describe("unknown: nothing of the history is labelled"),
  since: TIMESTAMP.nullable(),
  vectors: COUNT,
  labelled_incidents: COUNT,
  labelled_false_positives: COUNT,
  candidate: RECORD,
  production: RECORD,
});
export const PROMOTION = z.strictObject({
  model_id: z.string(),
  service_id: z.string(),
  environment: z.string(),
  state: z.enum(MODEL_STATES),
  previous_model_id: z.string().nullable(),
  comparison: COMPARISON.nullable(),
  warning: z.string().nullable(),
});
export const ROLLBACK = z.strictObject({
  service_id: z.string(),
  environment: z.string(),
  model_id: z.string().nullable().describe("now in production; null: that of the automatic trainings"),
  origin: z.enum(["requested", "automatic"]),
  rolled_back_model_id: z.string(),
});

export const DRIFT = z.strictObject({
  service_id: z.string(),
  environment: z.string(),
  model_id: z.string(),
  drift_score: z.number().min(0).describe("PSI beyond what chance gives, of the metric that moved most"),
  drift_detected: z.boolean(),
  kl_divergence: z.number(),
  psi: z.number(),
  last_trained: TIMESTAMP,
  samples: COUNT.describe("vectors of today that were looked at"),
  metrics: z.array(z.strictObject({ metric_name: z.string(), psi: z.number(), effect: z.number(), p_value: SHARE, drifted: z.boolean() })),
  recommendation: z.string(),
});
