// The aggregate rings of one engine: of each pair with several streams a long baseline more, over what they come to together. Fed once a cycle, service by service.
import { hash128 } from "../../../../core/hashing/hash128.ts";
import type { StreamName } from "../../../../core/protocol/coordinator-frame.ts";
import { aggregationOf } from "../../../../domain/detection/multivariate/service-vector.ts";
import { aggregateName, PairAggregate } from "../../../../domain/detection/pair/pair-aggregate.ts";
import { serviceKey } from "../../../../domain/series/stream-identity.ts";

export interface AggregateRing {
  readonly name: StreamName;
  /** Hash of its name: 32 hex digits. */
  readonly hash: string;
  readonly aggregate: PairAggregate;
  /** The stream that it begins with. */
  readonly firstSlot: number;
  /** Its pair in the arena; 0 until it has one. */
  pair: number;
  /** Streams in its newest value, and when it had its first. */
  streams: number;
  firstMs: number;
}

export class AggregateRings {
  /** By the pair's names, hashed: its only stream, or what a second one has made of it. */
  readonly #groups = new Map<string, number | AggregateRing>();
  readonly #bySlot = new Map<number, AggregateRing>();
  readonly #byService = new Map<string, AggregateRing[]>();
  /** Groups of slots that are alone in theirs. */
  readonly #alone: string[] = [];

  enter(slot: number, name: StreamName, isCounter: boolean): void {
    const { tenant, environment, serviceId, metricName, attributes } = name;
    const key = hash128(JSON.stringify([tenant, environment, serviceId, metricName]));
    const group = this.#groups.get(key);
    if (group === undefined) {
      this.#groups.set(key, slot);
      this.#alone[slot] = key;
      return;
    }
    if (typeof group === "object") {
      this.#bySlot.set(slot, group);
      return;
    }
    const aggregation = aggregationOf(isCounter, metricName, attributes);
    const ring = {
      name: aggregateName(name, aggregation),
      hash: hash128(`aggregate ${key}`),
      aggregate: new PairAggregate(aggregation),
      firstSlot: group,
      pair: 0,
      streams: 0,
      firstMs: 0,
    };
    this.#groups.set(key, ring);
    this.#alone[group] = "";
    this.#bySlot.set(group, ring);
    this.#bySlot.set(slot, ring);
    const service = serviceKey(tenant, serviceId);
    this.#byService.set(service, [...(this.#byService.get(service) ?? []), ring]);
  }

  /** A stream leaves memory; its ring goes on with the others. */
  leave(slot: number): void {
    this.#bySlot.delete(slot);
    const alone = this.#alone[slot] ?? "";
    if (alone === "") return;
    this.#groups.delete(alone);
    this.#alone[slot] = "";
  }

  /** Takes the mean of what a stream has had since the last cycle. */
  take(slot: number, timeMs: number, values: Float64Array, count: number): void {
    const ring = this.#bySlot.get(slot);
    if (ring === undefined) return;
    let sum = 0;
    for (let i = 0; i < count; i++) sum += values[i] as number;
    ring.aggregate.take(slot, timeMs, sum / count);
  }

  of(service: string): readonly AggregateRing[] {
    return this.#byService.get(service) ?? [];
  }
}
