/**
 * Metric samples as records. They are not stored as records, so a page takes them from what the engines hold:
 *
 *   with service_id      the recent samples (ring and chunks not yet in a block: at least the newest 120) of the service's first
 *                        RECORD_SERIES_MAX series; older ones are at /api/v1/series/data
 *   without service_id   the newest sample of each of the tenant's first RECORD_SUMMARIES_MAX series
 *
 * Values of counters are the deltas that detection sees. The id of a sample is the hash of its series, so that pages go on after it.
 */

import { RECORD_SERIES_MAX, RECORD_SUMMARIES_MAX } from "../../core/config/limits.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import type { SeriesSummary } from "../../core/protocol/engine-control.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { seriesKey } from "../../domain/series/series-order.ts";
import { canonicalAttributes } from "../../domain/series/stream-identity.ts";
import type { SeriesContext } from "../series/series-context.ts";
import { askSeries, askSeriesData } from "../series/series-handler.ts";
import { recentSamples } from "../series/stored-samples.ts";
import type { RecordFilter, RecordListRow } from "./record-list.ts";

/** Rows in no order; `complete` is false when there are more series than were looked at. */
export interface MetricRows {
  readonly rows: readonly RecordListRow[];
  readonly complete: boolean;
}

/** The samples of a range. */
export async function metricRows(
  context: SeriesContext,
  { tenant, serviceId, environment, range }: Pick<RecordFilter, "tenant" | "serviceId" | "environment" | "range">,
): Promise<MetricRows> {
  const limit = serviceId === undefined ? RECORD_SUMMARIES_MAX : RECORD_SERIES_MAX;
  const { series, total } = await askSeries(context, {
    tenant,
    serviceId: serviceId ?? null,
    metricName: null,
    environment: environment ?? null,
    after: null,
    limit,
  });
  const metrics = series.filter(({ retainedAsRecords }) => !retainedAsRecords);
  const rows =
    serviceId === undefined ? metrics.flatMap(newestSample) : (await Promise.all(metrics.map((each) => samplesOf(context, each)))).flat();
  return { rows: rows.filter(({ timeMs }) => timeMs >= range.fromMs && timeMs < range.toMs), complete: total <= series.length };
}

function newestSample(summary: SeriesSummary): RecordListRow[] {
  return summary.lastTimeMs === null || summary.lastValue === null
    ? []
    : [rowOf(summary, seriesId(summary), summary.lastTimeMs, summary.lastValue)];
}

async function samplesOf(context: SeriesContext, summary: SeriesSummary): Promise<RecordListRow[]> {
  const { tenant, serviceId, metricName, environment } = summary;
  const attributes = canonicalAttributes(summary.attributes);
  const answer = await askSeriesData(context, { tenant, serviceId, metricName, environment, attributes });
  const id = seriesId(summary);
  const { times, values } = recentSamples(answer);
  return Array.from(times, (timeMs, at) => rowOf(summary, id, timeMs, values[at] as number));
}

function seriesId(summary: SeriesSummary): string {
  return hash128(JSON.stringify(seriesKey(summary)));
}

function rowOf(summary: SeriesSummary, id: string, timeMs: number, value: number): RecordListRow {
  const view = () => ({
    service_id: summary.serviceId,
    type: "metric",
    metric_name: summary.metricName,
    value,
    timestamp: formatRfc3339(timeMs),
    attributes: summary.attributes,
    environment: summary.environment,
  });
  return { timeMs, id, view };
}
