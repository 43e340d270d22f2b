// Requests of services in a cycle of the past, for the gate of minimum traffic.
import { groupBy } from "../../core/collections/grouping.ts";
import { FLAG_COUNTER } from "../../core/layout/stream-record.ts";
import { isRequestCount, requestsInCycle } from "../pillars/request-tally.ts";
import type { BacktestSeries } from "./history.ts";

export class RequestCounts {
  readonly #intervalMs: number;
  /** Counting series by service and environment. */
  readonly #services: ReadonlyMap<string, readonly BacktestSeries[]>;

  constructor(all: readonly BacktestSeries[], intervalMs: number) {
    this.#intervalMs = intervalMs;
    const counting = all.filter(({ name, flags }) => isRequestCount(name.metricName, (flags & FLAG_COUNTER) !== 0));
    this.#services = groupBy(counting, ({ name }) => keyOf(name.tenant, name.environment, name.serviceId));
  }

  /** As the newest cycle before `nowMs` has counted them; undefined where no series counts. Of several metrics the one that counts most stands for all. */
  of(tenant: string, environment: string, serviceId: string, nowMs: number): number | undefined {
    const counting = this.#services.get(keyOf(tenant, environment, serviceId));
    if (counting === undefined) return undefined;
    const cycleMs = Math.floor(nowMs / this.#intervalMs) * this.#intervalMs;
    const sums = new Map<string, number>();
    for (const { name, times, values } of counting) {
      const count = indexAfter(times, cycleMs);
      sums.set(name.metricName, (sums.get(name.metricName) ?? 0) + requestsInCycle(times, values, count, cycleMs, this.#intervalMs));
    }
    return Math.max(...sums.values());
  }
}

/** Number of the ascending times that are not after that time. */
export function indexAfter(times: Float64Array, timeMs: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] as number) <= timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

function keyOf(tenant: string, environment: string, serviceId: string): string {
  return JSON.stringify([tenant, environment, serviceId]);
}
