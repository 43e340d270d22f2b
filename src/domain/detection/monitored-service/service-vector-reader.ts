// The newest vector of a service, read from its streams' records.
import { FLAG_HISTORY } from "../../../core/layout/stream-record.ts";
import type { StreamRecords } from "../../kernel/stream-records.ts";
import { Aggregate, valueAgeMsMax } from "../multivariate/service-vector.ts";
import type { ServicePlan } from "./service-plan.ts";

/** Reads vectors, one after the other into the same numbers. */
export class ServiceVectorReader {
  readonly #records: StreamRecords;
  readonly #ageMsMax: number;
  readonly #aggregate = new Aggregate();
  /** One number a metric, NaN where it has none. */
  values = new Float64Array(0);
  present = 0;
  newestMs = 0;
  #plan: ServicePlan | undefined;
  #nowMs = 0;

  constructor(records: StreamRecords, intervalMs: number) {
    this.#records = records;
    this.#ageMsMax = valueAgeMsMax(intervalMs);
  }

  /** A vector that was read just before, for the model in production, is there for its shadow too; not where it had gaps, which that model has filled. */
  read(plan: ServicePlan, nowMs: number): void {
    const {
      shape: { names, aggregations, starts },
      slots,
    } = plan;
    if (plan === this.#plan && nowMs === this.#nowMs && this.present === names.length) return;
    this.#plan = plan;
    this.#nowMs = nowMs;
    const records = this.#records;
    if (this.values.length !== names.length) this.values = new Float64Array(names.length);
    this.present = 0;
    this.newestMs = 0;
    for (let column = 0; column < names.length; column++) {
      this.#aggregate.reset();
      for (let index = starts[column] as number; index < (starts[column + 1] as number); index++) {
        const slot = slots[index] as number;
        const timeMs = records.lastTimeMs(slot);
        // What is newest by an import is not judged.
        if (timeMs > this.newestMs && (records.flags(slot) & FLAG_HISTORY) === 0) this.newestMs = timeMs;
        if (nowMs - timeMs <= this.#ageMsMax && records.count(slot) > 0) this.#aggregate.add(records.lastValue(slot));
      }
      const value = this.#aggregate.value(aggregations[column] as number);
      this.values[column] = value;
      if (!Number.isNaN(value)) this.present++;
    }
  }

  /** Time of the first sample of the middle metric, ms: from when on there are vectors. */
  firstMs({ shape: { names, starts }, slots }: ServicePlan): number {
    const firsts = names.map((_, column) => {
      const slot = slots[starts[column] as number];
      return slot === undefined || starts[column] === starts[column + 1] ? Number.POSITIVE_INFINITY : this.#records.firstTimeMs(slot);
    });
    return firsts.sort((a, b) => a - b)[names.length >> 1] ?? Number.POSITIVE_INFINITY;
  }
}
