// Answers about what comes next, what gets worse and what leads to what.
import { z } from "zod";
import { ATTRIBUTES, COUNT, TIMESTAMP } from "./scalars.ts";

const SHARE = z.number().min(0).max(1);

export const PREDICTION = z.object({
  metric_name: z.string(),
  confidence_score: SHARE,
  prediction_reason: z.string(),
  suggested_runbook: z.string().describe("empty until one matches"),
  lead_time_minutes: COUNT,
});
export const PREDICTIONS = z.object({
  service_id: z.string(),
  generated_at: TIMESTAMP,
  horizon_minutes: COUNT,
  predictions: z.array(PREDICTION),
});

export const DEGRADATION = z.object({
  trends: z.array(
    z.object({
      service_id: z.string(),
      metric_name: z.string(),
      environment: z.string(),
      attributes: ATTRIBUTES,
      current_value: z.number().describe("where the trend stands now; what the minutes count from"),
      trend_slope_per_hour: z.number(),
      estimated_breach_minutes: z.number().nullable().describe("0 where the threshold is passed already, null in more than a week"),
      threshold: z.number(),
      confidence: SHARE,
      since: TIMESTAMP.describe("of the oldest value that was looked at"),
    }),
  ),
  series: COUNT.describe("series that were looked at"),
  complete: z.boolean().describe("false: there are more series than one question reads"),
});

export const FORECAST = z.object({
  service_id: z.string(),
  metric_name: z.string(),
  environment: z.string(),
  algorithm: z.enum(["auto", "arima", "exponential_smoothing"]),
  methods: z.array(z.object({ name: z.string(), weight: SHARE, trial_error: z.number().nullable() })),
  history_since: TIMESTAMP,
  history_values: COUNT,
  left_out_since: TIMESTAMP.nullable().describe(
    "begin of an open finding on the metric: values from then on are left out; null where there is none",
  ),
  forecast: z.array(
    z.object({
      timestamp: TIMESTAMP,
      predicted_value: z.number(),
      lower_bound: z.number(),
      upper_bound: z.number(),
      confidence: SHARE.describe("nominal level of the bounds"),
    }),
  ),
  last_score: z
    .object({ made_at: TIMESTAMP, points: COUNT, mean_absolute_error: z.number(), coverage: SHARE })
    .nullable()
    .describe("how an earlier forecast of the same series did, once its time has come"),
});

export const RELATIONSHIP = z.object({
  cause_metric: z.string(),
  effect_metric: z.string(),
  strength: SHARE,
  lag_minutes: COUNT,
  confidence: SHARE,
});
export const CAUSAL = z.object({
  service_id: z.string(),
  relationships: z.array(RELATIONSHIP),
  metrics: COUNT,
  samples: COUNT.describe("minutes that they share"),
  since: TIMESTAMP,
});

export const VALIDATION = z.object({
  service_id: z.string(),
  is_causal: z.boolean(),
  strength: SHARE,
  lag_minutes: COUNT,
  confidence: SHARE,
  p_value: SHARE,
  evidence: z.string(),
});
