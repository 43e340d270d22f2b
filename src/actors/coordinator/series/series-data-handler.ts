/**
 * GET /api/v1/series/data: the newest `limit` points of the range, ascending, each with what was expected of it.
 *
 * Bounds are those of the detectors, who judge the values again: layer 1 with its masks and floors, and the long baseline by the series' own tail over the day before.
 *
 * Without `environment` or `attributes` the first matching stream in list order is answered, and `matches` says how many there were. Rolled-up
 * points (1m, 1h) are means of the raw values in buckets aligned to UTC that begin in the range; their bounds come from the rolled-up values before them.
 * Minutes are made from samples, so they reach back RETENTION_RAW_DAYS; hours from stored roll-ups and what is in none yet, RETENTION_DAYS. `complete`
 * is false when a range needs more blocks or samples than one query may read: older points may then be missing.
 * `points` asks for a picture: all values of the range are read, up to 100,000, and each of so many equal parts of it gives its least and its greatest.
 */
import { done, type Outcome, refused, shown } from "../../../api/refusal.ts";
import { formatRfc3339 } from "../../../core/base/rfc3339.ts";
import { JUDGED_CONTEXT_VALUES, SERIES_POINTS_JUDGED_MAX } from "../../../core/config/interface-limits.ts";
import { SERIES_DATA_SAMPLES_MAX } from "../../../core/config/limits.ts";
import type { SeriesDataAnswer, SeriesSummary } from "../../../core/protocol/engine-control.ts";
import { type JudgedBounds, type JudgedPoint, judgePoints } from "../../../domain/backtest/point-judge.ts";
import { WorkSlices } from "../../../domain/backtest/work-slices.ts";
import { bucketMeans, type ExpectationOptions, expectationAt, type ValueSeries } from "../../../domain/detection/expected-values.ts";
import { TimeZoneHours } from "../../../domain/detection/seasonal/time-zone-hours.ts";
import { partitionOf } from "../../../domain/placement/partition.ts";
import { flagsOfPoint } from "../../../domain/series/classification.ts";
import { drawnPlaces } from "../../../domain/series/drawn-points.ts";
import { type MetricRange, rangeOfMetric, rangeOver } from "../../../domain/series/metric-range.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { type TimeRange, timeRange } from "../queries/time-range.ts";
import { readHours } from "./rollups/stored-hours.ts";
import type { SeriesContext } from "./series-context.ts";
import { askSeries, askSeriesData } from "./series-handler.ts";
import { readSamples, type SampleRequest } from "./stored-samples.ts";

const BUCKET_MS = { raw: 0, "1m": 60_000, "1h": 3_600_000 } as const;

/** The values of one series. */
export async function seriesData(context: SeriesContext, { principal, query }: QueryRequest<"seriesData">): Promise<Outcome<unknown>> {
  const range = timeRange(query.since, query.until);
  if (!range.ok) return range;
  const mark = context.state.rollups.mark(partitionOf(principal.tenant, query.service_id));
  const answer = await askSeriesData(context, {
    tenant: principal.tenant,
    serviceId: query.service_id,
    metricName: query.metric_name,
    environment: query.environment ?? null,
    attributes: query.attributes ?? null,
  });
  const { summary } = answer;
  if (summary === null && context.isStoreFailing())
    return refused(
      "store_unavailable",
      "the store takes nothing at present, and a stream that has just left memory is not in it yet; ask again later",
    );
  if (summary === null)
    return refused(
      "not_found",
      `no series ${shown(query.metric_name)} of ${shown(query.service_id)} matches; /api/v1/series lists what there is`,
    );
  const resolution = query.resolution ?? "raw";
  const { zThreshold } = context.state.configured.watchdog.settingsOf(principal.tenant, query.service_id, query.metric_name);
  const limit = query.points === undefined ? query.limit : SERIES_DATA_SAMPLES_MAX;
  const request = sampleRequest(answer, range.value, BUCKET_MS[resolution], limit, context.options.window);
  const read = resolution === "1h" ? await readHours(context, answer, request, mark) : await readSamples(context, answer, request);
  const series: ValueSeries = resolution === "1m" ? bucketMeans(read, BUCKET_MS[resolution]) : read;
  const options = { ...context.options, zThreshold, range: valueRange(context, summary, series) };
  const judged = resolution === "1h" ? undefined : await judgedPoints(context, summary, series, zThreshold);
  return done({
    service_id: summary.serviceId,
    metric_name: summary.metricName,
    environment: summary.environment,
    attributes: summary.attributes,
    kind: summary.kind,
    resolution,
    points: pointsOf(series, range.value, { limit, parts: query.points }, options, judged),
    matches: answer.matches,
    complete: read.complete,
  });
}

