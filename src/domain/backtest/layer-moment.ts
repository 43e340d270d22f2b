// What a layer of detection had to say of a moment of the past: made again from stored samples by the detectors themselves, for moments of which nothing was written
// down. Settings are those that are in force now.
import { SERVICE_VECTORS_MAX, SERVICE_VECTORS_MIN } from "../../core/config/limits.ts";
import type { CoverageLayer } from "../../core/protocol/coverage.ts";
import { serviceHash, servicePage } from "../../core/protocol/service-rows.ts";
import { EVALUATED, LEARNING } from "../detection/coverage.ts";
import { firstFailed } from "../detection/gates/gate-result.ts";
import type { RuleVerdict } from "../detection/gates/rule-verdict.ts";
import { EVIDENCE_BAR } from "../detection/multivariate/service-detector.ts";
import { HistoryCursor } from "../detection/multivariate/service-rows.ts";
import { LEARNING_VALUES } from "../detection/pair/pair-detector.ts";
import type { WatchdogSettings } from "../detection/watchdog-settings.ts";
import { kindOfName } from "../saturation/bounded-name.ts";
import { NOT_A_HABIT, type SaturationEvaluation } from "../saturation/saturation-finding.ts";
import { SATURATION_EVERY_CYCLES } from "../saturation/saturation-fire.ts";
import { SaturationSeries } from "../saturation/saturation-series.ts";
import { isBucketSeries } from "../series/classification.ts";
import { serviceKey } from "../series/stream-identity.ts";
import type { BacktestFacts, BacktestOptions, BacktestSeries, BacktestVariant } from "./history.ts";
import { SATURATION_US } from "./rules/saturation-rule.ts";
import { PAIR_US } from "./series-frames.ts";
import { columnsOf, VECTOR_US } from "./service-frames.ts";
import type { PlacedSeries } from "./timed-frames.ts";
import { PairTrack } from "./tracks/pair-track.ts";
import { ServiceTrack } from "./tracks/service-track.ts";
import type { WorkSlices } from "./work-slices.ts";

/** A sample that is older than this says nothing of a moment. */
export const SAMPLE_AGE_MS_MAX = 3_600_000;
/** A service's model for a moment has learned what came until so long before it, so that the moment itself is not in it. */
export const MODEL_AGE_MS = 3_600_000;
/** Evaluations of a bounded series before the moment, so that what must hold for two of them is known. */
const SATURATION_EVALUATIONS = 5;

export interface LayerMoment {
  readonly layer: CoverageLayer;
  /** EVALUATED, LEARNING, or skipped. */
  readonly state: typeof EVALUATED | typeof LEARNING | "skipped";
  /** Why it declared nothing, is learning or has skipped; null where it declared. */
  readonly reason: string | null;
  readonly declared: boolean;
  /** Newest sample of what was judged. */
  readonly atMs: number | null;
  /** Value that was judged against what it must exceed, in the layer's own unit: |z|, evidence, values of a baseline, vectors. */
  readonly value: number | null;
  readonly bar: number | null;
  readonly verdict: RuleVerdict | null;
  /** Oldest sample that was gone over again. */
  readonly sinceMs: number | null;
}

const NOTHING = { reason: null, declared: false, atMs: null, value: null, bar: null, verdict: null, sinceMs: null } as const;

export function skippedMoment(layer: CoverageLayer, reason: string): LayerMoment {
  return { ...NOTHING, layer, state: "skipped", reason };
}

export interface MomentContext extends Pick<BacktestOptions, "intervalMs" | "offsetMs"> {
  readonly facts: Pick<BacktestFacts, "deployments" | "unitOf" | "limitFor" | "train">;
  readonly slices: WorkSlices;
}

/** The long baselines of a series of which all samples are at or before the moment. */
export async function pairMoment(
  series: BacktestSeries,
  atMs: number,
  settings: WatchdogSettings,
  { intervalMs, offsetMs, facts, slices }: MomentContext,
): Promise<LayerMoment> {
  const layer = "adaptive";
  const { tenant, serviceId } = series.name;
  if (settings.excluded) return skippedMoment(layer, "excluded");
  if (isBucketSeries(series.name, series.flags)) return skippedMoment(layer, "histogram_bucket");
  const newestMs = series.times[series.times.length - 1];
  if (newestMs === undefined || atMs - newestMs > SAMPLE_AGE_MS_MAX) return skippedMoment(layer, "no_sample");
  const cycleMs = Math.ceil(atMs / intervalMs) * intervalMs;
  const track = new PairTrack(series, { ...settings, intervalMs, offsetMs, deployments: facts.deployments(tenant, serviceId) });
  while (track.dueMs <= cycleMs) {
    const before = track.seen;
    track.visit(track.dueMs);
    if (slices.spend(PAIR_US * (track.seen - before))) await slices.endSlice();
  }
  const sinceMs = series.times[0] as number;
  const { newest } = track;
  if (track.observed < LEARNING_VALUES)
    return { ...NOTHING, layer, state: LEARNING, reason: LEARNING, value: track.observed, bar: LEARNING_VALUES, sinceMs };
  if (newest === undefined) return skippedMoment(layer, "no_sample");
  const { verdict, atMs: sampleMs } = newest;
  const record = track.findings.recordOf(verdict);
  const judged = { layer, atMs: sampleMs, value: verdict.evidence, bar: Math.max(1, verdict.bar), verdict: record, sinceMs } as const;
  if (sampleMs < newestMs && settings.evaluationDelaySeconds > 0)
    return { ...judged, state: "skipped", reason: "evaluation_delay", declared: false };
  const { isFiring } = verdict.firing;
  const reason = record.suppressed_by ?? (isFiring ? null : "ordinary");
  return { ...judged, state: EVALUATED, reason: isFiring ? null : reason, declared: isFiring };
}

