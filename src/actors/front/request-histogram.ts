// Durations of requests by endpoint, from headers read to answer given. Written and read by the front alone.
import { LATENCY_SLOTS, observeLatency } from "../../core/layout/counters.ts";

/** In place of an endpoint's name: what no endpoint matches. */
export const UNMATCHED = "unmatched";

/** Buckets of one endpoint: one per bound, +Inf, then sum and count. */
export class RequestHistogram {
  readonly #series = new Map<string, Float64Array>();

  /** Observes one request; endpoints are names of the endpoint table, or UNMATCHED, so their number is bounded. */
  observe(endpoint: string, seconds: number): void {
    const slots = this.#series.get(endpoint) ?? this.#begin(endpoint);
    observeLatency(slots, 0, seconds);
  }

  #begin(endpoint: string): Float64Array {
    const slots = new Float64Array(LATENCY_SLOTS);
    this.#series.set(endpoint, slots);
    return slots;
  }

  entries(): IterableIterator<[string, Float64Array]> {
    return this.#series.entries();
  }
}
