// The one verdict record of every detector, and the z-score detector's way to it. An alert's explanation, the ledger of why something did
// not page, the backtest and the UI read this record; field names are those that leave the server as JSON.

import { EXTREME_MOVE, EXTREME_SD } from "../../core/layout/episode-ends.ts";
import { SECOND_MS } from "../../core/time/durations.ts";
import type { ShardEvent } from "../kernel/shard-events.ts";
import { EXTREME_GATE, FAR_OUT, KNOWN_TAIL_VALUES, LASTING_GATE, type LongBaselineSays } from "./departure/own-tail.ts";
import { isOfBeginning, MANY_STREAMS, YOUNG_VALUES } from "./departure/young-departure.ts";
import { countZOf } from "./gates/count-test.ts";
import { median } from "./robust.ts";
import { logNormalTail, logStudentTail, shownProbability, Z_MAX } from "./tail-probability.ts";
import { levelsFor, operationBar, ratioForZ, zOfRatio } from "./thresholds.ts";

/** One condition on the way to an alert; `value` and `limit` are in the gate's own unit. */
export interface Gate {
  readonly name: GateName;
  readonly passed: boolean;
  readonly value: number;
  readonly limit: number;
}

/** Gates in the order in which they are asked; the first that fails names the suppression. */
export const GATE_REASONS = {
  minimum_samples: "too_few_samples",
  direction: "direction_not_watched",
  operation_bar: "below_operation_bar",
  practical_significance: "not_significant",
  bucket_width: "within_bucket_width",
  counts: "few_counts",
  after_gap: "after_gap",
  counter_reset: "counter_reset",
  constant_departure: "constant_departure_not_confirmed",
  persistence: "not_persistent",
  own_tail: "ordinary",
  own_reach: "ordinary",
  long_baseline: "too_few_samples",
  lasting: "not_persistent",
  extreme: "not_persistent",
  far_out: "not_persistent",
} as const;

export type GateName = keyof typeof GATE_REASONS;

/** The values that the observation was compared with. `sd` is before the floors; ages in seconds, of the oldest value. */
export interface VerdictBaseline {
  readonly n: number;
  readonly mean: number;
  readonly sd: number;
  readonly median: number;
  /** Season that the values were taken from (hour of week); null for the plain window. */
  readonly bucket: string | null;
  readonly age_seconds: number;
}

/** Share of a feature in a multivariate score. */
export interface Contribution {
  readonly feature: string;
  readonly delta_score: number;
}

export interface Verdict {
  readonly detector: string;
  readonly observed: number;
  readonly expected: number;
  /** Values between these are ordinary at the threshold. */
  readonly lower: number;
  readonly upper: number;
  /** Signed equivalent z, within +-99. */
  readonly z: number;
  /** Two-sided, of a statistic never less than its values can show: 1 / (n + 1). */
  readonly p: number;
  readonly threshold: number;
  readonly baseline: VerdictBaseline;
  readonly contributions: readonly Contribution[];
  readonly gates: readonly Gate[];
  /** Reason why this did not become an alert; null if it may. */
  readonly suppressed_by: string | null;
  /** Detection layers that were active: statistical, isolation_forest, adaptive. */
  readonly layers: readonly string[];
}

/** Numbers of a verdict that its sentence names. */
export interface DeviationNumbers extends Pick<Verdict, "observed" | "expected" | "lower" | "upper" | "z"> {
  readonly baseline: Pick<VerdictBaseline, "n" | "sd">;
}

/** Input of a z-score verdict: what the shard knows of a judged sample (its event and its stream) and of the configuration. */
export interface ZScoreInput extends Pick<ShardEvent, "value" | "mean" | "sd" | "rawSd" | "ratio" | "count"> {
  /** Copy of the window before the value. */
  readonly window: ArrayLike<number>;
  readonly ageSeconds: number;
  /** Whether an episode was opened or goes on, by the rule of persistence. */
  readonly declared: boolean;
  readonly constant: boolean;
  readonly afterGap: boolean;
  readonly reset: boolean;
  /** Values have stayed beyond the bar, on one side, for as long as a hold may last. */
  readonly lasting?: boolean;
  /** In force for the stream: WATCHDOG_Z_SCORE_THRESHOLD, or what is set for it. */
  readonly threshold: number;
  /** Departures that may alert; both where it is not given. */
  readonly direction?: "both" | "high" | "low";
  readonly minimumSamples: number;
  /** WATCHDOG_CONFIRMATION; on where it is not given. */
  readonly confirmation?: boolean | undefined;
  readonly operation: boolean;
  /** A series of counts by its kind or name; others are taken for counts where their values are whole and stray so. */
  readonly isOfCounts?: boolean;
  /** Percent-style name: exempt from the gate of practical significance. */
  readonly percent: boolean;
  /** Widest bucket that the values of a histogram's quantile lay in of late; 0 for a series of any other kind. */
  readonly bucketWidth?: number;
  /** Verdict of its long baseline on the value. */
  readonly longBaseline?: LongBaselineSays | undefined;
  readonly layers: readonly string[];
}

