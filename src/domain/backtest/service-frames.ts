// What the joint detector of each service finds, in both variants: a model trained by the live function on the history up to the beginning, and anew when it is due,
// and the vectors after it judged once a cycle. Where both variants leave out the same metrics it runs once.
import { groupBy } from "../../core/collections/grouping.ts";
import { BACKTEST_TRAININGS_MAX } from "../../core/config/backtest-limits.ts";
import { SERVICE_VECTORS_MIN } from "../../core/config/limits.ts";
import { FLAG_COUNTER } from "../../core/layout/stream-record.ts";
import type { StreamName } from "../../core/protocol/coordinator-frame.ts";
import { serviceHash } from "../../core/protocol/service-rows.ts";
import { chosenMetrics, startsOf, streamsPerMetric, unevenness } from "../detection/multivariate/service-columns.ts";
import { serviceDetectorFloats } from "../detection/multivariate/service-detector.ts";
import { HistoryCursor, type ServiceHistory } from "../detection/multivariate/service-rows.ts";
import { aggregationOf } from "../detection/multivariate/service-vector.ts";
import { isBucketSeries } from "../series/classification.ts";
import { serviceKey } from "../series/stream-identity.ts";
import type { BacktestVariant, LayerReport, PromotedModel } from "./history.ts";
import { type BothFrames, type PlacedSeries, type SeriesFramesOptions, STAGE_SERVICES, type TimedFrame } from "./timed-frames.ts";
import { ServiceLearning } from "./tracks/service-learning.ts";
import { ServiceTrack } from "./tracks/service-track.ts";

/** Time for one vector: the model's components and trees. */
export const VECTOR_US = 150;
const METRICS_MIN = 2;
/** Vectors that evidence learns from. */
const EVIDENCE_VECTORS = 128;
/** Samples from which the regularity of a metric is known: a ring's worth. */
const REGULARITY_SAMPLES = 120;

/** Trainings that a backtest still may have. */
class TrainingBudget {
  #left = BACKTEST_TRAININGS_MAX;

