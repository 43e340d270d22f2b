// Counts by severity and time bucket, beside a list: what a histogram over it shows.
import { done, type Outcome, refused } from "../../api/refusal.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { Tier } from "../../domain/detection/anomaly-score.ts";

interface CountedQuery {
  readonly buckets?: number | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

type Counts = Record<Tier, number>;

/** Counts over a range of time that is cut into equal parts. */
export class SeverityCounts {
  readonly #fromMs: number;
  readonly #widthMs: number;
  readonly #all: Counts = { low: 0, medium: 0, high: 0 };
  readonly #buckets: Counts[];

  constructor(fromMs: number, toMs: number, buckets: number) {
    this.#fromMs = fromMs;
    this.#widthMs = Math.max(1, (toMs - fromMs) / buckets);
    this.#buckets = Array.from({ length: buckets }, () => ({ low: 0, medium: 0, high: 0 }));
  }

  /** Counts one; what lies outside the range counts nowhere. */
  add(atMs: number, tier: Tier): void {
    const bucket = this.#buckets[Math.floor((atMs - this.#fromMs) / this.#widthMs)];
    if (bucket === undefined) return;
    bucket[tier]++;
    this.#all[tier]++;
  }

  view() {
    const start = (index: number) => formatRfc3339(Math.round(this.#fromMs + index * this.#widthMs));
    return { ...this.#all, buckets: this.#buckets.map((counts, index) => ({ start: start(index), ...counts })) };
  }
}

/** The counts that a query asks for; undefined where it asks for none. A range without a beginning cannot be cut. */
export function countsFor({ buckets, since, until }: CountedQuery, nowMs: number): Outcome<SeverityCounts | undefined> {
  if (buckets === undefined) return done(undefined);
  if (since === undefined) return refused("invalid_parameter", "buckets cuts a range of time: give since too", "buckets");
  return done(new SeverityCounts(since, until ?? nowMs + 1, buckets));
}
