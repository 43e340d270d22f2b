// Durations of requests by endpoint, from headers read to answer given. Written and read by the front alone.
import { LATENCY_BOUNDS_SECONDS } from "../../core/layout/counters.ts";

/** In place of an endpoint's name: what no endpoint matches. */
export const UNMATCHED = "unmatched";

/** Buckets of one endpoint: one per bound, +Inf, then sum and count. */
export class RequestHistogram {
  readonly #series = new Map<string, Float64Array>();

  /** Observes one request; endpoints are names of the endpoint table, or UNMATCHED, so their number is bounded. */
  observe(endpoint: string, seconds: number): void {
    const slots = this.#series.get(endpoint) ?? this.#begin(endpoint);
    const found = LATENCY_BOUNDS_SECONDS.findIndex((bound) => seconds <= bound);
    const bucket = found < 0 ? LATENCY_BOUNDS_SECONDS.length : found;
    slots[bucket] = (slots[bucket] as number) + 1;
    const sum = LATENCY_BOUNDS_SECONDS.length + 1;
    slots[sum] = (slots[sum] as number) + seconds;
    slots[sum + 1] = (slots[sum + 1] as number) + 1;
  }

  #begin(endpoint: string): Float64Array {
    const slots = new Float64Array(LATENCY_BOUNDS_SECONDS.length + 3);
    this.#series.set(endpoint, slots);
    return slots;
  }

  entries(): IterableIterator<[string, Float64Array]> {
    return this.#series.entries();
  }
}
