// GET /api/v1/ml/forecast: the next values of a metric from now on, hour by hour, in steps of five minutes for a few hours, of a quarter of an hour while history is short.
// Which steps a forecast is about: those ahead of now, whenever its history ended.
import { StoreError } from "../../adapters/storage/key-value-store.ts";
import { done, type Outcome, refused, shown } from "../../api/refusal.ts";
import type { SeriesSummary } from "../../core/protocol/engine-control.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/time/durations.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { FORECAST_VALUES_MIN } from "../../domain/forecast/forecast.ts";
import { LEVEL } from "../../domain/prediction/anomaly-outlook.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { newId } from "../state/tables.ts";
import { computeFor } from "./computing.ts";
import type { ForecastInput } from "./forecast-book.ts";
import { type CalmHistory, calmHistoryOf, endOf, rangeOf, streamsOf } from "./metric-history.ts";
import type { PredictionContext } from "./prediction-context.ts";

/** Up to so many hours ahead values are of five minutes. */
const SHORT_HOURS = 5;

/** Step, history that is read, and lengths of seasons in steps. */
const RESOLUTIONS = {
  short: { stepMs: 5 * MINUTE_MS, historyMs: 3 * DAY_MS, periods: [288] },
  hours: { stepMs: HOUR_MS, historyMs: 30 * DAY_MS, periods: [24, 168] },
  young: { stepMs: 15 * MINUTE_MS, historyMs: 3 * DAY_MS, periods: [96] },
} as const;

interface History extends CalmHistory {
  readonly stepMs: number;
  readonly periods: readonly number[];
}

export async function forecast(context: PredictionContext, { principal, query }: QueryRequest<"forecast">): Promise<Outcome<unknown>> {
  const { service_id: serviceId, metric: metricName, algorithm, horizon_hours: hours } = query;
  const { tenant } = principal;
  const streams = await streamsOf(context, { tenant, serviceId, metricName, environment: query.environment ?? null });
  const [first] = streams;
  if (first === undefined) return unknownMetric(serviceId, metricName, "metric");
  const history = await historyFor(context, streams, hours);
  const nowMs = context.nowMs();
  const lastMs = endOf(streams, nowMs, history.stepMs);
  if (lastMs !== undefined) return ended(metricName, lastMs);
  if (history.values.length < FORECAST_VALUES_MIN) return tooShort(history);
  const { least: lower, most: upper } = rangeOf(context, first, history.values);
  const { stepMs } = history;
  const endMs = history.startMs + history.values.length * stepMs;
  const { skipped, horizon } = stepsAhead(endMs, nowMs, { stepMs, hours });
  const task = { values: history.values, periods: history.periods, horizon };
  const computed = await computeFor(context, tenant, {
    kind: "forecast",
    task,
    options: { algorithm, level: LEVEL, range: { lower, upper } },
  });
  if (!computed.ok) return computed;
  const { forecast: made } = computed.value;
  if (made === null) return tooShort(history);
  const points = Array.from(made.mean, (predicted, step) => ({
    timeMs: endMs + step * stepMs,
    predicted,
    lower: made.lower[step] as number,
    upper: made.upper[step] as number,
  })).slice(skipped);
  const key = JSON.stringify([serviceId, metricName, first.environment, stepMs]);
  const score = scoreOf(context, tenant, key, history);
  const id = newId(context);
  await remember(context, { id, tenant, key, madeAtMs: nowMs, points });
  return done({
    service_id: serviceId,
    metric_name: metricName,
    environment: first.environment,
    algorithm,
    methods: made.methods.map(({ name, weight, trialError }) => ({ name, weight, trial_error: trialError })),
    history_since: formatRfc3339(history.startMs),
    history_values: history.values.length,
    left_out_since: history.leftOutSinceMs === null ? null : formatRfc3339(history.leftOutSinceMs),
    forecast: points.map((point) => ({
      timestamp: formatRfc3339(point.timeMs),
      predicted_value: point.predicted,
      lower_bound: point.lower,
      upper_bound: point.upper,
      confidence: LEVEL,
    })),
    last_score: score,
  });
}

/** So that it can be scored; where the store takes nothing it is given out all the same. */
async function remember({ state, edit }: PredictionContext, input: ForecastInput): Promise<void> {
  try {
    await edit(async () => {
      const { forecast: retained, operations } = state.forecasts.draft(input);
      await state.control.commit(operations);
      state.forecasts.put(retained);
    });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}

async function historyFor(context: PredictionContext, streams: readonly SeriesSummary[], hours: number): Promise<History> {
  const first = hours <= SHORT_HOURS ? RESOLUTIONS.short : RESOLUTIONS.hours;
  const history = await readAt(context, streams, first);
  if (history.values.length >= FORECAST_VALUES_MIN || first !== RESOLUTIONS.hours) return history;
  return readAt(context, streams, RESOLUTIONS.young);
}

async function readAt(
  context: PredictionContext,
  streams: readonly SeriesSummary[],
  { stepMs, historyMs, periods }: (typeof RESOLUTIONS)[keyof typeof RESOLUTIONS],
): Promise<History> {
  const range = { nowMs: context.nowMs(), lengthMs: historyMs, stepMs, least: FORECAST_VALUES_MIN };
  return { ...(await calmHistoryOf(context, streams, range)), stepMs, periods };
}

function scoreOf({ state }: PredictionContext, tenant: string, key: string, { startMs, stepMs, values }: History) {
  const score = state.forecasts.score(tenant, key, (timeMs) => values[Math.round((timeMs - startMs) / stepMs)]);
  if (score === undefined) return null;
  return {
    made_at: formatRfc3339(score.madeAtMs),
    points: score.points,
    mean_absolute_error: score.meanAbsoluteError,
    coverage: score.coverage,
  };
}

function ended(metricName: string, lastMs: number): Outcome<never> {
  const text = `${shown(metricName)} has ended: its last value came at ${formatRfc3339(lastMs)}, and there is nothing to forecast from; ask again when it is sent again`;
  return refused("unprocessable", text, "metric");
}

function tooShort({ values, stepMs }: History): Outcome<never> {
  const minutes = stepMs / MINUTE_MS;
  return refused(
    "unprocessable",
    `too little history: ${values.length} values of ${minutes} minutes found, ${FORECAST_VALUES_MIN} needed; ask again when more has come in`,
  );
}

/** 404, for a metric or for the service. */
export function unknownMetric(serviceId: string, metricName: string, field: string): Outcome<never> {
  return refused("not_found", `no series ${shown(metricName)} of ${shown(serviceId)} is known; /api/v1/series lists what there is`, field);
}

/** Steps behind the end of a history. */
interface StepsAhead {
  /** Steps that begin before now: foretold on the way, and left out. */
  readonly skipped: number;
  /** All of them, to the first that begins `hours` after now or later. */
  readonly horizon: number;
}

/** Steps from the first that does not begin before `nowMs` to the first that begins `hours` after it or later. */
export function stepsAhead(
  endMs: number,
  nowMs: number,
  { stepMs, hours }: { readonly stepMs: number; readonly hours: number },
): StepsAhead {
  const skipped = Math.max(0, Math.ceil((nowMs - endMs) / stepMs));
  return { skipped, horizon: Math.ceil((nowMs + hours * HOUR_MS - endMs) / stepMs) + 1 };
}
