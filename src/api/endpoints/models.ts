import { z } from "zod";
import { PROMOTION_ANSWER_MS_MAX, TRAINING_WINDOW_DAYS_MAX } from "../../core/config/model-limits.ts";
import { declared } from "../declared.ts";
import { choiceParameter, environmentParameter, textParameter } from "../parameters.ts";
import { DRIFT, JOB, JOB_STATES, JOB_TAKEN, JOBS, MODEL_STATES, MODEL_TYPES, MODELS, PROMOTION, ROLLBACK } from "../shapes/models.ts";
import { nameField, optionalName } from "../shapes/name.ts";
import { EXAMPLE_TIME } from "../shapes/scalars.ts";
import { PAGE } from "./query-shapes.ts";

const ENVIRONMENT = optionalName().optional().describe("the service's first where it is not given");
const ID = "9f2c4e6a8b0d1f3e5a7c9e0b2d4f6a8c";
const JOB_ID = "3b1f0c5a9d2e47f6a8b0c1d2e3f40516";

const JOB_EXAMPLE = {
  job_id: JOB_ID,
  status: "succeeded",
  progress: 1,
  service_id: "checkout",
  environment: "production",
  model_type: "isolation_forest",
  training_window_days: 7,
  requested_by: "ann@example.com",
  created_at: EXAMPLE_TIME,
  started_at: EXAMPLE_TIME,
  finished_at: EXAMPLE_TIME,
  reason: null,
  samples_found: null,
  samples_needed: null,
  notes: ["58 vectors of labelled incidents were left out", "thinned evenly from 10022 vectors to 4292, in runs of consecutive ones"],
  model_id: ID,
} as const;
const RECORD = { pages: 3, pages_outside_incidents: 1, incidents_caught: 2, incidents_missed: 0, false_alarms: 0 };
const COMPARISON_EXAMPLE = {
  verdict: "better",
  since: EXAMPLE_TIME,
  vectors: 10_080,
  labelled_incidents: 2,
  labelled_false_positives: 1,
  candidate: RECORD,
  production: { ...RECORD, pages: 6, pages_outside_incidents: 4, false_alarms: 1 },
} as const;

