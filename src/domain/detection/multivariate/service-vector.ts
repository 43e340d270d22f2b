// A service's metrics at one time as one vector: each metric is the newest values of its streams made one, as decisions on pairs of several streams say.
import { SERVICE_VALUE_AGE_MS_MAX } from "../../../core/config/limits.ts";
import { FLAG_COUNTER } from "../../../core/layout/stream-record.ts";
import type { Attributes } from "../../../core/protocol/coordinator-frame.ts";
import { flagsOfPoint, isOfCounts } from "../../series/classification.ts";

/** Aggregation of a metric's streams to one value: deltas are summed, gauges averaged, of percentiles the largest is taken. */
const AGGREGATION_SUM = 0;
const AGGREGATION_MEAN = 1;
const AGGREGATION_MAX = 2;

/** A quantile in a metric's name: latency.p95, request_duration_p99_ms, api.p99.9. */
const PERCENTILE_NAME = /(?:^|[._-])p\d{1,2}(?:\.\d+)?(?:$|[._-])/;

/** Aggregation of streams of such a name. */
export function aggregationOf(isCounter: boolean, metricName: string, attributes: Attributes): number {
  if (Object.hasOwn(attributes, "quantile") || PERCENTILE_NAME.test(metricName)) return AGGREGATION_MAX;
  return isCounter ? AGGREGATION_SUM : AGGREGATION_MEAN;
}

/** Word that people know the aggregation by. */
export function aggregationWord(aggregation: number): string {
  return ["sum", "mean", "max"][aggregation] as string;
}

/** Columns of a vector, as far as they say what their numbers count. */
export interface NamedColumns {
  readonly names: readonly string[];
  /** AGGREGATION_* by metric. */
  readonly aggregations: Uint8Array;
  /** Index of the first stream of each metric; one more for the end of the last. */
  readonly starts: Uint16Array;
}

/** Counts of events that a number of a column is the mean of; 0 where it counts none. */
export function countsOfColumn({ names, aggregations, starts }: NamedColumns, column: number): number {
  const [name, aggregation] = [names[column] as string, aggregations[column] as number];
  const isCounted = isOfCounts(name, flagsOfPoint(name, false) | (aggregation === AGGREGATION_SUM ? FLAG_COUNTER : 0));
  if (!isCounted) return 0;
  return aggregation === AGGREGATION_MEAN ? Math.max(1, (starts[column + 1] as number) - (starts[column] as number)) : 1;
}

/** A value stands for so long, in ms, where vectors are so far apart. */
export function valueAgeMsMax(intervalMs: number): number {
  return Math.max(SERVICE_VALUE_AGE_MS_MAX, 2 * intervalMs);
}

/** Values of one metric on their way to one. */
export class Aggregate {
  #sum = 0;
  #most = Number.NEGATIVE_INFINITY;
  #count = 0;

  reset(): void {
    this.#sum = 0;
    this.#most = Number.NEGATIVE_INFINITY;
    this.#count = 0;
  }

  add(value: number): void {
    this.#sum += value;
    if (value > this.#most) this.#most = value;
    this.#count++;
  }

  /** NaN where there was none. */
  value(aggregation: number): number {
    if (this.#count === 0) return Number.NaN;
    if (aggregation === AGGREGATION_MAX) return this.#most;
    return aggregation === AGGREGATION_SUM ? this.#sum : this.#sum / this.#count;
  }
}

/** Whether so many of a vector's metrics are enough to judge it. */
export function isVectorFull(present: number, metrics: number): boolean {
  return 2 * present >= metrics && present > 0;
}
