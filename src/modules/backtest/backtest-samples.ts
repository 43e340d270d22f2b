// The stored series that a backtest goes over, with the day before it for their baselines.
import { type Outcome, refused, shown } from "../../api/refusal.ts";
import { BACKTEST_SAMPLES_MAX, BACKTEST_SERIES_MAX } from "../../core/config/backtest-limits.ts";
import { SERIES_DATA_BLOCKS_MAX, SERIES_DATA_SAMPLES_MAX } from "../../core/config/limits.ts";
import { FLAG_COUNTER, FLAG_OPERATION, FLAG_PERCENT } from "../../core/layout/stream-record.ts";
import type { SeriesSummary } from "../../core/protocol/engine-control.ts";
import { DAY_MS } from "../../core/time/durations.ts";
import type { BacktestSeries } from "../../domain/backtest/history.ts";
import { isRequestCount } from "../../domain/pillars/request-tally.ts";
import { flagsOfPoint, flagsOfRecord } from "../../domain/series/classification.ts";
import { canonicalAttributes } from "../../domain/series/stream-identity.ts";
import { askSeries, askSeriesData } from "../series/series-handler.ts";
import { readSamples } from "../series/stored-samples.ts";
import type { BacktestContext } from "./backtest-context.ts";

const RETAINED_FLAGS = FLAG_OPERATION | FLAG_PERCENT | FLAG_COUNTER;

export interface SampleSelection {
  readonly tenant: string;
  readonly serviceId: string | null;
  readonly metricName: string | null;
  readonly environment: string | null;
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Whether a minimum of traffic may be asked for. */
  readonly wantsTraffic: boolean;
}

export interface SelectedSamples {
  readonly series: readonly BacktestSeries[];
  /** Series that count the requests of the same services, where they are not selected themselves. */
  readonly counting: readonly BacktestSeries[];
  readonly samples: number;
  /** First sample of each service, whether of a series that is selected or not. */
  readonly firstSeenMs: ReadonlyMap<string, number>;
}

const ADVICE = "name a service_id, a metric_name or an environment, or give a shorter time";

/** Reads the samples of all series that are selected; refused where they are too many. */
export async function selectedSamples(context: BacktestContext, selection: SampleSelection): Promise<Outcome<SelectedSamples>> {
  const { tenant, serviceId, metricName, environment } = selection;
  const selected = { tenant, serviceId, metricName, environment, after: null, limit: BACKTEST_SERIES_MAX };
  const { series: summaries, total } = await askSeries(context, selected);
  if (total > BACKTEST_SERIES_MAX)
    return refused("unprocessable", `${total} series are selected, and a backtest takes ${BACKTEST_SERIES_MAX}; ${ADVICE}`);
  const around = await seriesAround(context, selection, summaries);
  const [series, counting]: [BacktestSeries[], BacktestSeries[]] = [[], []];
  let samples = 0;
  for (const [into, wanted] of [[series, summaries] as const, [counting, countingAround(selection, around)] as const]) {
    for (const summary of wanted) {
      await context.yieldToLoop();
      const read = await readSeries(context, selection, summary);
      if (read === undefined) return refused("unprocessable", tooLong(summary));
      samples += read.times.length;
      if (samples > BACKTEST_SAMPLES_MAX)
        return refused("unprocessable", `more than ${BACKTEST_SAMPLES_MAX} samples are selected, the day before them included; ${ADVICE}`);
      if (read.times.length > 0) into.push(read);
    }
  }
  const firstSeenMs = new Map<string, number>();
  for (const { serviceId: service, firstTimeMs } of [...summaries, ...around]) {
    if (firstTimeMs !== null && firstTimeMs < (firstSeenMs.get(service) ?? Number.POSITIVE_INFINITY)) firstSeenMs.set(service, firstTimeMs);
  }
  return { ok: true, value: { series, counting, samples, firstSeenMs } };
}

function tooLong({ metricName, serviceId }: SeriesSummary): string {
  return `${shown(metricName)} of ${shown(serviceId)} has more stored samples than one query reads (${SERIES_DATA_SAMPLES_MAX} samples, ${SERIES_DATA_BLOCKS_MAX} blocks); give a shorter time, or leave it out`;
}

/** All series of the services, where the selection leaves some of them out. */
async function seriesAround(
  context: BacktestContext,
  { tenant, metricName, environment }: SampleSelection,
  selected: readonly SeriesSummary[],
): Promise<SeriesSummary[]> {
  if (metricName === null && environment === null) return [];
  const around: SeriesSummary[] = [];
  for (const serviceId of new Set(selected.map((summary) => summary.serviceId))) {
    await context.yieldToLoop();
    const query = { tenant, serviceId, metricName: null, environment: null, after: null, limit: BACKTEST_SERIES_MAX };
    around.push(...(await askSeries(context, query)).series);
  }
  return around;
}

function countingAround({ metricName, environment, wantsTraffic }: SampleSelection, around: readonly SeriesSummary[]): SeriesSummary[] {
  if (!wantsTraffic || metricName === null) return [];
  return around.filter(
    (summary) =>
      summary.metricName !== metricName &&
      (environment === null || summary.environment === environment) &&
      isRequestCount(summary.metricName, summary.kind === "counter"),
  );
}

/** Undefined where it is more than one query reads. */
async function readSeries(
  context: BacktestContext,
  { sinceMs, untilMs }: SampleSelection,
  summary: SeriesSummary,
): Promise<BacktestSeries | undefined> {
  const { tenant, serviceId, metricName, environment, attributes } = summary;
  const data = await askSeriesData(context, {
    tenant,
    serviceId,
    metricName,
    environment,
    attributes: canonicalAttributes(attributes),
  });
  const oldestMs = sinceMs - DAY_MS;
  const bounds = { fromMs: oldestMs, toMs: untilMs, samplesMax: BACKTEST_SAMPLES_MAX, contextMax: 0, oldestMs };
  const { times, values, complete } = await readSamples(context, data, bounds);
  if (!complete) return undefined;
  const flags = flagsOfRecord("metric", metricName, attributes) | flagsOfPoint(metricName, summary.kind === "counter");
  return {
    name: { tenant, environment, serviceId, metricName, attributes },
    flags: flags & RETAINED_FLAGS,
    times,
    values,
    endsWithHistory: summary.endsWithHistory,
  };
}