  take(): boolean {
    if (this.#left === 0) return false;
    this.#left--;
    return true;
  }
}

/** Gives `into` what is found on services of two metrics or more. */
export async function serviceFrames(
  all: readonly PlacedSeries[],
  variants: readonly [BacktestVariant, BacktestVariant],
  into: BothFrames,
  options: SeriesFramesOptions,
): Promise<LayerReport> {
  const { train, leftOut, promoted } = options.facts;
  const layer = "isolation_forest";
  if (leftOut[layer] !== undefined || train === null)
    return { layer, evaluated: 0, reason: leftOut[layer] ?? "no model is trained where there is no server" };
  const budget = new TrainingBudget();
  let judged = 0;
  let learning = 0;
  for (const [index, members] of servicesOf(all).entries()) {
    const ofService = promoted((members[0] as PlacedSeries).series.name);
    const chosen = variants.map((variant) => {
      const own = ofService && columnsOf(members, variant, ofService.names);
      return own === undefined ? columnsOf(members, variant) : { ...own, promoted: ofService };
    });
    const texts = chosen.map((columns) => JSON.stringify(columns?.names ?? []));
    const runs = texts[0] === texts[1] ? [[0, 1]] : [[0], [1]];
    for (const run of runs) {
      const columns = chosen[run[0] as number];
      if (columns === undefined) continue;
      const found = await trackFrames(members, columns, index, options, budget);
      if (found === undefined) learning++;
      else judged++;
      for (const side of run) into[side as 0 | 1].push(...(found ?? []));
    }
  }
  const reason = learning > 0 ? `${learning} services have fewer than ${SERVICE_VECTORS_MIN} vectors` : null;
  return { layer, evaluated: judged, reason };
}

/** Columns that a service's vector is made of. */
export interface VectorColumns extends ServiceHistory {
  readonly names: readonly string[];
  /** The model that judges it; absent where models are trained on the way. */
  readonly promoted?: PromotedModel | undefined;
}

/** Series by service and environment, in their order. */
export function servicesOf(all: readonly PlacedSeries[]): ReadonlyArray<readonly PlacedSeries[]> {
  const keyOf = ({ series: { name } }: PlacedSeries) => JSON.stringify([name.tenant, name.serviceId, name.environment]);
  return [...groupBy(all, keyOf).values()];
}

/**
 * The vector of a service as the engines choose it, without excluded metrics and buckets, or of the metrics of a model; undefined where it has too few metrics, or
 * lacks one of those.
 */
export function columnsOf(
  members: readonly PlacedSeries[],
  { settingsOf }: Pick<BacktestVariant, "settingsOf">,
  ofModel?: readonly string[],
): VectorColumns | undefined {
  const isWatched = ({ series: { name, flags } }: PlacedSeries) =>
    !(isBucketSeries(name, flags) || settingsOf(name.tenant, name.serviceId, name.metricName).excluded);
  const metrics = groupBy(members.filter(isWatched), ({ series }) => series.name.metricName);
  if (metrics.size < METRICS_MIN || ofModel?.some((name) => !metrics.has(name))) return undefined;
  const streamOf = (name: string) => ((metrics.get(name) as PlacedSeries[])[0] as PlacedSeries).series;
  const unevennessOf = (name: string) => {
    const { times } = streamOf(name);
    const newest = times.subarray(Math.max(0, times.length - REGULARITY_SAMPLES));
    return unevenness(newest, newest.length);
  };
  const names = ofModel ?? chosenMetrics([...metrics.keys()], unevennessOf);
  const share = streamsPerMetric(names.length);
  const streams = names.map((name) => (metrics.get(name) as PlacedSeries[]).slice(0, share).map(({ series }) => series));
  const kinds = names.map((name) => aggregationOf((streamOf(name).flags & FLAG_COUNTER) !== 0, name, streamOf(name).name.attributes));
  return {
    names,
    starts: startsOf(streams.map(({ length }) => length)),
    aggregations: Uint8Array.from(kinds),
    streams: streams.flat().map(({ times, values }) => ({ times, values })),
  };
}

/** Undefined where there is no history for a model. */
async function trackFrames(
  members: readonly PlacedSeries[],
  columns: VectorColumns,
  index: number,
  options: SeriesFramesOptions,
  budget: TrainingBudget,
): Promise<TimedFrame[] | undefined> {
  const { intervalMs, sinceMs, untilMs, slices } = options;
  const { tenant, environment, serviceId } = (members[0] as PlacedSeries).series.name;
  const hash = serviceHash(serviceKey(tenant, serviceId), environment);
  const track = new ServiceTrack({ tenant, environment, serviceId, hash }, columns);
  const cursor = new HistoryCursor(columns, intervalMs);
  const values = new Float64Array(columns.names.length);
  const found: TimedFrame[] = [];
  const firstMs = Math.ceil(sinceMs / intervalMs) * intervalMs;
  const { promoted } = columns;
  const learning = promoted === undefined ? learningOf(columns, { tenant, environment, serviceId }, hash, options, budget) : undefined;
  await learning?.learnBefore(firstMs);
  if (promoted !== undefined) track.take(promoted.model, new Float64Array(serviceDetectorFloats(columns.names.length)), promoted);
  // A model of the way has read the vectors of its training; a promoted one reads those before the beginning, and what opened there is not told.
  let isBefore = promoted !== undefined;
  for (let atMs = isBefore ? firstMs - EVIDENCE_VECTORS * intervalMs : firstMs; atMs <= untilMs; atMs += intervalMs) {
    await learning?.visit(atMs, track);
    if (!track.isTrained) continue;
    const isNew = cursor.read(atMs, values);
    const frame = isNew ? track.observe(atMs, cursor.newestMs, values) : undefined;
    if (frame !== undefined) learning?.note(frame);
    isBefore &&= atMs < firstMs || frame?.transition !== "open";
    if (isNew && atMs >= firstMs) options.scored?.("service", cursor.newestMs, track.newestScore);
    if (frame !== undefined && !isBefore) found.push({ frame, atMs, stage: STAGE_SERVICES, index });
    if (slices.spend(isNew ? VECTOR_US : 1)) await slices.endSlice();
  }
  return track.isTrained ? found : undefined;
}

function learningOf(
  columns: VectorColumns,
  of: Pick<StreamName, "tenant" | "environment" | "serviceId">,
  hash: string,
  options: SeriesFramesOptions,
  budget: TrainingBudget,
): ServiceLearning {
  const { train, retainedRows, labels } = options.facts;
  // Those that are given with the question are what it asks about.
  const said = labels.filter(({ anomalyId, isIncident }) => anomalyId !== null && isIncident);
  const ofService = said.filter(({ serviceId, environment }) => serviceId === of.serviceId && environment === of.environment);
  return new ServiceLearning(columns, {
    ...options,
    hash,
    train: train as NonNullable<typeof train>,
    retained: retainedRows(of, columns.names),
    incidents: ofService.map(({ startedMs, endedMs }) => [startedMs, endedMs] as const),
    mayTrain: () => budget.take(),
  });
}