export const DETECTOR_Z_SCORE = "z_score";
/** Deviation from the median, relative to it, that an operation-class series needs (rule 1.1.8). */
const SIGNIFICANT_DEVIATION = 0.5;
/** Share of the bucket's width that a quantile must move by. */
const BUCKET_SHARE = 0.5;
/** Share of the level that what lasts has to be off by. */
const LASTING_MOVE = 0.1;
/** Equivalent z of what is far out, and the age that a window must have: what a process does by itself as it begins is over by then. */
const FAR_OUT_Z = 5;
const FAR_OUT_AGE_SECONDS = 600;
const MEDIAN_MIN = 1e-9;
const CONSTANT_RELATIVE_MIN = 0.01;

/** The verdict on one sample of layer 1. */
export function zScoreVerdict(input: ZScoreInput): Verdict {
  const ofRatio = input.constant ? input.ratio : zOfRatio(input.ratio, input.count);
  const counted = countZOf(input.value, input.window, input.isOfCounts === true);
  const isFew = counted !== undefined && Math.abs(counted) < Math.abs(ofRatio);
  const z = isFew ? Math.sign(ofRatio) * Math.abs(counted) : ofRatio;
  const logP = input.constant || isFew ? logNormalTail(z) : logTail(input.ratio, input.count);
  const center = median(input.window);
  const width = expectedWidth(input);
  const gates = zScoreGates(input, { z, center, isFew });
  const failed = gates.find((gate) => !gate.passed);
  return {
    detector: DETECTOR_Z_SCORE,
    observed: input.value,
    expected: input.mean,
    lower: input.mean - width,
    upper: input.mean + width,
    z,
    p: shownProbability(logP, Math.max(input.count, input.longBaseline?.values ?? 0)),
    threshold: levelsFor(input.threshold, input.operation).open,
    baseline: {
      n: input.count,
      mean: input.mean,
      sd: input.rawSd,
      median: center,
      bucket: null,
      age_seconds: input.ageSeconds,
    },
    contributions: [],
    gates,
    suppressed_by: failed === undefined ? null : GATE_REASONS[failed.name],
    layers: input.layers,
  };
}

/** Whether nothing stands between the verdict and an alert. */
export function passesGates(verdict: Verdict): boolean {
  return verdict.suppressed_by === null && verdict.gates.every((gate) => gate.passed);
}

/** One plain sentence, such as: latency_ms was 412 (equivalent z 9.3), above its usual 120 (expected 96 to 144 over the last 120 samples). */
export function explain(verdict: DeviationNumbers, names: { readonly metricName: string }): string {
  const { observed, expected, lower, upper, baseline, z } = verdict;
  const side = z < 0 ? "below" : "above";
  if (baseline.sd === 0) {
    return `${names.metricName} was ${figure(observed)}, ${side} the ${figure(expected)} that all of the last ${baseline.n} samples had`;
  }
  const range = `expected ${figure(lower)} to ${figure(upper)} over the last ${baseline.n} samples`;
  return `${names.metricName} was ${figure(observed)} (${zText(z)}), ${side} its usual ${figure(expected)} (${range})`;
}

/** A z by its name: that of a normal distribution with as small a tail, far less than standard deviations counted over few values. */
export function zText(z: number): string {
  if (Math.abs(z) < Z_MAX) return `equivalent z ${z.toFixed(1)}`;
  return z < 0 ? `equivalent z below -${Z_MAX}` : `equivalent z above ${Z_MAX}`;
}

/** log of the two-sided p; 0 where there are too few values for a standard deviation. */
function logTail(ratio: number, count: number): number {
  return count < 2 ? 0 : logStudentTail(ratio / Math.sqrt(1 + 1 / count), count - 1);
}

function expectedWidth(input: ZScoreInput): number {
  if (input.constant) return Math.max(MEDIAN_MIN, CONSTANT_RELATIVE_MIN * Math.abs(input.mean));
  const { open } = levelsFor(input.threshold, input.operation);
  return input.count < 2 ? 0 : input.sd * ratioForZ(open, input.count);
}

/** Figures that gates hold against their limits: z, the median, and whether z is that of few counts. */
interface GateFigures {
  readonly z: number;
  readonly center: number;
  readonly isFew: boolean;
}

