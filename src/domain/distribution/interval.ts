// Cumulative points become what was added between two of them (research: OpenTelemetry data model, "resets and gaps"; Prometheus' DetectReset).
import { beginningOf, countedAfterFall, startAfter } from "./counting-start.ts";
import type { Distribution } from "./distribution.ts";
import { aligned, bucketsSince } from "./exponential-buckets.ts";

/** Intervals from which on it is known what one may bring; the newest few points are kept (of streams more: assembly/shard/shard-counter.ts). */
export const SETTLED_INTERVALS_MIN = 3;

/** Whether counting began anew in an interval: its point's start tells so, or only falling counts. */
export type Restart = "none" | "told" | "guessed";

/** Increase between two points. */
export interface Interval {
  /** Increase as a distribution of delta temporality; its time is that of the later point. Without buckets when those of the two points cannot be compared. */
  readonly added: Distribution;
  readonly restart: Restart;
}

/** Increase by the first point of a series, where that is known; undefined where it is a baseline only. */
export function firstInterval(point: Distribution): Interval | undefined {
  const beginning = beginningOf({ startMs: 0, lastMs: 0, usualMs: 0 }, point);
  return beginning === "young" ? { added: { ...point, temporality: "delta" }, restart: "none" } : undefined;
}

/** Increase from `previous` to `current`, two cumulative points of one series in the order of their times; `knownStartMs` as startAfter() gives it for `previous`. */
export function intervalBetween(previous: Distribution, current: Distribution, knownStartMs = startAfter(0, previous)): Interval {
  const whole = { ...current, temporality: "delta" as const };
  const known = { startMs: knownStartMs, lastMs: previous.timeMs, usualMs: 0 };
  if (beginningOf(known, current) === "restarted") return { added: whole, restart: "told" };
  if (current.count < previous.count || previous.kind !== current.kind) return { added: whole, restart: "guessed" };
  const sum = current.sum === null || previous.sum === null ? null : current.sum - previous.sum;
  const added = { ...whole, startMs: previous.timeMs, count: current.count - previous.count, sum };
  if (current.kind === "summary") return { added, restart: "none" };
  const buckets = current.kind === "explicit" ? explicitSince(previous, current) : exponentialSince(previous, current);
  return buckets === "fell" ? { added: whole, restart: "guessed" } : { added: { ...added, ...buckets }, restart: "none" };
}

/** What counts of an interval, where the ones before it brought `counts`: after a guessed restart a part of it may, or nothing (undefined). */
export function countedInterval(interval: Interval, counts: readonly number[]): Interval | undefined {
  const { added, restart } = interval;
  if (restart !== "guessed" || added.count === 0) return interval;
  const counted = countedAfterFall(added.count, Math.max(0, ...counts), counts.length >= SETTLED_INTERVALS_MIN);
  if (counted === added.count) return interval;
  return counted === 0 ? undefined : { restart, added: scaled(added, counted / added.count) };
}

function scaled(added: Distribution, share: number): Distribution {
  const part = (count: number) => count * share;
  return {
    ...added,
    count: part(added.count),
    sum: added.sum === null ? null : part(added.sum),
    bucketCounts: added.bucketCounts.map(part),
    zeroCount: part(added.zeroCount),
    positive: { ...added.positive, counts: added.positive.counts.map(part) },
    negative: { ...added.negative, counts: added.negative.counts.map(part) },
  };
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
