// When a cumulative series began to be counted, as its points tell, and what a value counts after counting has begun anew. One rule for counters, histograms
// and summaries: points of histograms go by these functions, streams by the kernel's (assembly/shard/shard-counter.ts), whose slow twin they are.

/** How far points lie apart while it is not known: what most SDKs and scrapers have. */
const INTERVAL_UNKNOWN_MS = 60_000;
/** Starts that are taken from an uptime differ by less than this. */
const START_JITTER_MS = 1_000;
const FIRST_INTERVALS_MAX = 2;
const IMPLAUSIBLE_FACTOR = 10;

/** Time of a cumulative point, and when its sender says that counting began; 0 for a sender that says nothing. */
export interface CountedPoint {
  readonly timeMs: number;
  readonly startMs: number;
}

/** What the points before tell. */
export interface KnownCounting {
  /** When counting began; 0 for not known. */
  readonly startMs: number;
  /** Time of the newest point; 0 where there is none. */
  readonly lastMs: number;
  /** How far points usually lie apart; 0 for not known. */
  readonly usualMs: number;
}

/** A first point is a baseline, or counts whole since its counting is young; a later one goes on, or counting has begun anew as its start tells. */
export type Beginning = "baseline" | "young" | "continued" | "restarted";

/** What the start of the next point says. One that is the point's own time is unknown, a later one is none, and one that wavers by less than an interval is the same. */
export function beginningOf({ startMs, lastMs, usualMs }: KnownCounting, point: CountedPoint): Beginning {
  const usual = usualMs > 0 ? usualMs : INTERVAL_UNKNOWN_MS;
  const isKnown = point.startMs > 0 && point.startMs < point.timeMs;
  if (lastMs === 0) return isKnown && point.timeMs - point.startMs <= FIRST_INTERVALS_MAX * usual ? "young" : "baseline";
  if (!isKnown || point.startMs <= lastMs) return "continued";
  const waver = Math.max(START_JITTER_MS, Math.min(usual, point.timeMs - lastMs));
  return point.startMs - startMs >= waver ? "restarted" : "continued";
}

/** The start that is known once a point has come, where `knownMs` was before it. */
export function startAfter(knownMs: number, { timeMs, startMs }: CountedPoint): number {
  return startMs <= timeMs ? Math.max(knownMs, startMs) : knownMs;
}

/**
 * What counts of a value after a fall that no start explains, where an interval brought `largest` at most: all of it, unless it is far beyond that. Then as much as
 * an interval brought; and nothing once enough intervals have been seen (`isSettled`), since two senders take turns under one name and nothing began anew.
 */
export function countedAfterFall(value: number, largest: number, isSettled: boolean): number {
  if (value <= IMPLAUSIBLE_FACTOR * largest) return value;
  if (isSettled) return 0;
  return largest > 0 ? largest : value;
}