function zScoreGates(input: ZScoreInput, { z, center, isFew }: GateFigures): Gate[] {
  const magnitude = Math.abs(z);
  const { open, strong } = levelsFor(input.threshold, input.operation, input.confirmation);
  const gates: Gate[] = [
    {
      name: "minimum_samples",
      passed: input.count >= input.minimumSamples,
      value: input.count,
      limit: input.minimumSamples,
    },
  ];
  if (input.direction !== undefined && input.direction !== "both") gates.push(directionGate(z, input.direction));
  if (input.operation) {
    const bar = operationBar(input.threshold);
    gates.push({ name: "operation_bar", passed: magnitude > bar, value: magnitude, limit: bar });
    if (!input.percent) gates.push(significanceGate(input.value, center));
  }
  if (input.bucketWidth !== undefined && input.bucketWidth > 0) gates.push(bucketWidthGate(input, input.bucketWidth));
  if (isFew) gates.push({ name: "counts", passed: magnitude > open, value: magnitude, limit: open });
  // These three only say why being over `strong` once was not enough.
  if (input.afterGap) gates.push({ name: "after_gap", passed: input.declared, value: magnitude, limit: open });
  if (input.reset) gates.push({ name: "counter_reset", passed: input.declared, value: magnitude, limit: open });
  if (input.constant) gates.push({ name: "constant_departure", passed: input.declared, value: magnitude, limit: open });
  gates.push({ name: "persistence", passed: input.declared, value: magnitude, limit: strong });
  if (input.longBaseline !== undefined) gates.push(...longBaselineGates(input, magnitude, input.longBaseline));
  if (input.lasting === true) gates.push(...lastingGates(input, magnitude >= strong));
  return gates;
}

/** These let through, and hold nothing back. */
function longBaselineGates(input: ZScoreInput, magnitude: number, { values, streams, evidence, reach }: LongBaselineSays): Gate[] {
  const gates: Gate[] = [];
  if (input.count < KNOWN_TAIL_VALUES && values >= KNOWN_TAIL_VALUES)
    gates.push({ name: "long_baseline", passed: true, value: values, limit: KNOWN_TAIL_VALUES });
  if (evidence !== undefined) gates.push({ name: "own_tail", passed: true, value: evidence.size, limit: evidence.bar });
  else if (magnitude >= FAR_OUT_Z && values < YOUNG_VALUES && streams <= MANY_STREAMS && isFarOut(input))
    gates.push({ name: FAR_OUT, passed: true, value: magnitude, limit: FAR_OUT_Z });
  if (reach !== undefined) gates.push({ name: "own_reach", passed: true, value: reach.size, limit: reach.bar });
  return gates;
}

/** Whether a value moves by more than a tenth of a level whose noise is known for some time. */
function isFarOut(input: ZScoreInput): boolean {
  const move = Math.abs(input.value - input.mean);
  return input.ageSeconds >= FAR_OUT_AGE_SECONDS && knowsItsNoise(input) && move > LASTING_MOVE * Math.abs(input.mean);
}

/** Whether the spread of the values is more than what any series is taken to have. */
function knowsItsNoise({ rawSd, sd }: ZScoreInput): boolean {
  return rawSd >= sd;
}

/**
 * Ends a hold, and holds nothing back: at once where values in a row are many times the usual of a young series. Of a series that has a long baseline, that decides
 * how long what is far out has to last, by its tail, or while it is young by its newest values together. Noise stays over the bar for minutes, so that without one
 * it has to be twice as far; and a step of a tenth is no news, however still the series was.
 */
function lastingGates(input: ZScoreInput, isStrong: boolean): Gate[] {
  const { value, mean, ratio, longBaseline } = input;
  const move = Math.abs(value - mean);
  const isExtreme = Math.abs(ratio) >= EXTREME_SD && move >= EXTREME_MOVE * Math.abs(mean);
  const isSettled = !isOfBeginning(longBaseline?.streams ?? 1, input.ageSeconds * SECOND_MS);
  if (isExtreme && isSettled && (longBaseline?.values ?? 0) < YOUNG_VALUES)
    return [{ name: EXTREME_GATE, passed: true, value: Math.abs(ratio), limit: EXTREME_SD }];
  const limit = LASTING_MOVE * Math.abs(mean);
  if (!knowsItsNoise(input) || !isStrong || move <= limit || longBaseline !== undefined) return [];
  return [{ name: LASTING_GATE, passed: true, value: move, limit }];
}

/** Only where one direction is set: value is the signed z. */
function directionGate(z: number, direction: "high" | "low"): Gate {
  return { name: "direction", passed: direction === "high" ? z > 0 : z < 0, value: z, limit: 0 };
}

function significanceGate(value: number, center: number): Gate {
  const deviation = Math.abs(value - center) / Math.max(Math.abs(center), MEDIAN_MIN);
  return {
    name: "practical_significance",
    passed: deviation >= SIGNIFICANT_DEVIATION,
    value: deviation,
    limit: SIGNIFICANT_DEVIATION,
  };
}

/**
 * An estimate within a bucket may lie anywhere in it, and moves by much of it when few observations pass an edge: a departure is one if it is larger than half the
 * bucket.
 */
function bucketWidthGate({ value, mean }: ZScoreInput, width: number): Gate {
  const shift = Math.abs(value - mean);
  const limit = width * BUCKET_SHARE;
  return { name: "bucket_width", passed: shift > limit, value: shift, limit };
}

/** Four significant digits, without an exponent where people would not write one. */
export function figure(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && (magnitude >= 1e15 || magnitude < 1e-6)) return value.toExponential(3);
  if (magnitude >= 1000) return String(Math.round(value));
  return String(Number(value.toPrecision(4)));
}
