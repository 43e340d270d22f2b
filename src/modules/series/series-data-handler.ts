/**
 * GET /api/v1/series/data: the newest `limit` points of the range, ascending, each with what was expected of it.
 *
 * Bounds are those of the detectors, who judge the values again: layer 1 with its masks and floors, and the long baseline by the series' own tail over the day before.
 *
 * Without `environment` or `attributes` the first matching stream in list order is answered, and `matches` says how many there were. With `series` or
 * `metrics` several are answered: the first as ever, the others in `more`, each with all that belongs to it; they share 10,000 points. Rolled-up
 * points (1m, 1h) are means of the raw values in buckets aligned to UTC that begin in the range; their bounds come from the rolled-up values before them.
 * Minutes are made from samples, so they reach back RETENTION_RAW_DAYS; hours from stored roll-ups and what is in none yet, RETENTION_DAYS. `complete`
 * is false when a range needs more blocks or samples than one query may read: older points may then be missing.
 * `points` asks for a picture: all values of the range are read, up to 100,000, and each of so many equal parts of it gives its least and its greatest.
 */
import { anomalyMark } from "../../api/anomaly-view.ts";
import { done, type Outcome, refused, shown } from "../../api/refusal.ts";
import {
  JUDGED_CONTEXT_VALUES,
  SERIES_ANOMALIES_MAX,
  SERIES_POINTS_JUDGED_MAX,
  SERIES_TOGETHER_MAX,
} from "../../core/config/interface-limits.ts";
import { SERIES_DATA_SAMPLES_MAX, SERIES_POINTS_DEFAULT, SERIES_POINTS_MAX } from "../../core/config/limits.ts";
import type { SeriesDataAnswer, SeriesSummary } from "../../core/protocol/engine-control.ts";
import { bucketMeans, type ValueSeries } from "../../domain/detection/expected-values.ts";
import { partitionOf } from "../../domain/placement/partition.ts";
import { canonicalAttributes } from "../../domain/series/stream-identity.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { type TimeRange, timeRange } from "../queries/time-range.ts";
import { readHours } from "./rollups/stored-hours.ts";
import type { SeriesContext } from "./series-context.ts";
import { askSeries, askSeriesData } from "./series-handler.ts";
import { type JudgingOptions, judgedPoints, pointsOf, streamsOf, valueRange } from "./series-points.ts";
import { readSamples, type SampleRequest } from "./stored-samples.ts";

const BUCKET_MS = { raw: 0, "1m": 60_000, "1h": 3_600_000 } as const;

type DataRequest = QueryRequest<"seriesData">;

/** One stream that is to be answered; null of what is not named. */
interface Wanted {
  readonly metricName: string;
  readonly environment: string | null;
  readonly attributes: string | null;
}

/** The values of one series, or of several. */
export async function seriesData(context: SeriesContext, request: DataRequest): Promise<Outcome<unknown>> {
  const { query } = request;
  const range = timeRange(query.since, query.until);
  if (!range.ok) return range;
  const named = { metricName: query.metric_name, environment: query.environment ?? null, attributes: query.attributes ?? null };
  const streams = streamsOf(context, request.principal.tenant, query.service_id);
  if (query.series === undefined && query.metrics === undefined)
    return oneSeries(context, request, range.value, named, { most: SERIES_POINTS_JUDGED_MAX, streams });
  const most = query.series ?? SERIES_TOGETHER_MAX;
  const each = Math.floor(SERIES_POINTS_MAX / most);
  const asked = query.points ?? (query.limit === SERIES_POINTS_DEFAULT ? 0 : query.limit);
  if (asked > each)
    return refused(
      "invalid_parameter",
      `${most} series in one answer have ${each} points each at most: give limit=${each} or points=${each}`,
      "series",
    );
  const shared = { ...request, query: { ...query, limit: Math.min(query.limit, each) } };
  return severalSeries(context, shared, range.value, { most, streams });
}

