// GET /api/v1/ml/predict: anomalies that a service is about to have, by the forecasts of its metrics and by what runs full.
import { done, type Outcome, refused, shown } from "../../api/refusal.ts";
import type { SeriesSummary } from "../../core/protocol/engine-control.ts";
import { MINUTE_MS } from "../../core/time/durations.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { FORECAST_VALUES_MIN } from "../../domain/forecast/forecast.ts";
import type { OutlookSeries, PredictedAnomaly } from "../../domain/prediction/anomaly-outlook.ts";
import { PREDICTIONS_MAX } from "../../domain/prediction/anomaly-outlook.ts";
import type { EvenGrid } from "../../domain/prediction/even-grid.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { STREAMS_MAX } from "./causal-handlers.ts";
import { computeFor } from "./computing.ts";
import { calmHistoryOf, endOf, rangeOf } from "./metric-history.ts";
import type { PredictionContext } from "./prediction-context.ts";
import { metricsOf } from "./service-metrics.ts";

/** Up to so many minutes ahead steps are of one minute. */
const FINE_MINUTES = 60;
const FINE_STEPS = 360;
const COARSE_STEPS = 576;
/** The daily course is looked for in a week of five minutes. */
const SEASON_STEP_MS = 5 * MINUTE_MS;
const DAY_STEPS = 288;
const SEASON_STEPS = 7 * DAY_STEPS;
/** Confidence of a projection of saturation, by its tier. */
const TIER_CONFIDENCE = { high: 0.9, medium: 0.7, low: 0.5 } as const;

/** As the contract names it. */
export interface Prediction {
  readonly metric_name: string;
  readonly confidence_score: number;
  readonly prediction_reason: string;
  readonly suggested_runbook: string;
  readonly lead_time_minutes: number;
}

export async function predict(context: PredictionContext, { principal, query }: QueryRequest<"predict">): Promise<Outcome<unknown>> {
  const { service_id: serviceId, horizon_minutes: minutes } = query;
  const of = { tenant: principal.tenant, serviceId, environment: query.environment ?? null };
  const predictions = await predictionsOf(context, of, minutes);
  if (!predictions.ok) return predictions;
  return done({
    service_id: serviceId,
    generated_at: formatRfc3339(context.nowMs()),
    horizon_minutes: minutes,
    predictions: predictions.value,
  });
}

/** Predictions of a service, the likeliest first. */
export async function predictionsOf(
  context: PredictionContext,
  of: { readonly tenant: string; readonly serviceId: string; readonly environment: string | null },
  minutes: number,
): Promise<Outcome<readonly Prediction[]>> {
  const metrics = await metricsOf(context, of);
  if (metrics.size === 0) return refused("not_found", `no service ${shown(of.serviceId)} has sent anything that is kept`, "service_id");
  const stepMinutes = minutes <= FINE_MINUTES ? 1 : 5;
  const stepMs = stepMinutes * MINUTE_MS;
  const toMs = context.nowMs();
  const lengthMs = (stepMinutes === 1 ? FINE_STEPS : COARSE_STEPS) * stepMs;
  const series: OutlookSeries[] = [];
  for (const streams of metrics.values()) {
    const [first] = streams;
    if (first === undefined || endOf(streams, toMs, stepMs) !== undefined) continue;
    const range = { nowMs: toMs, lengthMs, stepMs, least: FORECAST_VALUES_MIN };
    const history = await calmHistoryOf(context, streams.slice(0, STREAMS_MAX), range);
    series.push(outlookSeries(context, first, { history, stepMs, nowMs: toMs }));
  }
  const { zThreshold } = context.options;
  const steps = Math.ceil(minutes / stepMinutes);
  const periods = stepMinutes === 5 ? [288] : [];
  const computed = await computeFor(context, of.tenant, {
    kind: "outlook",
    request: { series, stepMinutes, steps, periods, threshold: zThreshold },
  });
  if (!computed.ok) return computed;
  const expected = await withoutUsualCourse(context, of.tenant, metrics, { found: computed.value.predictions, minutes });
  if (!expected.ok) return expected;
  const full = saturating(context, of, minutes);
  const named = new Set(full.map(({ metric_name }) => metric_name));
  const outlook = expected.value.map((one) => predictionView(one, zThreshold)).filter(({ metric_name }) => !named.has(metric_name));
  const suggested = ({ metric_name: metricName }: Prediction) =>
    context.state.configured.runbooks.suggested(of.tenant, {
      serviceId: of.serviceId,
      metricName,
      environment: of.environment ?? "",
      score: null,
      severity: null,
      category: null,
    });
  const all = [...full, ...outlook].map((one) => ({ ...one, suggested_runbook: suggested(one) }));
  return done(all.sort((a, b) => b.confidence_score - a.confidence_score).slice(0, PREDICTIONS_MAX));
}

