// GET /api/v1/ml/degradation: metrics that get worse slowly, of one service or of the tenant's, the worst first.
import { done, type Outcome, refused, shown } from "../../api/refusal.ts";
import { DEGRADATION_SERIES_PER_QUERY_MAX, DEGRADATION_TRENDS_MAX } from "../../core/config/prediction-limits.ts";
import type { SeriesKey, SeriesSummary } from "../../core/protocol/engine-control.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/time/durations.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { type DegradationTrend, degradationTrend, withoutSeason } from "../../domain/prediction/degradation.ts";
import { seriesKey } from "../../domain/series/series-order.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { askSeries } from "../series/series-handler.ts";
import { endOf, type HistoryRange, historyOf, strangeSinceMs } from "./metric-history.ts";
import type { PredictionContext } from "./prediction-context.ts";

/** Looks back of so many hours and less are read in steps of five minutes. */
const FINE_HOURS = 48;
/** History before that shows the season: of days for short looks back, of weeks for long ones. */
const SEASON_DAYS = 5 * DAY_MS;
const SEASON_WEEKS = 21 * DAY_MS;
const SLOPE_INITIAL = 0.01;
const PAGE = 200;
/** Names of metrics whose rise, or fall, is what hurts; others are listed either way. */
const WORSE_UP = /latency|duration|error|fail|saturation|percent|pct|util|used|usage|queue|lag|pending|retries|memory|rss|heap|cpu/i;
const WORSE_DOWN = /free|available|remaining|headroom|idle|hit_ratio|success/i;

/** With the time of the oldest value that it was found in. */
type DatedTrend = DegradationTrend & { readonly sinceMs: number };

export async function degradation(
  context: PredictionContext,
  { principal, query }: QueryRequest<"degradation">,
): Promise<Outcome<unknown>> {
  const { service_id: serviceId, lookback_hours: hours } = query;
  const { tenant } = principal;
  const stepMs = hours <= FINE_HOURS ? 5 * MINUTE_MS : HOUR_MS;
  const toMs = context.nowMs();
  const trends: { readonly summary: SeriesSummary; readonly trend: DatedTrend }[] = [];
  let [read, after, total] = [0, null as SeriesKey | null, 0];
  do {
    const page = await askSeries(context, {
      tenant,
      serviceId: serviceId ?? null,
      metricName: null,
      environment: query.environment ?? null,
      after,
      limit: PAGE,
    });
    total = page.total;
    for (const summary of page.series.slice(0, DEGRADATION_SERIES_PER_QUERY_MAX - read)) {
      read++;
      const range = { fromMs: toMs - hours * HOUR_MS, toMs, stepMs };
      const trend = await trendOf(context, summary, range);
      if (trend !== undefined) trends.push({ summary, trend });
    }
    const last = page.series.at(-1);
    after = page.series.length < PAGE || last === undefined ? null : seriesKey(last);
  } while (after !== null && read < DEGRADATION_SERIES_PER_QUERY_MAX);
  if (read === 0 && serviceId !== undefined)
    return refused("not_found", `no service ${shown(serviceId)} has sent anything that is kept`, "service_id");
  const worst = trends.sort((a, b) => b.trend.relativeSlope - a.trend.relativeSlope).slice(0, DEGRADATION_TRENDS_MAX);
  return done({ trends: worst.map(trendView), series: read, complete: read >= total });
}

/**
 * A trend that is there in the values and in what they are without their season: the way up of every morning is none. Values of an open finding are left out where
 * it has lasted for less than half of the time: after that they are what there is.
 */
async function trendOf(context: PredictionContext, summary: SeriesSummary, asked: HistoryRange): Promise<DatedTrend | undefined> {
  const { fromMs, toMs: nowMs, stepMs } = asked;
  if (endOf([summary], nowMs, stepMs) !== undefined) return undefined;
  const sinceMs = strangeSinceMs(context, summary, nowMs);
  const range = sinceMs === undefined || sinceMs < (fromMs + nowMs) / 2 ? asked : { ...asked, toMs: sinceMs };
  const { values, startMs } = await historyOf(context, [summary], range);
  const options = {
    lateSteps: (nowMs - startMs) / stepMs - values.length,
    stepHours: stepMs / HOUR_MS,
    slopeMin: context.options.degradationSlope ?? SLOPE_INITIAL,
    direction: directionOf(summary.metricName),
    limit: limitOf(context, summary),
  };
  const trend = degradationTrend(values, options);
  if (trend === undefined) return undefined;
  const isFine = stepMs < HOUR_MS;
  const all = await historyOf(context, [summary], { ...range, fromMs: fromMs - (isFine ? SEASON_DAYS : SEASON_WEEKS) });
  const before = all.values.subarray(0, Math.max(0, all.values.length - values.length));
  const rest = withoutSeason(before, values, isFine ? [DAY_MS / stepMs] : [24, 168]);
  const left = rest === values ? trend : degradationTrend(rest, options);
  if (left === undefined) return undefined;
  const { slopePerHour, relativeSlope, confidence } = left;
  return { ...trend, slopePerHour, relativeSlope, confidence, sinceMs: startMs };
}

function directionOf(metricName: string): -1 | 0 | 1 {
  if (WORSE_DOWN.test(metricName)) return -1;
  return WORSE_UP.test(metricName) ? 1 : 0;
}

/** Limit that the metric must not pass, by an open finding of saturation. */
function limitOf({ state }: PredictionContext, { tenant, serviceId, metricName, environment }: SeriesSummary): number | null {
  const fire = state.configured.fires
    .listOf(tenant)
    .find(
      (one) => one.endedAtMs === null && one.serviceId === serviceId && one.metricName === metricName && one.environment === environment,
    );
  return fire?.finding.limit ?? null;
}

function trendView({ summary, trend }: { readonly summary: SeriesSummary; readonly trend: DatedTrend }) {
  return {
    service_id: summary.serviceId,
    metric_name: summary.metricName,
    environment: summary.environment,
    attributes: summary.attributes,
    current_value: trend.currentValue,
    trend_slope_per_hour: trend.slopePerHour,
    estimated_breach_minutes: trend.breachMinutes,
    threshold: trend.threshold,
    confidence: trend.confidence,
    since: formatRfc3339(trend.sinceMs),
  };
}