/** Saturation verdict on one series by itself, without the other anomalies of its service. */
export async function saturationMoment(
  series: BacktestSeries,
  atMs: number,
  { intervalMs, facts, slices }: MomentContext,
): Promise<LayerMoment> {
  const layer = "saturation";
  const { tenant, serviceId, metricName } = series.name;
  const limit = facts.limitFor(tenant, serviceId, metricName);
  if (kindOfName(metricName) === null && limit === null) return skippedMoment(layer, "not_bounded");
  const last = Math.ceil(atMs / intervalMs);
  // Every second cycle judges, and which of them it was is not stored: what only one of both had found by then was not told yet.
  let outcome: SaturationEvaluation = { finding: null, gates: [] };
  for (let phase = 0; phase < SATURATION_EVERY_CYCLES && (phase === 0 || outcome.finding !== null); phase++) {
    const judge = new SaturationSeries({ metricName, unit: facts.unitOf(tenant, metricName), instance: null, limit });
    let fed = 0;
    for (let back = SATURATION_EVALUATIONS - 1; back >= 0; back--) {
      const nowMs = (last - phase - back * SATURATION_EVERY_CYCLES) * intervalMs;
      for (; fed < series.times.length && (series.times[fed] as number) <= nowMs; fed++)
        judge.observe(series.times[fed] as number, series.values[fed] as number);
      outcome = judge.evaluate(nowMs, { limit, corroborated: false });
      if (slices.spend(SATURATION_US)) await slices.endSlice();
    }
  }
  const { finding, habitual, gates } = outcome;
  const failed = habitual === undefined ? (firstFailed(gates)?.name ?? null) : NOT_A_HABIT;
  if (failed === "limit_known") return skippedMoment(layer, "no_declared_limit");
  if (failed === "recent_value") return skippedMoment(layer, "no_recent_value");
  const newestMs = series.times[series.times.length - 1] as number;
  const gate = gates.find(({ name }) => name === failed);
  return {
    layer,
    state: EVALUATED,
    reason: finding === null ? failed : null,
    declared: finding !== null,
    atMs: newestMs,
    value: (finding ?? habitual)?.value ?? gate?.value ?? null,
    bar: (finding ?? habitual)?.limit ?? gate?.limit ?? null,
    verdict: (finding ?? habitual)?.verdict ?? null,
    sinceMs: series.times[0] as number,
  };
}

/** The joint detector of a service whose series, all samples at or before the moment, are given in the order of their names. */
export async function serviceMoment(
  members: readonly PlacedSeries[],
  atMs: number,
  variant: Pick<BacktestVariant, "settingsOf">,
  { intervalMs, facts, slices }: MomentContext,
): Promise<LayerMoment> {
  const layer = "isolation_forest";
  const columns = columnsOf(members, variant);
  if (columns === undefined) return skippedMoment(layer, "too_few_metrics");
  if (facts.train === null) return skippedMoment(layer, "no_training");
  const { tenant, environment, serviceId } = (members[0] as PlacedSeries).series.name;
  const hash = serviceHash(serviceKey(tenant, serviceId), environment);
  const lastMs = Math.ceil(atMs / intervalMs) * intervalMs;
  const trainedMs = lastMs - Math.ceil(MODEL_AGE_MS / intervalMs) * intervalMs;
  const { rows, model, state } = await facts.train({
    ...columns,
    toMs: trainedMs,
    intervalMs,
    rowsMax: SERVICE_VECTORS_MAX,
    seed: servicePage(hash),
  });
  const sinceMs = columns.streams.reduce((least, { times }) => Math.min(least, times[0] ?? atMs), atMs);
  if (model === null || state === null)
    return { ...NOTHING, layer, state: LEARNING, reason: LEARNING, value: rows, bar: SERVICE_VECTORS_MIN, sinceMs };
  const track = new ServiceTrack({ tenant, environment, serviceId, hash }, columns);
  track.take(model, state, { rows, trainedMs });
  const cursor = new HistoryCursor(columns, intervalMs);
  const values = new Float64Array(columns.names.length);
  let isNew = false;
  for (let nowMs = trainedMs + intervalMs; nowMs <= lastMs; nowMs += intervalMs) {
    isNew = cursor.read(nowMs, values);
    if (isNew) track.observe(nowMs, cursor.newestMs, values);
    if (slices.spend(VECTOR_US)) await slices.endSlice();
  }
  const { newest } = track;
  if (newest === undefined || !isNew) return { ...skippedMoment(layer, "no_new_values"), sinceMs };
  const { evidence, firing } = newest.verdict;
  return {
    layer,
    state: EVALUATED,
    reason: firing.isFiring ? null : (firing.suppressedBy ?? "ordinary"),
    declared: firing.isFiring,
    atMs: newest.sampleMs,
    value: evidence,
    bar: EVIDENCE_BAR * newest.bar,
    verdict: newest.record,
    sinceMs,
  };
}
