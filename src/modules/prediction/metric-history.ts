// The history of one metric of a service at even distances, whatever streams it has, from wherever it lies: what forecasts, causes and trends are made of.
import { SERIES_DATA_SAMPLES_MAX } from "../../core/config/limits.ts";
import { JOINED_STREAMS_PER_METRIC_MAX } from "../../core/config/prediction-limits.ts";
import type { SeriesSummary } from "../../core/protocol/engine-control.ts";
import { HOUR_MS } from "../../core/time/durations.ts";
import { NEW_NORMAL_MS } from "../../domain/detection/multivariate/strange-stretches.ts";
import { DETECTORS_OF_PAIRS } from "../../domain/detection/pair/pair-verdict.ts";
import { temperedHistory } from "../../domain/forecast/tempered-history.ts";
import { partitionOf } from "../../domain/placement/partition.ts";
import { type EvenGrid, evenGrid, GAP_STEPS_MAX, joinedGrid } from "../../domain/prediction/even-grid.ts";
import { type MetricRange, rangeShown } from "../../domain/series/metric-range.ts";
import { canonicalAttributes } from "../../domain/series/stream-identity.ts";
import { readHours } from "../series/rollups/stored-hours.ts";
import { askSeries, askSeriesData } from "../series/series-handler.ts";
import { readSamples } from "../series/stored-samples.ts";
import type { PredictionContext } from "./prediction-context.ts";

export interface MetricName {
  readonly tenant: string;
  readonly serviceId: string;
  readonly metricName: string;
  /** Null: that of the first series. */
  readonly environment: string | null;
}

/** Of a stream what says whether it goes on. */
type EndOfStream = Pick<SeriesSummary, "ended" | "lastTimeMs" | "firstTimeMs" | "samples">;

/** What is silent for as many of its usual gaps has ended. */
const USUAL_GAPS_MAX = 5;

export interface HistoryRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

/** Findings of a metric that are looked at; further open ones would be older. */
const FINDINGS_MAX = 100;

/** History that nothing of an open finding is in; `leftOutSinceMs` is when that began. */
export interface CalmHistory extends EvenGrid {
  readonly leftOutSinceMs: number | null;
}

/** Streams of a metric in one environment, JOINED_STREAMS_PER_METRIC_MAX at most; empty for one that is not known. */
export async function streamsOf(
  context: PredictionContext,
  { tenant, serviceId, metricName, environment }: MetricName,
): Promise<SeriesSummary[]> {
  const limit = JOINED_STREAMS_PER_METRIC_MAX;
  const { series } = await askSeries(context, { tenant, serviceId, metricName, environment, after: null, limit });
  const first = series[0]?.environment;
  return series.filter((summary) => summary.environment === first);
}

/** Those streams as one history, whole steps only. Hours come from roll-ups, shorter steps from samples. */
export async function historyOf(context: PredictionContext, streams: readonly SeriesSummary[], range: HistoryRange): Promise<EvenGrid> {
  const [first] = streams;
  if (first === undefined) return { startMs: range.fromMs, values: new Float64Array(0), filled: 0 };
  const toMs = Math.floor(range.toMs / range.stepMs) * range.stepMs;
  const grids: EvenGrid[] = [];
  for (const summary of streams) {
    grids.push(await streamHistory(context, summary, { ...range, toMs }));
    await context.yieldToLoop();
  }
  return joinedGrid(grids, range.stepMs, joinOf(first));
}

async function streamHistory(context: PredictionContext, summary: SeriesSummary, range: HistoryRange): Promise<EvenGrid> {
  const { tenant, serviceId, metricName, environment, attributes } = summary;
  const mark = context.state.rollups.mark(partitionOf(tenant, serviceId));
  const answer = await askSeriesData(context, { tenant, serviceId, metricName, environment, attributes: canonicalAttributes(attributes) });
  const request = {
    fromMs: range.fromMs,
    toMs: range.toMs,
    oldestMs: range.fromMs,
    samplesMax: SERIES_DATA_SAMPLES_MAX,
    contextMax: Number.POSITIVE_INFINITY,
  };
  const read = range.stepMs >= HOUR_MS ? await readHours(context, answer, request, mark) : await readSamples(context, answer, request);
  return evenGrid(read.times, read.values, range);
}

/**
 * Since when an open finding says that the metric is not as it was: of values from then on nothing is learned. Undefined where there is none, and where it has lasted
 * so long that this is how the metric is now.
 */
export function strangeSinceMs(
  { state }: PredictionContext,
  { tenant, serviceId, metricName, environment }: SeriesSummary,
  nowMs: number,
): number | undefined {
  const found = state.anomalies.during({ tenant, serviceId, metricName, environment }, nowMs - NEW_NORMAL_MS, nowMs, FINDINGS_MAX);
  const open = found.filter(({ resolvedAtMs, detector }) => resolvedAtMs === null && DETECTORS_OF_PAIRS.includes(detector));
  const since = open.map(({ startedAtMs }) => startedAtMs).filter((startedAtMs) => startedAtMs > nowMs - NEW_NORMAL_MS);
  return since.length === 0 ? undefined : Math.min(...since);
}

/** The history of so long before now; before an open finding where there is one, unless fewer than `least` values are left without it. */
export async function calmHistoryOf(
  context: PredictionContext,
  streams: readonly SeriesSummary[],
  {
    nowMs,
    lengthMs,
    stepMs,
    least,
  }: { readonly nowMs: number; readonly lengthMs: number; readonly stepMs: number; readonly least: number },
): Promise<CalmHistory> {
  const [first] = streams;
  const sinceMs = first && strangeSinceMs(context, first, nowMs);
  if (sinceMs !== undefined) {
    const calm = await historyOf(context, streams, { fromMs: sinceMs - lengthMs, toMs: sinceMs, stepMs });
    if (calm.values.length >= least) return { ...calm, leftOutSinceMs: sinceMs };
  }
  return { ...(await historyOf(context, streams, { fromMs: nowMs - lengthMs, toMs: nowMs, stepMs })), leftOutSinceMs: null };
}

/** As a pair's aggregate is made (service document, decisions 2). */
function joinOf({ kind, metricName }: SeriesSummary): "sum" | "max" | "mean" {
  if (kind === "counter") return "sum";
  return /\.p\d+$/.test(metricName) ? "max" : "mean";
}

/** Range of a metric's values, by its name, its unit and what they have shown; one odd value shows nothing. */
export function rangeOf({ state }: PredictionContext, { tenant, metricName, kind }: SeriesSummary, values: Float64Array): MetricRange {
  const unit = state.metadata.ofSeries(tenant, metricName)?.unit ?? null;
  return rangeShown({ metricName, unit, isCounter: kind === "counter" }, temperedHistory(values, []));
}

/** When the newest sample came, where the metric has ended by now: its sender said so, or nothing came for GAP_STEPS_MAX steps and five of its usual gaps. */
export function endOf(streams: readonly EndOfStream[], nowMs: number, stepMs: number): number | undefined {
  const goesOn = streams.some(({ ended, lastTimeMs, firstTimeMs, samples }) => {
    if (lastTimeMs === null) return false;
    const gapMs = firstTimeMs === null || samples < 2 ? 0 : (lastTimeMs - firstTimeMs) / (samples - 1);
    return nowMs - lastTimeMs <= (ended ? stepMs : Math.max(GAP_STEPS_MAX * stepMs, USUAL_GAPS_MAX * gapMs));
  });
  const times = streams.flatMap(({ lastTimeMs }) => lastTimeMs ?? []);
  return goesOn || times.length === 0 ? undefined : Math.max(...times);
}
