// Slots of an engine's streams by service, for queries. New streams are not entered one by one: the index catches up when the engine has nothing
// else to do, and wholly when it is asked. Streams mostly come service by service, so one entry is made a run of them.
import type { EngineMemory } from "../../adapters/runtime/engine-memory.ts";
import type { ShardExports } from "../../domain/kernel/shard-kernel.ts";

/** The kernel's functions that tell which service slots belong to. */
type ServiceRuns = Pick<ShardExports, "slots" | "serviceRun" | "runTenant" | "runTenantBytes" | "runService" | "runServiceBytes">;

/** The index of one engine. */
export class ServiceIndex {
  readonly #memory: EngineMemory;
  readonly #kernel: ServiceRuns;
  readonly #services = new Map<string, number[]>();
  /** Slots in the index by tenant, as it stands in an identity. */
  readonly #tenants = new Map<string, number>();
  #runTenant = "";
  /** Slots before this one are in the index, but for those in #again: they were given back and taken anew. */
  #entered = 0;
  #again: number[] = [];
  #runEnd = 0;

  constructor(memory: EngineMemory, kernel: ServiceRuns) {
    this.#memory = memory;
    this.#kernel = kernel;
  }

  /** Enters up to `most` slots; false when there was none to enter. */
  catchUp(most: number): boolean {
    const slots = this.#kernel.slots();
    if (this.#entered === slots && this.#again.length === 0) return false;
    for (const slot of this.#again.splice(0, most)) {
      this.#listOf(slot, slot + 1).push(slot);
      this.#count(1);
    }
    const stop = Math.min(slots, this.#entered + most);
    while (this.#entered < stop) this.#enterRun(stop);
    return true;
  }

  /** A slot that was in use before has another stream. */
  again(slot: number): void {
    if (slot < this.#entered) this.#again.push(slot);
  }

  /** Forgets slots before they are given back. */
  remove(slots: readonly number[]): void {
    this.catchUp(Number.POSITIVE_INFINITY);
    const gone = new Set(slots);
    const lists = new Set<number[]>();
    for (const slot of slots) {
      lists.add(this.#listOf(slot, slot + 1));
      this.#count(-1);
    }
    for (const list of lists) {
      let kept = 0;
      for (const slot of list) if (!gone.has(slot)) list[kept++] = slot;
      list.length = kept;
    }
  }

  #enterRun(stop: number): void {
    const list = this.#listOf(this.#entered, stop);
    this.#count(this.#runEnd - this.#entered);
    while (this.#entered < this.#runEnd) list.push(this.#entered++);
  }

  /** The list of a slot's service, to which the slots up to #runEnd belong too. */
  #listOf(slot: number, stop: number): number[] {
    const kernel = this.#kernel;
    this.#runEnd = kernel.serviceRun(slot, stop);
    this.#runTenant = this.#memory.slice(kernel.runTenant(), kernel.runTenantBytes()).toString();
    const key = `[${this.#runTenant},${this.#memory.slice(kernel.runService(), kernel.runServiceBytes()).toString()}]`;
    const known = this.#services.get(key);
    if (known !== undefined) return known;
    const list: number[] = [];
    this.#services.set(key, list);
    return list;
  }

  /** Slots by serviceKey(), of the streams that have been entered so far. */
  get entered(): ReadonlyMap<string, readonly number[]> {
    return this.#services;
  }

  /** Of the tenant of the last list. */
  #count(slots: number): void {
    this.#tenants.set(this.#runTenant, (this.#tenants.get(this.#runTenant) ?? 0) + slots);
  }

  /** Streams of a tenant. */
  streamsOf(tenant: string): number {
    this.catchUp(Number.POSITIVE_INFINITY);
    return this.#tenants.get(JSON.stringify(tenant)) ?? 0;
  }

  /** Slots by serviceKey(), of all streams; the order of lists is made when one is asked for. */
  get all(): ReadonlyMap<string, readonly number[]> {
    this.catchUp(Number.POSITIVE_INFINITY);
    return this.#services;
  }
}