/**
 * Those that also leave the band around the daily course, where days of history show one: what rises every morning is no anomaly. They are looked at in steps of
 * five minutes, over a week.
 */
async function withoutUsualCourse(
  context: PredictionContext,
  tenant: string,
  metrics: ReadonlyMap<string, readonly SeriesSummary[]>,
  { found, minutes }: { readonly found: readonly PredictedAnomaly[]; readonly minutes: number },
): Promise<Outcome<readonly PredictedAnomaly[]>> {
  const toMs = context.nowMs();
  const series: OutlookSeries[] = [];
  for (const { metricName } of found) {
    const streams = metrics.get(metricName) ?? [];
    const [first] = streams;
    if (first === undefined) continue;
    const range = { nowMs: toMs, lengthMs: SEASON_STEPS * SEASON_STEP_MS, stepMs: SEASON_STEP_MS, least: 2 * DAY_STEPS };
    const history = await calmHistoryOf(context, streams.slice(0, STREAMS_MAX), range);
    if (history.values.length >= 2 * DAY_STEPS) series.push(outlookSeries(context, first, { history, stepMs: range.stepMs, nowMs: toMs }));
  }
  if (series.length === 0) return done(found);
  const steps = Math.max(1, Math.ceil((minutes * MINUTE_MS) / SEASON_STEP_MS));
  const request = { series, stepMinutes: SEASON_STEP_MS / MINUTE_MS, steps, periods: [DAY_STEPS], threshold: context.options.zThreshold };
  const computed = await computeFor(context, tenant, { kind: "outlook", request });
  if (!computed.ok) return computed;
  const [looked, retained] = [new Set(series.map(({ metricName }) => metricName)), computed.value.predictions];
  return done(
    found.flatMap((one) => {
      const seasonal = retained.find(({ metricName }) => metricName === one.metricName);
      if (seasonal === undefined) return looked.has(one.metricName) ? [] : [one];
      return [{ ...one, confidence: Math.min(one.confidence, seasonal.confidence), bound: seasonal.bound }];
    }),
  );
}

/** A history, and how many steps ago it ended. */
function outlookSeries(
  context: PredictionContext,
  of: SeriesSummary,
  { history, stepMs, nowMs }: { readonly history: EvenGrid; readonly stepMs: number; readonly nowMs: number },
): OutlookSeries {
  const { startMs, values } = history;
  const { least: lower, most: upper } = rangeOf(context, of, values);
  const lateSteps = Math.max(0, Math.floor((nowMs - startMs) / stepMs) - values.length);
  return { metricName: of.metricName, values: Float64Array.from(values), lateSteps, range: { lower, upper } };
}

function predictionView(
  { metricName, confidence, leadMinutes, isAbove, predicted, bound }: PredictedAnomaly,
  threshold: number,
): Prediction {
  const [direction, side] = isAbove ? ["above", "upper"] : ["below", "lower"];
  return {
    metric_name: metricName,
    confidence_score: confidence,
    prediction_reason: `forecast of ${predicted.toPrecision(4)} in ${leadMinutes} min is ${direction} the ${side} bound of ${bound.toPrecision(4)} (${threshold} robust standard deviations around the median)`,
    suggested_runbook: "",
    lead_time_minutes: leadMinutes,
  };
}

function saturating(
  { state, nowMs }: PredictionContext,
  { tenant, serviceId, environment }: { readonly tenant: string; readonly serviceId: string; readonly environment: string | null },
  minutes: number,
): Prediction[] {
  return state.configured.fires.listOf(tenant).flatMap((fire): Prediction[] => {
    const { exhaustedAtMs, text, tier } = fire.finding;
    const isOurs = fire.serviceId === serviceId && (environment === null || fire.environment === environment);
    if (!isOurs || fire.endedAtMs !== null || exhaustedAtMs === null) return [];
    const lead = Math.max(0, Math.ceil((exhaustedAtMs - nowMs()) / MINUTE_MS));
    if (lead > minutes) return [];
    const confidence = TIER_CONFIDENCE[tier as keyof typeof TIER_CONFIDENCE] ?? TIER_CONFIDENCE.low;
    return [
      {
        metric_name: fire.metricName,
        confidence_score: confidence,
        prediction_reason: text,
        suggested_runbook: "",
        lead_time_minutes: lead,
      },
    ];
  });
}
