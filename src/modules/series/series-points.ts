// The points of an answer of /api/v1/series/data: which of the values that were read, and with which bounds.
// Which of many values a picture needs: of each of equal parts of the time the least and the greatest, so that no peak is lost, and the first and the last of all.
import type { SeriesSummary } from "../../core/protocol/engine-control.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { type JudgedBounds, type JudgedPoint, judgePoints } from "../../domain/backtest/point-judge.ts";
import { WorkSlices } from "../../domain/backtest/work-slices.ts";
import { type ExpectationOptions, expectationAt, UNKNOWN_EXPECTATION, type ValueSeries } from "../../domain/detection/expected-values.ts";
import { TimeZoneHours } from "../../domain/detection/seasonal/time-zone-hours.ts";
import { flagsOfPoint, isOfCounts } from "../../domain/series/classification.ts";
import { type MetricRange, rangeOfMetric, rangeOver } from "../../domain/series/metric-range.ts";
import type { TimeRange } from "../queries/time-range.ts";
import type { SeriesContext } from "./series-context.ts";
import { askSeries } from "./series-handler.ts";

export interface JudgingOptions {
  readonly zThreshold: number;
  readonly most: number;
  /** Streams of the service, one at least. */
  readonly streams: () => Promise<number>;
}

/** Streams of a service, asked of its engine once, however many series of it are judged. */
export function streamsOf(context: SeriesContext, tenant: string, serviceId: string): () => Promise<number> {
  let streams: Promise<number> | undefined;
  const ask = async () => {
    const { total } = await askSeries(context, { tenant, serviceId, metricName: null, environment: null, after: null, limit: 1 });
    return Math.max(1, total);
  };
  return () => {
    streams ??= ask();
    return streams;
  };
}

/** The newest of the values, `most` at most, as the detectors judge them, those of minutes as the long baseline sees them. */
export async function judgedPoints(
  context: SeriesContext,
  { tenant, metricName, kind, serviceSinceMs }: SeriesSummary,
  { times, values }: ValueSeries,
  { zThreshold, most, streams }: JudgingOptions,
): Promise<JudgedPoints> {
  const { options, state } = context;
  const first = Math.max(0, times.length - most);
  const flags = flagsOfPoint(metricName, kind === "counter");
  const points = await judgePoints(times.subarray(first), values.subarray(first), {
    window: options.window,
    samplesMin: options.samplesMin,
    confirmation: options.confirmation,
    zThreshold,
    ...(serviceSinceMs !== null && { serviceSinceMs }),
    offsetMs: new TimeZoneHours(options.timeZone ?? "UTC").offsetMs,
    flags,
    // Only values that lie a while apart have bounds of the long baseline, each for itself.
    counts: isOfCounts(metricName, flags) ? 1 : 0,
    streams: await streams(),
    knownDays: state.configured.watchdog.calendars.knownDaysOf(tenant),
    slices: new WorkSlices(() => context.yieldToLoop()),
  });
  return { first, points };
}

interface JudgedPoints {
  /** Place of the first that was judged. */
  readonly first: number;
  readonly points: readonly JudgedPoint[];
}

/** Range of the values of a series, as far as they themselves do not say otherwise. */
export function valueRange({ state }: SeriesContext, { tenant, metricName, kind }: SeriesSummary, { values }: ValueSeries): MetricRange {
  const unit = state.metadata.ofSeries(tenant, metricName)?.unit ?? null;
  return rangeOver(rangeOfMetric({ metricName, unit, isCounter: kind === "counter" }), values);
}

/** Number of points wanted: the newest `limit`, or of these so many as a picture of so many parts needs. */
export interface PointsWanted {
  readonly limit: number;
  readonly parts: number | undefined;
}

/** The last `limit` places in range; those before them serve as their window. */
export function pointsOf(
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
  return places.map((index) => {
    const point = judged?.points[index - judged.first];
    const bounds = point === undefined ? { ...expectationAt(values, index, options), ...UNJUDGED } : boundsOf(point, options.range);
    return { timestamp: formatRfc3339(times[index] as number), value: values[index] as number, ...bounds };
  });
}

/** Expectation of a value that no detector looks at: one of an hour, or of long ago in a wide range. */
const UNJUDGED = { statistical: null, adaptive: null, judged_by: null };

function boundsOf(point: JudgedPoint, range: MetricRange) {
  const statistical = boundsWithin(point.statistical, range);
  const adaptive = boundsWithin(point.adaptive, range);
  const shown = (point.judgedBy === "adaptive" ? adaptive : statistical) ?? UNKNOWN_EXPECTATION;
  return { expected: shown.expected, lower: shown.lower, upper: shown.upper, statistical, adaptive, judged_by: point.judgedBy };
}

function boundsWithin(bounds: JudgedBounds | null, { least, most }: MetricRange): JudgedBounds | null {
  if (bounds === null) return null;
  return { expected: bounds.expected, lower: Math.max(least, bounds.lower), upper: Math.min(most, bounds.upper) };
}

/** Places of `values` in [first, end), ascending; at most two a part and two more. */
export function drawnPlaces(times: Float64Array, values: Float64Array, first: number, parts: number): number[] {
  const end = times.length;
  if (end - first <= 2 * parts) return Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
  const fromMs = times[first] as number;
  const widthMs = Math.max(1, ((times[end - 1] as number) - fromMs + 1) / parts);
  const places: number[] = [first];
  const take = (index: number) => {
    if (index !== places.at(-1)) places.push(index);
  };
  for (let at = first; at < end; ) {
    const part = Math.floor(((times[at] as number) - fromMs) / widthMs);
    let least = at;
    let most = at;
    for (; at < end && Math.floor(((times[at] as number) - fromMs) / widthMs) === part; at++) {
      if ((values[at] as number) < (values[least] as number)) least = at;
      if ((values[at] as number) > (values[most] as number)) most = at;
    }
    take(Math.min(least, most));
    take(Math.max(least, most));
  }
  take(end - 1);
  return places;
}
