// The replicas that one ingest has seen, by the numbers under which its kernel knows them.
import type { ReplicaChoice, ReplicaGroups, ReplicaKeys } from "../../../adapters/shared-memory/replica-groups.ts";
import { hash128 } from "../../../core/hashing/hash128.ts";
import { REPLICA_SOURCES_MAX } from "../../../core/layout/memory-map.ts";
import type { ReplicaSource } from "../../../domain/series/replica-labels.ts";

/** Numbers replicas from 1 on. */
export class ReplicaSources {
  readonly #groups: ReplicaGroups;
  readonly #numbers = new Map<string, number>();
  /** By number less 1. */
  readonly #keys: ReplicaKeys[] = [];

  constructor(groups: ReplicaGroups) {
    this.#groups = groups;
  }

  /** The number of a replica; 0, which is no replica's, when there are more than REPLICA_SOURCES_MAX. */
  numberOf({ group, cluster, replica }: ReplicaSource): number {
    const name = `${group}${replica}`;
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#keys.length + 1;
    if (number >= REPLICA_SOURCES_MAX) return 0;
    this.#numbers.set(name, number);
    this.#keys.push({ group: hash64(group), cluster: hash64(cluster), replica: Number(BigInt.asIntN(32, hash64(replica))) });
    return number;
  }

  /** Choice for samples of the replica that came at `nowMs`. */
  choose(number: number, nowMs: number): ReplicaChoice {
    return this.#groups.choose(this.#keys[number - 1] as ReplicaKeys, nowMs);
  }
}

/** Never 0 in either half. */
function hash64(text: string): bigint {
  return BigInt.asIntN(64, BigInt(`0x${hash128(text).slice(0, 16)}`) | 0x100000001n);
}