/** The first `most` series of the metrics, in the order in which they are named. */
async function severalSeries(
  context: SeriesContext,
  request: DataRequest,
  range: TimeRange,
  { most, streams }: { readonly most: number; readonly streams: JudgingOptions["streams"] },
): Promise<Outcome<unknown>> {
  const { query, principal } = request;
  const found: SeriesSummary[] = [];
  let matches = 0;
  for (const metricName of new Set([query.metric_name, ...(query.metrics ?? [])])) {
    const { series, total } = await askSeries(context, {
      tenant: principal.tenant,
      serviceId: query.service_id,
      metricName,
      environment: query.environment ?? null,
      after: null,
      limit: most,
    });
    const fitting =
      query.attributes === undefined ? series : series.filter(({ attributes }) => canonicalAttributes(attributes) === query.attributes);
    matches += query.attributes === undefined ? total : fitting.length;
    found.push(...fitting.slice(0, most - found.length));
  }
  const answers: Array<Record<string, unknown>> = [];
  for (const { metricName, environment, attributes } of found) {
    const wanted = { metricName, environment, attributes: canonicalAttributes(attributes) };
    const answer = await oneSeries(context, request, range, wanted, { most: Math.ceil(SERIES_POINTS_JUDGED_MAX / found.length), streams });
    if (answer.ok) answers.push(answer.value as Record<string, unknown>);
    await context.yieldToLoop();
  }
  const [first, ...more] = answers;
  if (first === undefined) return unknownSeries(query);
  return done({ ...first, matches, more: more.map(({ matches: _, ...one }) => one) });
}

function unknownSeries({ service_id, metric_name }: DataRequest["query"]) {
  return refused("not_found", `no series ${shown(metric_name)} of ${shown(service_id)} matches; /api/v1/series lists what there is`);
}

/** The values of the first series that matches. */
async function oneSeries(
  context: SeriesContext,
  { principal, query }: DataRequest,
  range: TimeRange,
  wanted: Wanted,
  judging: Omit<JudgingOptions, "zThreshold">,
): Promise<Outcome<unknown>> {
  const { tenant } = principal;
  const mark = context.state.rollups.mark(partitionOf(tenant, query.service_id));
  const answer = await askSeriesData(context, { tenant, serviceId: query.service_id, ...wanted });
  const { summary } = answer;
  if (summary === null && context.isStoreFailing())
    return refused(
      "store_unavailable",
      "the store takes nothing at present, and a stream that has just left memory is not in it yet; ask again later",
    );
  if (summary === null) return unknownSeries(query);
  const resolution = query.resolution ?? "raw";
  const { zThreshold } = context.state.configured.watchdog.settingsOf(tenant, query.service_id, wanted.metricName);
  const limit = query.points === undefined ? query.limit : SERIES_DATA_SAMPLES_MAX;
  const request = sampleRequest(answer, range, BUCKET_MS[resolution], limit, context.options.window);
  const read = resolution === "1h" ? await readHours(context, answer, request, mark) : await readSamples(context, answer, request);
  const series: ValueSeries = resolution === "1m" ? bucketMeans(read, BUCKET_MS[resolution]) : read;
  const options = { ...context.options, zThreshold, range: valueRange(context, summary, series) };
  const judged = resolution === "1h" ? undefined : await judgedPoints(context, summary, series, { ...judging, zThreshold });
  return done({
    service_id: summary.serviceId,
    metric_name: summary.metricName,
    environment: summary.environment,
    attributes: summary.attributes,
    kind: summary.kind,
    resolution,
    points: pointsOf(series, range, { limit, parts: query.points }, options, judged),
    anomalies: anomaliesOf(context, summary, range),
    matches: answer.matches,
    complete: read.complete,
  });
}

/** Findings on the series' pair in the range, the newest first. */
function anomaliesOf({ state }: SeriesContext, { tenant, serviceId, metricName, environment }: SeriesSummary, { fromMs, toMs }: TimeRange) {
  return state.anomalies.during({ tenant, serviceId, metricName, environment }, fromMs, toMs, SERIES_ANOMALIES_MAX).map(anomalyMark);
}

/** Range to be read for so many points and the window before the first. */
function sampleRequest(answer: SeriesDataAnswer, range: TimeRange, bucketMs: number, limit: number, window: number): SampleRequest {
  if (bucketMs === 0) return { ...range, samplesMax: limit, contextMax: JUDGED_CONTEXT_VALUES, oldestMs: Number.NEGATIVE_INFINITY };
  const newestMs = Math.min(range.toMs, answer.summary?.lastTimeMs ?? range.toMs);
  const firstMs = Math.max(bucketStart(range.fromMs, bucketMs), bucketStart(newestMs, bucketMs) - limit * bucketMs);
  const oldestMs = firstMs - window * bucketMs;
  const toMs = Math.ceil(range.toMs / bucketMs) * bucketMs;
  return { fromMs: firstMs, toMs, samplesMax: SERIES_DATA_SAMPLES_MAX, contextMax: Number.POSITIVE_INFINITY, oldestMs };
}

function bucketStart(ms: number, bucketMs: number): number {
  return Math.floor(ms / bucketMs) * bucketMs;
}
