// The metrics of a service that are looked at together: one of each histogram, since its percentiles are one metric, and the busiest first.
import { CAUSAL_METRICS_PER_SERVICE_MAX } from "../../core/config/prediction-limits.ts";
import type { SeriesSummary } from "../../core/protocol/engine-control.ts";
import { askSeries } from "../series/series-handler.ts";
import type { PredictionContext } from "./prediction-context.ts";

const SERIES_MAX = 1_000;
const PERCENTILE = /\.p(50|95|99)$/;
/** Which of a histogram's series stands for it. */
const PREFERRED = ["95", "99", "50"];

/** Streams by metric, of one environment; empty for a service that is not known. */
export async function metricsOf(
  context: PredictionContext,
  of: { readonly tenant: string; readonly serviceId: string; readonly environment: string | null },
): Promise<ReadonlyMap<string, SeriesSummary[]>> {
  const { series } = await askSeries(context, { ...of, metricName: null, after: null, limit: SERIES_MAX });
  const environment = of.environment ?? series[0]?.environment;
  const byMetric = new Map<string, SeriesSummary[]>();
  for (const summary of series) {
    if (summary.environment !== environment) continue;
    byMetric.set(summary.metricName, [...(byMetric.get(summary.metricName) ?? []), summary]);
  }
  const chosen = [...byMetric].filter(([name]) => isPreferred(name, byMetric));
  const samples = (streams: readonly SeriesSummary[]) => streams.reduce((sum, one) => sum + one.samples, 0);
  chosen.sort(([a, x], [b, y]) => samples(y) - samples(x) || (a < b ? -1 : 1));
  return new Map(chosen.slice(0, CAUSAL_METRICS_PER_SERVICE_MAX));
}

/** Whether the name is no percentile, or the one that stands for its histogram. Bucket counters of a family are parts of it as well. */
function isPreferred(name: string, all: ReadonlyMap<string, unknown>): boolean {
  if (/_bucket$/.test(name)) return false;
  const percentile = PERCENTILE.exec(name)?.[1];
  if (percentile === undefined) return true;
  const base = name.replace(PERCENTILE, "");
  return PREFERRED.find((one) => all.has(`${base}.p${one}`)) === percentile;
}
