// Which streams make which number of a service's vector (service-columns.ts).
import { BoundedMap } from "../../../core/collections/bounded-map.ts";
import { hash128 } from "../../../core/hashing/hash128.ts";
import { FLAG_BUCKET, FLAG_COUNTER, PROFILE_EXCLUDED, WINDOW_MAX } from "../../../core/layout/stream-record.ts";
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import type { StreamRecords } from "../../kernel/stream-records.ts";
import { chosenMetrics, startsOf, streamsPerMetric, unevenness } from "../multivariate/service-columns.ts";
import { aggregationOf, type NamedColumns } from "../multivariate/service-vector.ts";

/** Columns of a vector; services with the same metrics share it. The starts are those of slots. */
export interface VectorShape extends NamedColumns {
  /** Hash of the names. */
  readonly columns: string;
}

/** The vector of one service in one environment. */
export interface ServicePlan {
  readonly shape: VectorShape;
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

/** Shapes that may be shared; those that many services have come again soon. */
const SHAPES_CACHED_MAX = 10_000;

/** Makes the plans of one service after another: begin, then its streams, then a plan for each of its environments. */
export class ServicePlanner {
  readonly #dependencies: ServicePlannerDependencies;
  readonly #shapes = new BoundedMap<string, VectorShape>(SHAPES_CACHED_MAX);
  readonly #times = new Float64Array(WINDOW_MAX);
  readonly #values = new Float64Array(WINDOW_MAX);
  #environments = new Map<string, Map<string, Metric>>();

  constructor(dependencies: ServicePlannerDependencies) {
    this.#dependencies = dependencies;
  }

  begin(): void {
    this.#environments = new Map();
  }

  /** Takes a stream. What is excluded is left out, and so are buckets of histograms: their quantiles are series of their own. */
  add(slot: number): void {
    const { records } = this.#dependencies;
    const flags = records.flags(slot);
    if ((flags & FLAG_BUCKET) !== 0 || records.profile(slot) === PROFILE_EXCLUDED) return;
    const { environment, metricName, attributes } = this.#dependencies.nameOf(slot);
    const metrics = this.#environments.get(environment) ?? new Map<string, Metric>();
    this.#environments.set(environment, metrics);
    let metric = metrics.get(metricName);
    if (metric === undefined) {
      metric = { aggregation: aggregationOf((flags & FLAG_COUNTER) !== 0, metricName, attributes), slots: [] };
      metrics.set(metricName, metric);
    }
    metric.slots.push(slot);
  }

  /** Environments that the streams taken so far are of. */
  get environments(): IterableIterator<string> {
    return this.#environments.keys();
  }

  /** The plan of an environment. `held` are the names to stay with, as far as they are still there. */
  plan(environment: string, previous: readonly string[] | undefined): ServicePlan {
    const metrics = this.#environments.get(environment) ?? new Map<string, Metric>();
    const names = previous?.some((name) => metrics.has(name)) === true ? previous : this.#chosen(metrics);
    const share = streamsPerMetric(names.length);
    const slots = names.map((name) => this.#first(metrics.get(name)?.slots ?? [], share));
    const kinds = names.map((name) => metrics.get(name)?.aggregation ?? 0);
    return {
      shape: this.#shape(
        names,
        kinds,
        slots.map((own) => own.length),
      ),
      slots: Uint32Array.from(slots.flat()),
      metricsLeftOut: Math.max(0, metrics.size - names.length),
    };
  }

  #shape(names: readonly string[], kinds: readonly number[], lengths: readonly number[]): VectorShape {
    const text = JSON.stringify([names, kinds, lengths]);
    return this.#shapes.obtain(text, () => {
      const columns = hash128(JSON.stringify(names));
      return { names, columns, aggregations: Uint8Array.from(kinds), starts: startsOf(lengths) };
    });
  }

  #chosen(metrics: ReadonlyMap<string, Metric>): string[] {
    return chosenMetrics([...metrics.keys()], (name) => {
      const count = this.#dependencies.records.readRing((metrics.get(name) as Metric).slots[0] as number, this.#times, this.#values);
      return unevenness(this.#times, count);
    });
  }

  #first(slots: readonly number[], share: number): number[] {
    if (slots.length === 1) return [...slots];
    const { hashOf } = this.#dependencies;
    const hashes = new Map(slots.map((slot) => [slot, Buffer.from(hashOf(slot)).toString("latin1")]));
    return [...slots].sort((a, b) => ((hashes.get(a) as string) < (hashes.get(b) as string) ? -1 : 1)).slice(0, share);
  }
}
