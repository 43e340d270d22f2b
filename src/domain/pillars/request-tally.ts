// Requests of a service in one cycle, by environment. Of several metrics that count them the one that counts most stands for all: the same request may be in
// each of them.
// Requests that a counting series reports one cycle.
// Which metrics count the requests of a service.
import { FLAG_COUNTER, WINDOW_MAX } from "../../core/layout/stream-record.ts";
import type { StreamRecords } from "../kernel/stream-records.ts";
import { familyOfMetric, nameTerms } from "../series/metric-family.ts";

const REQUEST_TERMS = new Set("request requests req reqs rpc rpcs call calls query queries".split(" "));
const SIZE_TERMS = new Set(["bytes", "size"]);

/** This server's own, of spans: requests of the whole service in 10 seconds. */
const DERIVED = "service.requests";

/** Usual gaps, and at least cycles, after which a stream that sends no more counts nothing. */
const SILENT_AFTER = 2;

/** The service at hand. */
export class RequestTally {
  readonly #records: StreamRecords;
  readonly #cycleMs: number;
  readonly #metricNameOf: (slot: number) => string;
  readonly #times = new Float64Array(WINDOW_MAX);
  readonly #values = new Float64Array(WINDOW_MAX);
  /** By environment's code and metric. */
  readonly #sums = new Map<number, Map<string, number>>();

  constructor(records: StreamRecords, cycleMs: number, metricNameOf: (slot: number) => string) {
    this.#records = records;
    this.#cycleMs = cycleMs;
    this.#metricNameOf = metricNameOf;
  }

  begin(): void {
    this.#sums.clear();
  }

  /** Takes a stream of the service, of the environment with that code. */
  add(slot: number, environment: number, nowMs: number): void {
    const metricName = this.#metricNameOf(slot);
    if (!isRequestCount(metricName, (this.#records.flags(slot) & FLAG_COUNTER) !== 0)) return;
    const sums = this.#sums.get(environment) ?? new Map<string, number>();
    this.#sums.set(environment, sums);
    sums.set(metricName, (sums.get(metricName) ?? 0) + this.#requests(slot, nowMs));
  }

  /** Requests in an environment; undefined where none of its streams counts them. */
  of(environment: number): number | undefined {
    const sums = this.#sums.get(environment);
    if (sums === undefined) return undefined;
    let most = 0;
    for (const sum of sums.values()) most = Math.max(most, sum);
    return most;
  }

  #requests(slot: number, nowMs: number): number {
    const count = this.#records.readRing(slot, this.#times, this.#values);
    return requestsInCycle(this.#times, this.#values, count, nowMs, this.#cycleMs);
  }
}

/**
 * Requests of the cycle before the newest of the first `count` values, as seen at `nowMs`: senders are not in step with cycles. A value that stands for longer
 * than a cycle counts by its share.
 */
export function requestsInCycle(times: Float64Array, values: Float64Array, count: number, nowMs: number, cycleMs: number): number {
  if (count === 0) return 0;
  const lastMs = times[count - 1] as number;
  const gapMs = count < 2 ? 0 : lastMs - (times[count - 2] as number);
  if (nowMs - lastMs > SILENT_AFTER * Math.max(cycleMs, gapMs)) return 0;
  let sum = 0;
  for (let i = count - 1; i >= 0 && (times[i] as number) > lastMs - cycleMs; i--) sum += Math.max(0, values[i] as number);
  return gapMs > cycleMs ? (sum * cycleMs) / gapMs : sum;
}

/** Whether values of the metric are requests since the value before; `counts`: it is a counter. */
export function isRequestCount(metricName: string, counts: boolean): boolean {
  if (!counts) return metricName === DERIVED;
  const terms = nameTerms(metricName);
  return (
    terms.some((word) => REQUEST_TERMS.has(word)) && !terms.some((word) => SIZE_TERMS.has(word)) && familyOfMetric(metricName) === "rate"
  );
}
