// Which streams make which number of a service's vector. Metrics are taken in the order of their names and streams in that of their hashes, so that a vector,
// and what a model learns of it, is the same for any number of engines and after any restart.

import { hash128 } from "../../../../core/base/hash128.ts";
import { SERVICE_METRICS_MAX, SERVICE_VECTOR_STREAMS_MAX } from "../../../../core/config/limits.ts";
import { FLAG_BUCKET, FLAG_COUNTER, WINDOW_MAX } from "../../../../core/layout/stream-record.ts";
import type { StreamName } from "../../../../core/protocol/coordinator-frame.ts";
import { aggregationOf } from "../../../../domain/detection/multivariate/service-vector.ts";
import type { StreamRecords } from "../../../../domain/kernel/stream-records.ts";

/** The vector of one service in one environment. */
export interface ServicePlan {
  readonly names: readonly string[];
  /** Hash of the names. */
  readonly columns: string;
  /** AGGREGATION_* by metric. */
  readonly aggregations: Uint8Array;
  /** Of each metric the place of its first slot; one more for the end of the last. */
  readonly starts: Uint16Array;
  readonly slots: Uint32Array;
  /** Metrics beyond SERVICE_METRICS_MAX. */
  readonly metricsLeftOut: number;
}

export interface ServicePlannerDependencies {
  readonly records: StreamRecords;
  nameOf(slot: number): StreamName;
  hashOf(slot: number): Uint8Array;
}

interface Metric {
  readonly aggregation: number;
  readonly slots: number[];
}

/** Values that the regularity of a metric is known from. */
const REGULAR_FROM = 12;
/** Names that many services share are held once; so many at a time. */
const NAMES_HELD_MAX = 65_536;

/** Makes the plans of one service after another: begin, then its streams, then a plan for each of its environments. */
export class ServicePlanner {
  readonly #dependencies: ServicePlannerDependencies;
  readonly #names = new Map<string, string>();
  readonly #times = new Float64Array(WINDOW_MAX);
  readonly #values = new Float64Array(WINDOW_MAX);
  #environments = new Map<string, Map<string, Metric>>();

  constructor(dependencies: ServicePlannerDependencies) {
    this.#dependencies = dependencies;
  }

  begin(): void {
    this.#environments = new Map();
  }

  /** Takes a stream; buckets of histograms are left out, their quantiles are series of their own. */
  add(slot: number): void {
    const flags = this.#dependencies.records.flags(slot);
    if ((flags & FLAG_BUCKET) !== 0) return;
    const { environment, metricName, attributes } = this.#dependencies.nameOf(slot);
    const metrics = this.#environments.get(environment) ?? new Map<string, Metric>();
    this.#environments.set(environment, metrics);
    let metric = metrics.get(metricName);
    if (metric === undefined) {
      metric = { aggregation: aggregationOf((flags & FLAG_COUNTER) !== 0, metricName, attributes), slots: [] };
      metrics.set(this.#shared(metricName), metric);
    }
    metric.slots.push(slot);
  }

  /** Environments that the streams taken so far are of. */
  get environments(): IterableIterator<string> {
    return this.#environments.keys();
  }

  /** The plan of an environment. `held` are the names to stay with, as far as they are still there. */
  plan(environment: string, held: readonly string[] | undefined): ServicePlan {
    const metrics = this.#environments.get(environment) ?? new Map<string, Metric>();
    const names = held?.some((name) => metrics.has(name)) === true ? held : this.#chosen(metrics);
    const share = Math.max(1, Math.floor(SERVICE_VECTOR_STREAMS_MAX / Math.max(1, names.length)));
    const slots = names.map((name) => this.#first(metrics.get(name)?.slots ?? [], share));
    const starts = new Uint16Array(names.length + 1);
    slots.forEach((own, column) => {
      starts[column + 1] = (starts[column] as number) + own.length;
    });
    return {
      names,
      columns: hash128(JSON.stringify(names)),
      aggregations: Uint8Array.from(names, (name) => metrics.get(name)?.aggregation ?? 0),
      starts,
      slots: Uint32Array.from(slots.flat()),
      metricsLeftOut: Math.max(0, metrics.size - names.length),
    };
  }

  /** All metrics, or of too many those whose values come most regularly, by name. */
  #chosen(metrics: ReadonlyMap<string, Metric>): string[] {
    const names = [...metrics.keys()];
    if (names.length > SERVICE_METRICS_MAX) {
      const unevenness = new Map(names.map((name) => [name, this.#unevenness((metrics.get(name) as Metric).slots[0] as number)]));
      names.sort((a, b) => (unevenness.get(a) as number) - (unevenness.get(b) as number) || (a < b ? -1 : 1));
      names.length = SERVICE_METRICS_MAX;
    }
    return names.sort();
  }

  /** Coefficient of variation of the times between values; above that of any other with few of them. */
  #unevenness(slot: number): number {
    const count = this.#dependencies.records.readRing(slot, this.#times, this.#values);
    if (count < REGULAR_FROM) return Number.MAX_VALUE;
    const mean = ((this.#times[count - 1] as number) - (this.#times[0] as number)) / (count - 1);
    let squares = 0;
    for (let i = 1; i < count; i++) squares += ((this.#times[i] as number) - (this.#times[i - 1] as number) - mean) ** 2;
    return mean > 0 ? Math.sqrt(squares / (count - 1)) / mean : Number.MAX_VALUE;
  }

  #first(slots: readonly number[], share: number): number[] {
    if (slots.length === 1) return [...slots];
    const { hashOf } = this.#dependencies;
    const hashes = new Map(slots.map((slot) => [slot, Buffer.from(hashOf(slot)).toString("latin1")]));
    return [...slots].sort((a, b) => ((hashes.get(a) as string) < (hashes.get(b) as string) ? -1 : 1)).slice(0, share);
  }

  #shared(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    if (this.#names.size >= NAMES_HELD_MAX) this.#names.clear();
    this.#names.set(name, name);
    return name;
  }
}
