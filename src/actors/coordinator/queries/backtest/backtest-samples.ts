// The stored series that a backtest goes over, with the day before it for their baselines.
import { type Outcome, refused } from "../../../../api/refusal.ts";
import { BACKTEST_SAMPLES_MAX, BACKTEST_SERIES_MAX } from "../../../../core/config/limits.ts";
import { FLAG_OPERATION, FLAG_PERCENT } from "../../../../core/layout/stream-record.ts";
import type { BacktestSeries } from "../../../../domain/backtest/window-track.ts";
import { flagsOfRecord } from "../../../../domain/series/classification.ts";
import { canonicalAttributes } from "../../../../domain/series/stream-identity.ts";
import type { QueryContext } from "../query-context.ts";
import { askSeries, askSeriesData } from "../series.ts";
import { readSamples } from "../stored-samples.ts";

const DAY_MS = 86_400_000;

export interface SampleSelection {
  readonly tenant: string;
  readonly serviceId: string | null;
  readonly metricName: string | null;
  readonly environment: string | null;
  readonly sinceMs: number;
  readonly untilMs: number;
}

const ADVICE = "name a service_id, a metric_name or an environment, or give a shorter time";

/** Reads the samples of all series that are selected; refused where they are too many. */
export async function backtestSeries(context: QueryContext, selection: SampleSelection): Promise<Outcome<BacktestSeries[]>> {
  const { tenant, serviceId, metricName, environment } = selection;
  const { series, total } = await askSeries(context, {
    tenant,
    serviceId,
    metricName,
    environment,
    after: null,
    limit: BACKTEST_SERIES_MAX,
  });
  if (total > BACKTEST_SERIES_MAX)
    return refused("unprocessable", `${total} series are selected, and a backtest takes ${BACKTEST_SERIES_MAX}; ${ADVICE}`);
  const found: BacktestSeries[] = [];
  let samples = 0;
  for (const { serviceId: service, metricName: metric, environment: of, attributes } of series) {
    await context.breathe();
    const data = await askSeriesData(context, {
      tenant,
      serviceId: service,
      metricName: metric,
      environment: of,
      attributes: canonicalAttributes(attributes),
    });
    const { times, values, complete } = await readSamples(context, data, {
      fromMs: selection.sinceMs - DAY_MS,
      toMs: selection.untilMs,
      samplesMax: BACKTEST_SAMPLES_MAX,
      contextMax: 0,
      oldestMs: selection.sinceMs - DAY_MS,
    });
    samples += times.length;
    if (!complete || samples > BACKTEST_SAMPLES_MAX)
      return refused("unprocessable", `more than ${BACKTEST_SAMPLES_MAX} samples are selected, the day before them included; ${ADVICE}`);
    const name = { tenant, environment: of, serviceId: service, metricName: metric, attributes };
    const flags = flagsOfRecord("metric", metric, attributes) & (FLAG_OPERATION | FLAG_PERCENT);
    if (times.length > 0) found.push({ name, flags, times, values });
  }
  return { ok: true, value: found };
}