/** The newest of the values as the detectors judge them, those of minutes as the long baseline sees them. */
async function judgedPoints(
  context: SeriesContext,
  { tenant, serviceId, metricName, kind }: SeriesSummary,
  { times, values }: ValueSeries,
  zThreshold: number,
): Promise<JudgedPoints> {
  const { options, state } = context;
  const { total } = await askSeries(context, { tenant, serviceId, metricName: null, environment: null, after: null, limit: 1 });
  const first = Math.max(0, times.length - SERIES_POINTS_JUDGED_MAX);
  const points = await judgePoints(times.subarray(first), values.subarray(first), {
    window: options.window,
    samplesMin: options.samplesMin,
    zThreshold,
    offsetMs: new TimeZoneHours(options.timeZone ?? "UTC").offsetMs,
    flags: flagsOfPoint(metricName, kind === "counter"),
    streams: Math.max(1, total),
    knownDays: state.configured.watchdog.calendars.knownDaysOf(tenant),
    slices: new WorkSlices(() => context.yieldTurn()),
  });
  return { first, points };
}

interface JudgedPoints {
  /** Place of the first that was judged. */
  readonly first: number;
  readonly points: readonly JudgedPoint[];
}

/** What the values of a series can be, as far as they themselves do not say otherwise. */
function valueRange({ state }: SeriesContext, { tenant, metricName, kind }: SeriesSummary, { values }: ValueSeries): MetricRange {
  const unit = state.metadata.ofSeries(tenant, metricName)?.unit ?? null;
  return rangeOver(rangeOfMetric({ metricName, unit, isCounter: kind === "counter" }), values);
}

/** What is to be read for so many points and the window before the first. */
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

/** How many points are wanted: the newest `limit`, or of these so many as a picture of so many parts needs. */
interface PointsWanted {
  readonly limit: number;
  readonly parts: number | undefined;
}

/** The last `limit` places in range; those before them serve as their window. */
function pointsOf(
  { times, values }: ValueSeries,
  range: TimeRange,
  { limit, parts }: PointsWanted,
  options: ExpectationOptions,
  judged: JudgedPoints | undefined,
) {
  const begin = times.findIndex((time) => time >= range.fromMs);
  const first = begin < 0 ? times.length : Math.max(begin, times.length - limit);
  const places =
    parts === undefined ? Array.from({ length: times.length - first }, (_, at) => first + at) : drawnPlaces(times, values, first, parts);
  return places.map((place) => {
    const point = judged?.points[place - judged.first];
    const bounds = point === undefined ? { ...expectationAt(values, place, options), ...UNJUDGED } : boundsOf(point, options.range);
    return { timestamp: formatRfc3339(times[place] as number), value: values[place] as number, ...bounds };
  });
}

/** Of a value that no detector looks at: one of an hour, or of long ago in a wide range. */
const UNJUDGED = { statistical: null, adaptive: null, judged_by: null };

function boundsOf(point: JudgedPoint, range: MetricRange) {
  const within = (bounds: JudgedBounds | null) =>
    bounds && { ...bounds, lower: Math.max(range.least, bounds.lower), upper: Math.min(range.most, bounds.upper) };
  const [statistical, adaptive] = [within(point.statistical), within(point.adaptive)];
  const shown = point.judgedBy === "adaptive" ? adaptive : statistical;
  return { ...(shown ?? { expected: null, lower: null, upper: null }), statistical, adaptive, judged_by: point.judgedBy };
}