/** Models of services: trained on request, scored as shadows, promoted and taken back. */
export const MODELS_ENDPOINTS = declared([
  {
    name: "trainModel",
    method: "POST",
    path: "/api/v1/ml/train",
    access: "admin",
    body: z.strictObject({
      service_id: nameField(),
      training_window_days: z.int().min(1).max(TRAINING_WINDOW_DAYS_MAX),
      model_type: z.enum(MODEL_TYPES),
      environment: ENVIRONMENT,
    }),
    responses: { 202: JOB_TAKEN },
    errors: ["not_found", "overloaded"],
    examples: {
      body: { service_id: "checkout", training_window_days: 7, model_type: "isolation_forest" },
      response: { job_id: JOB_ID, status: "queued", estimated_duration_minutes: 1 },
    },
    summary: "Has a model of a service trained on its past; the job says what becomes of it, and the model is a shadow",
  },
  {
    name: "trainings",
    method: "GET",
    path: "/api/v1/ml/jobs",
    access: "viewer",
    query: z.strictObject({
      service_id: textParameter("service_id").optional(),
      environment: environmentParameter().optional(),
      state: choiceParameter("state", JOB_STATES).optional(),
      ...PAGE,
    }),
    responses: { 200: JOBS },
    examples: { response: { jobs: [JOB_EXAMPLE], total: 1, page_token: "" } },
    summary: "Training jobs, the newest first",
  },
  {
    name: "training",
    method: "GET",
    path: "/api/v1/ml/jobs/{id}",
    access: "viewer",
    parameters: { id: "job_id" },
    responses: { 200: JOB },
    errors: ["not_found"],
    examples: { response: JOB_EXAMPLE },
    summary: "A training job: how far it is, what it took, why it failed",
  },
  {
    name: "cancelTraining",
    method: "POST",
    path: "/api/v1/ml/jobs/{id}/cancel",
    access: "admin",
    parameters: { id: "job_id" },
    responses: { 200: JOB },
    errors: ["not_found", "conflict"],
    examples: { response: { ...JOB_EXAMPLE, status: "cancelled", reason: "cancelled by ann@example.com", model_id: null, notes: [] } },
    summary: "Ends a training job that waits or runs: it makes no model",
  },
  {
    name: "models",
    method: "GET",
    path: "/api/v1/ml/models",
    access: "viewer",
    query: z.strictObject({
      service_id: textParameter("service_id").optional(),
      environment: environmentParameter().optional(),
      state: choiceParameter("state", MODEL_STATES).optional(),
      ...PAGE,
    }),
    responses: { 200: MODELS },
    examples: {
      response: {
        models: [
          {
            model_id: ID,
            service_id: "checkout",
            environment: "production",
            model_type: "isolation_forest",
            state: "shadow",
            origin: "requested",
            trained_at: EXAMPLE_TIME,
            promoted_at: null,
            training_window_days: 7,
            since: EXAMPLE_TIME,
            samples: 4_292,
            metrics: 12,
            job_id: JOB_ID,
            previous_model_id: null,
            scored: 1_440,
            alerts: 1,
          },
        ],
        total: 1,
        page_token: "",
      },
    },
    summary: "Models of services: those trained on request, and those of the automatic trainings that are in production",
  },
  {
    name: "promoteModel",
    method: "POST",
    path: "/api/v1/ml/promote",
    access: "admin",
    answerMsMax: PROMOTION_ANSWER_MS_MAX,
    isPatient: true,
    body: z.strictObject({
      model_id: nameField(),
      service_id: nameField(),
      only_if_better: z.boolean().default(false).describe("refuse a model that is not better on what is labelled, with 409"),
    }),
    responses: { 200: PROMOTION },
    errors: ["not_found", "conflict", "overloaded"],
    examples: {
      body: { model_id: ID, service_id: "checkout", only_if_better: true },
      response: {
        model_id: ID,
        service_id: "checkout",
        environment: "production",
        state: "production",
        previous_model_id: null,
        comparison: COMPARISON_EXAMPLE,
        warning: null,
      },
    },
    summary:
      "Puts a model into production until the next promote or rollback, and says how it does beside the one before on what people have labelled",
  },
  {
    name: "rollBackModel",
    method: "POST",
    path: "/api/v1/ml/rollback",
    access: "admin",
    body: z.strictObject({ service_id: nameField(), environment: ENVIRONMENT }),
    responses: { 200: ROLLBACK },
    errors: ["not_found", "conflict"],
    examples: {
      body: { service_id: "checkout" },
      response: {
        service_id: "checkout",
        environment: "production",
        model_id: null,
        origin: "automatic",
        rolled_back_model_id: ID,
      },
    },
    summary: "Puts the model back that was in production before the last promotion",
  },
  {
    name: "drift",
    method: "GET",
    path: "/api/v1/ml/drift",
    access: "viewer",
    query: z.strictObject({ service_id: textParameter("service_id"), environment: environmentParameter().optional() }),
    responses: { 200: DRIFT },
    errors: ["not_found", "unprocessable", "overloaded"],
    examples: {
      response: {
        service_id: "checkout",
        environment: "production",
        model_id: ID,
        drift_score: 0.34,
        drift_detected: true,
        kl_divergence: 0.19,
        psi: 0.41,
        last_trained: EXAMPLE_TIME,
        samples: 1_440,
        metrics: [{ metric_name: "queue_depth", psi: 0.41, effect: 0.34, p_value: 1e-12, drifted: true }],
        recommendation: "queue_depth moved: train a new model and promote it, or roll back; a promoted one is not trained anew by itself",
      },
    },
    summary:
      "Whether a service still sends what its model in production was trained on: PSI beyond chance, with the daily course taken out",
  },
]);
