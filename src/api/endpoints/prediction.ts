import { z } from "zod";
import { NAME_BYTES_MAX } from "../../core/config/limits.ts";
import {
  DEGRADATION_HOURS_INITIAL,
  DEGRADATION_HOURS_MAX,
  FORECAST_HOURS_INITIAL,
  FORECAST_HOURS_MAX,
  PREDICT_MINUTES_INITIAL,
  PREDICT_MINUTES_MAX,
  VALIDATION_HOURS_MAX,
} from "../../core/config/prediction-limits.ts";
import { FORECAST_ALGORITHMS } from "../../domain/forecast/forecast.ts";
import { declared } from "../declared.ts";
import { choiceParameter, environmentParameter, numberParameter, textParameter } from "../parameters.ts";
import { CAUSAL, DEGRADATION, FORECAST, PREDICTIONS, VALIDATION } from "../shapes/prediction.ts";
import { EXAMPLE_TIME } from "../shapes/scalars.ts";

const whole = (name: string, most: number, initial: number) =>
  numberParameter(name, 1, most)
    .refine(Number.isInteger, `${name} must be a whole number from 1 to ${most}`)
    .meta({ type: "integer", "x-default": initial })
    .optional()
    .transform((value) => value ?? initial);
const ENVIRONMENT = { environment: environmentParameter().optional() };
const NAME = z.string().min(1).max(NAME_BYTES_MAX);

/** Endpoints of forecasts, slow trends and causes. */
export const PREDICTION_ENDPOINTS = declared([
  {
    name: "predict",
    method: "GET",
    path: "/api/v1/ml/predict",
    access: "viewer",
    query: z.strictObject({
      service_id: textParameter("service_id"),
      horizon_minutes: whole("horizon_minutes", PREDICT_MINUTES_MAX, PREDICT_MINUTES_INITIAL),
      ...ENVIRONMENT,
    }),
    responses: { 200: PREDICTIONS },
    errors: ["not_found", "overloaded"],
    examples: {
      response: {
        service_id: "checkout",
        generated_at: EXAMPLE_TIME,
        horizon_minutes: 30,
        predictions: [
          {
            metric_name: "queue_depth",
            confidence_score: 0.84,
            prediction_reason:
              "forecast of 412.0 in 18 min is above the upper bound of 350.0 (3 robust standard deviations around the median)",
            suggested_runbook: "",
            lead_time_minutes: 18,
          },
        ],
      },
    },
    summary: "Anomalies that a service is about to have, by forecasts of its metrics and by what runs full",
  },
  {
    name: "degradation",
    method: "GET",
    path: "/api/v1/ml/degradation",
    access: "viewer",
    query: z.strictObject({
      service_id: textParameter("service_id").optional(),
      lookback_hours: whole("lookback_hours", DEGRADATION_HOURS_MAX, DEGRADATION_HOURS_INITIAL),
      ...ENVIRONMENT,
    }),
    responses: { 200: DEGRADATION },
    errors: ["not_found", "overloaded"],
    examples: {
      response: {
        trends: [
          {
            service_id: "checkout",
            metric_name: "heap_used_bytes",
            environment: "production",
            attributes: {},
            current_value: 812_000_000,
            trend_slope_per_hour: 11_500_000,
            estimated_breach_minutes: 980,
            threshold: 1_000_000_000,
            confidence: 0.999,
            since: EXAMPLE_TIME,
          },
        ],
        series: 42,
        complete: true,
      },
    },
    summary: "Metrics that get worse slowly, the worst 200",
  },
  {
    name: "forecast",
    method: "GET",
    path: "/api/v1/ml/forecast",
    access: "viewer",
    query: z.strictObject({
      service_id: textParameter("service_id"),
      metric: textParameter("metric"),
      horizon_hours: whole("horizon_hours", FORECAST_HOURS_MAX, FORECAST_HOURS_INITIAL),
      algorithm: choiceParameter("algorithm", FORECAST_ALGORITHMS)
        .meta({ "x-default": "auto" })
        .optional()
        .transform((value) => value ?? "auto"),
      ...ENVIRONMENT,
    }),
    responses: { 200: FORECAST },
    errors: ["not_found", "unprocessable", "overloaded"],
    examples: {
      response: {
        service_id: "checkout",
        metric_name: "requests",
        environment: "production",
        algorithm: "auto",
        methods: [{ name: "lag_regression", weight: 1, trial_error: 3.1 }],
        history_since: EXAMPLE_TIME,
        history_values: 720,
        left_out_since: null,
        forecast: [{ timestamp: EXAMPLE_TIME, predicted_value: 120.5, lower_bound: 108.2, upper_bound: 132.8, confidence: 0.95 }],
        last_score: null,
      },
    },
    summary: "Next values of a metric with their bounds; the best of several methods in a trial on its past, unless one is named",
  },
  {
    name: "causal",
    method: "GET",
    path: "/api/v1/ml/causal",
    access: "viewer",
    query: z.strictObject({ service_id: textParameter("service_id"), ...ENVIRONMENT }),
    responses: { 200: CAUSAL },
    errors: ["not_found", "unprocessable", "overloaded"],
    examples: {
      response: {
        service_id: "checkout",
        relationships: [
          { cause_metric: "queue_depth", effect_metric: "service.duration_ms.p95", strength: 0.47, lag_minutes: 3, confidence: 0.999 },
        ],
        metrics: 12,
        samples: 720,
        since: EXAMPLE_TIME,
      },
    },
    summary: "Which metrics of a service lead which others, given all of them, by the minutes of the last twelve hours",
  },
  {
    name: "validateCausality",
    method: "POST",
    path: "/api/v1/ml/validate-causality",
    access: "operator",
    body: z
      .strictObject({
        service_id: NAME,
        cause_metric: NAME,
        effect_metric: NAME,
        lookback_hours: z.int().min(1).max(VALIDATION_HOURS_MAX).default(DEGRADATION_HOURS_INITIAL),
        environment: z.string().max(NAME_BYTES_MAX).optional(),
      })
      .refine(({ cause_metric, effect_metric }) => cause_metric !== effect_metric, {
        path: ["effect_metric"],
        message: "must be another metric than cause_metric: a metric always leads itself",
      }),
    responses: { 200: VALIDATION },
    errors: ["not_found", "unprocessable", "overloaded"],
    examples: {
      body: { service_id: "checkout", cause_metric: "queue_depth", effect_metric: "service.duration_ms.p95", lookback_hours: 12 },
      response: {
        service_id: "checkout",
        is_causal: true,
        strength: 0.47,
        lag_minutes: 3,
        confidence: 0.999,
        p_value: 1e-9,
        evidence:
          "leads: past values of queue_depth explain 22.1 % of what the past of service.duration_ms.p95 leaves open; F = 41.2, p = 1.0e-9, 717 steps of 1 min since 2026-01-31T00:00:00.000Z, strongest at 3 min.",
      },
    },
    summary: "Whether one metric of a service leads another: Granger's test, with what it explains on values that were not fitted",
  },
]);
