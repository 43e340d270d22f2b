// Cumulative points become what was added between two of them (research: OpenTelemetry data model, "resets and gaps"; Prometheus' DetectReset).
import type { Distribution } from "./distribution.ts";
import { aligned, bucketsSince } from "./exponential-buckets.ts";

/** A first point tells what its interval added when counting began so recently: two intervals of an SDK's default minute. */
const FIRST_AGE_MS_MAX = 120_000;

/** After a guessed reset more than so many times the largest of the counts before is no count of one interval (as for counters: assembly/shard/shard-counter.ts). */
export const IMPLAUSIBLE_FACTOR = 10;
export const IMPLAUSIBLE_INTERVALS_MIN = 3;

/** Increase between two points. */
export interface Interval {
  /** Increase as a distribution of delta temporality; its time is that of the later point. Without buckets when those of the two points cannot be compared. */
  readonly added: Distribution;
  /** Counting began anew in between, and only the falling counts say so: part of the interval may be missing. */
  readonly isGuessedReset: boolean;
}

/** Increase by the first point of a series, where that is known; undefined where it is a baseline only. */
export function firstInterval(point: Distribution): Interval | undefined {
  const isYoung = point.startMs > 0 && point.timeMs - point.startMs <= FIRST_AGE_MS_MAX;
  return isYoung ? { added: { ...point, temporality: "delta" }, isGuessedReset: false } : undefined;
}

/** Increase from `previous` to `current`, two cumulative points of one series in the order of their times. */
export function intervalBetween(previous: Distribution, current: Distribution): Interval {
  const whole = { ...current, temporality: "delta" as const };
  if (previous.startMs > 0 && current.startMs > previous.startMs) return { added: whole, isGuessedReset: false };
  if (current.count < previous.count || previous.kind !== current.kind) return { added: whole, isGuessedReset: true };
  const sum = current.sum === null || previous.sum === null ? null : current.sum - previous.sum;
  const added = { ...whole, startMs: previous.timeMs, count: current.count - previous.count, sum };
  if (current.kind === "summary") return { added, isGuessedReset: false };
  const buckets = current.kind === "explicit" ? explicitSince(previous, current) : exponentialSince(previous, current);
  return buckets === "fell" ? { added: whole, isGuessedReset: true } : { added: { ...added, ...buckets }, isGuessedReset: false };
}

function explicitSince(previous: Distribution, current: Distribution): Partial<Distribution> | "fell" {
  const same = previous.bounds.length === current.bounds.length && previous.bounds.every((bound, i) => bound === current.bounds[i]);
  if (!same || previous.bucketCounts.length !== current.bucketCounts.length) return { bounds: [], bucketCounts: [] };
  if (current.bucketCounts.some((count, i) => count < (previous.bucketCounts[i] as number))) return "fell";
  return { bucketCounts: current.bucketCounts.map((count, i) => count - (previous.bucketCounts[i] as number)) };
}

function exponentialSince(previous: Distribution, current: Distribution): Partial<Distribution> | "fell" {
  const [before, now] = aligned(previous, current);
  const positive = bucketsSince(before.positive, now.positive);
  const negative = bucketsSince(before.negative, now.negative);
  if (positive.fell || negative.fell || now.zeroCount < before.zeroCount) return "fell";
  const { scale, zeroThreshold } = now;
  return { scale, zeroThreshold, zeroCount: now.zeroCount - before.zeroCount, positive: positive.buckets, negative: negative.buckets };
}
