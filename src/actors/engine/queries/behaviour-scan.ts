// Tells the coordinator how this engine's services behave: per service and family the median over its streams of how far their newest values lie from
// those before. One scan goes over all services in slices of about 0.3 ms, between bodies, with one answer a slice; at a million streams it takes some
// 4,000 of them. Streams are looked at in the order of their slots within a service; those that come or go meanwhile are in this scan or in the next.
import { BEHAVIOUR_Z_MAX, SERVICE_STREAMS_INSPECTED_MAX, STREAMS_PER_SLICE } from "../../../core/config/limits.ts";
import { FLAG_COUNTER } from "../../../core/layout/stream-record.ts";
import type { BehaviourAnswer, BehaviourQuery } from "../../../core/protocol/engine-control.ts";
import { median } from "../../../domain/detection/robust.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import { FAMILIES, familyOfMetric, type MetricFamily } from "../../../domain/series/metric-family.ts";
import type { ServiceIndex } from "../streams/service-index.ts";

export interface BehaviourDependencies {
  readonly kernel: ShardKernel;
  readonly services: ServiceIndex;
  readonly metricNameOf: (slot: number) => string;
  monotonicMs(): number;
}

/** The service that is being looked at. */
interface ServiceAtHand {
  readonly key: string;
  readonly slots: readonly number[];
  /** Every so many of its streams: a service of 100,000 holds the scan up no longer than one of 4,096. */
  readonly stride: number;
  next: number;
}

/** Codes of SR_FAMILY: one more than the place in this list. */
const CODES: readonly MetricFamily[] = [...FAMILIES, "other", "none"];
const CODE_OTHER = CODES.indexOf("other") + 1;
const RATE = FAMILIES.indexOf("rate");
/** Cost of a stream whose name is looked at, in streams whose values are. */
const NAME_COST = 4;
/** Cost of a service besides its streams. */
const SERVICE_COST = 1;

/** The scan of one engine. */
export class BehaviourScan {
  readonly #dependencies: BehaviourDependencies;
  /** Deviations of the service at hand, by family. */
  readonly #deviations: ReadonlyArray<number[]> = FAMILIES.map(() => []);
  #scan = 0;
  #sinceMs = 0;
  #rest: Iterator<[string, readonly number[]]> = [][Symbol.iterator]();
  #service: ServiceAtHand | undefined;

  constructor(dependencies: BehaviourDependencies) {
    this.#dependencies = dependencies;
  }

  /** The next slice of a scan; a number that is not that of the scan under way begins a new one. */
  answer({ id, scan, sinceMs }: BehaviourQuery): BehaviourAnswer {
    const { services, monotonicMs } = this.#dependencies;
    const startMs = monotonicMs();
    services.catchUp(STREAMS_PER_SLICE);
    if (scan !== this.#scan) {
      this.#scan = scan;
      this.#sinceMs = sinceMs;
      this.#rest = services.entries();
      this.#service = undefined;
    }
    const found: string[] = [];
    const deviations: number[] = [];
    const streams = this.#slice(found, deviations);
    const done = this.#service === undefined;
    return {
      type: "behaviour",
      id,
      services: found,
      deviations: Float32Array.from(deviations),
      streams,
      done,
      tookMs: monotonicMs() - startMs,
    };
  }

  /** Adds the services that it comes to the end of; streams looked at. */
  #slice(found: string[], deviations: number[]): number {
    let streams = 0;
    for (let left = STREAMS_PER_SLICE; left > 0; ) {
      this.#service ??= this.#nextService();
      const service = this.#service;
      if (service === undefined) break;
      for (; service.next < service.slots.length && left > 0; service.next += service.stride) {
        left -= this.#inspect(service.slots[service.next] as number);
        streams++;
      }
      if (service.next < service.slots.length) break;
      left -= SERVICE_COST;
      this.#finish(service, found, deviations);
      // The next one is known now, so that the answer says whether there is one.
      this.#service = this.#nextService();
    }
    return streams;
  }

  #nextService(): ServiceAtHand | undefined {
    for (let step = this.#rest.next(); !step.done; step = this.#rest.next()) {
      const [key, slots] = step.value;
      if (slots.length > 0) return { key, slots, stride: Math.ceil(slots.length / SERVICE_STREAMS_INSPECTED_MAX), next: 0 };
    }
    return undefined;
  }

  /** Takes a stream into the service at hand; what it cost. */
  #inspect(slot: number): number {
    const { kernel } = this.#dependencies;
    const { records } = kernel;
    if (records.lastTimeMs(slot) < this.#sinceMs) return SERVICE_COST;
    let code = records.family(slot);
    const isNew = code === 0;
    if (isNew) {
      code = CODES.indexOf(familyOfMetric(this.#dependencies.metricNameOf(slot))) + 1;
      records.setFamily(slot, code);
    }
    const family = code === CODE_OTHER && (records.flags(slot) & FLAG_COUNTER) !== 0 ? RATE : code - 1;
    const values = this.#deviations[family];
    if (values !== undefined) {
      const deviation = kernel.recentDeviation(slot, this.#sinceMs);
      if (!Number.isNaN(deviation)) values.push(Math.min(BEHAVIOUR_Z_MAX, Math.max(-BEHAVIOUR_Z_MAX, deviation)));
    }
    return isNew ? NAME_COST : 1;
  }

  #finish({ key }: ServiceAtHand, found: string[], deviations: number[]): void {
    if (this.#deviations.some((values) => values.length > 0)) {
      found.push(key);
      for (const values of this.#deviations) deviations.push(values.length === 0 ? Number.NaN : median(values));
    }
    for (const values of this.#deviations) values.length = 0;
  }
}
