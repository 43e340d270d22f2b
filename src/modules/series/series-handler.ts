// GET /api/v1/series: the engines' sorted pages merged into one. Order: service, metric, environment, attributes as canonical JSON.
import { openPage } from "../../api/page-token.ts";
import { done, type Outcome } from "../../api/refusal.ts";
import type { SeriesDataAnswer, SeriesDataQuery, SeriesKey, SeriesQuery, SeriesSummary } from "../../core/protocol/engine-control.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { maturityOf } from "../../domain/detection/gates/baseline-maturity.ts";
import { countsByType, type MetricType } from "../../domain/series/metric-metadata.ts";
import { compareSeriesKeys, seriesKey } from "../../domain/series/series-order.ts";
import type { SeriesPage } from "../engines/engine-client.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { coldSeries, coldSeriesData } from "./cold/cold-series.ts";
import type { SeriesContext } from "./series-context.ts";

/** A page of series. */
export async function listSeries(context: SeriesContext, request: QueryRequest<"series">): Promise<Outcome<unknown>> {
  const { principal, query } = request;
  const asked = openPage(context.state, request, "series");
  if (!asked.ok) return asked;
  const { series, total } = await askSeries(context, {
    tenant: principal.tenant,
    serviceId: query.service_id ?? null,
    metricName: query.metric_name ?? null,
    environment: query.environment ?? null,
    part: query.q?.toLowerCase(),
    after: (asked.value.after as SeriesKey | undefined) ?? null,
    limit: query.limit + 1,
  });
  const { page, page_token } = asked.value.cut(series, seriesKey);
  return done({ series: page.map((summary) => seriesView(context, summary)), total, page_token });
}

/**
 * The first `limit` series over all engines and the store, in list order; a service lies in one engine, so only that is asked when it is named. Engines are
 * asked first: what leaves them afterwards is in the store by then.
 */
export async function askSeries(
  context: SeriesContext,
  query: Omit<SeriesQuery, "type" | "id">,
): Promise<{ series: SeriesSummary[]; total: number }> {
  const { engines } = context;
  const asked =
    query.serviceId === null
      ? Array.from({ length: engines.count }, (_, engine) => engine)
      : [engines.ownerOf(query.tenant, query.serviceId)];
  const answers = await Promise.all(asked.map((engine) => engines.series(engine, query)));
  await context.settle();
  const cold = await coldSeries(context, query);
  const total = answers.reduce((sum, answer) => sum + answer.total - answer.returned, cold.total);
  return { series: mergePages([...answers, cold], query.limit), total };
}

/** A stream may move between two looks, from memory to the store or back; it does not do so this often in one query. */
const LOOKUPS_MAX = 4;

/** The newest values of the first stream that matches, wherever it is. */
export async function askSeriesData(context: SeriesContext, query: Omit<SeriesDataQuery, "type" | "id">): Promise<SeriesDataAnswer> {
  const { engines } = context;
  const owner = engines.ownerOf(query.tenant, query.serviceId);
  for (let lookups = 1; ; lookups++) {
    const answer = await engines.seriesData(owner, query);
    await context.settle();
    const cold = await coldSeriesData(context, query);
    if (cold === undefined && answer.summary === null && lookups < LOOKUPS_MAX) continue;
    if (cold === undefined) return answer;
    const matches = answer.matches - answer.returned + cold.matches;
    const isFirst = answer.summary === null || compareSeriesKeys(seriesKey(cold.summary as SeriesSummary), seriesKey(answer.summary)) < 0;
    return { ...(isFirst ? cold : answer), matches };
  }
}

/** Merges by repeated choice of the least head: 64 engines and the store, 1,001 rows at most. A stream that comes twice has just come back from the store. */
function mergePages(answers: ReadonlyArray<Pick<SeriesPage, "series">>, limit: number): SeriesSummary[] {
  const pages = answers.map(({ series }) => series.map((summary) => ({ summary, key: seriesKey(summary) })));
  const heads = pages.map(() => 0);
  const merged: SeriesSummary[] = [];
  while (merged.length < limit) {
    let least = -1;
    for (const [page, rows] of pages.entries()) {
      const row = rows[heads[page] as number];
      const best = least < 0 ? undefined : pages[least]?.[heads[least] as number];
      if (row !== undefined && (best === undefined || compareSeriesKeys(row.key, best.key) < 0)) least = page;
    }
    const chosen = pages[least]?.[heads[least] as number];
    if (chosen === undefined) break;
    const last = merged.at(-1);
    if (last === undefined || compareSeriesKeys(seriesKey(last), chosen.key) !== 0) merged.push(chosen.summary);
    heads[least] = (heads[least] as number) + 1;
  }
  return merged;
}

function seriesView(context: SeriesContext, summary: SeriesSummary) {
  const metadata = context.state.metadata.ofSeries(summary.tenant, summary.metricName);
  return {
    service_id: summary.serviceId,
    metric_name: summary.metricName,
    environment: summary.environment,
    attributes: summary.attributes,
    kind: summary.kind,
    samples: summary.samples,
    last_value: summary.lastValue,
    last_timestamp: summary.lastTimeMs === null ? null : formatRfc3339(summary.lastTimeMs),
    maturity: maturityOf(summary.firstTimeMs ?? context.nowMs(), context.nowMs()),
    ended: summary.ended,
    type: metadata === undefined ? null : typeOfSeries(metadata.type, summary),
    unit: metadata?.unit ?? null,
  };
}

/** The type told of a metric's name, unless the series is of the other kind: one name may be a counter of one service and a gauge of another. */
function typeOfSeries(reported: MetricType, { metricName, kind }: SeriesSummary): MetricType {
  const counts = countsByType(metricName, reported);
  return counts === undefined || counts === (kind === "counter") ? reported : kind;
}
