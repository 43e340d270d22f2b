// The replicas that one lane has seen, by the numbers under which its kernel knows them.
import type { ReplicaChoice, ReplicaGroups } from "../../../adapters/runtime/replica-groups.ts";
import { hash128 } from "../../../core/base/hash128.ts";
import { REPLICA_SOURCES_MAX } from "../../../core/layout/memory-map.ts";
import type { ReplicaSource } from "../../../domain/series/replica-labels.ts";

/** Numbers replicas from 1 on. */
export class ReplicaSources {
  readonly #groups: ReplicaGroups;
  readonly #numbers = new Map<string, number>();
  readonly #keys: bigint[] = [0n];
  readonly #replicas: number[] = [0];

  constructor(groups: ReplicaGroups) {
    this.#groups = groups;
  }

  /** The number of a replica; 0, which is no replica's, when there are more than REPLICA_SOURCES_MAX. */
  numberOf({ group, replica }: ReplicaSource): number {
    const name = `${group}${replica}`;
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#keys.length;
    if (number >= REPLICA_SOURCES_MAX) return 0;
    this.#numbers.set(name, number);
    this.#keys.push(BigInt.asIntN(64, BigInt(`0x${hash128(group).slice(0, 16)}`) | 1n));
    this.#replicas.push(Number(BigInt.asIntN(32, BigInt(`0x${hash128(replica).slice(0, 8)}`) | 1n)));
    return number;
  }

  /** What becomes of samples of the replica that came at `nowMs`. */
  choose(number: number, nowMs: number): ReplicaChoice {
    return this.#groups.choose(this.#keys[number] as bigint, this.#replicas[number] as number, nowMs);
  }
}
