// Slots of an engine's streams by service, for queries. New streams are not entered one by one: the index catches up when the engine has nothing
// else to do, and wholly when it is asked. Streams mostly come service by service, so one entry is made a run of them.
import type { EngineMemory } from "../../adapters/runtime/engine-memory.ts";
import type { ShardExports } from "../../domain/kernel/shard-kernel.ts";

/** The kernel's functions that tell which service slots belong to. */
type ServiceRuns = Pick<ShardExports, "slots" | "serviceRun" | "runTenant" | "runTenantBytes" | "runService" | "runServiceBytes">;

/** The key of a service: JSON, as tenant and service stand in an identity. */
export function serviceKey(tenant: string, serviceId: string): string {
  return JSON.stringify([tenant, serviceId]);
}

/** The index of one engine. */
export class ServiceIndex {
  readonly #memory: EngineMemory;
  readonly #kernel: ServiceRuns;
  readonly #services = new Map<string, number[]>();
  /** Slots before this one are in the index. */
  #entered = 0;

  constructor(memory: EngineMemory, kernel: ServiceRuns) {
    this.#memory = memory;
    this.#kernel = kernel;
  }

  /** Enters up to `most` slots; false when there was none to enter. */
  catchUp(most: number): boolean {
    const slots = this.#kernel.slots();
    if (this.#entered === slots) return false;
    const stop = Math.min(slots, this.#entered + most);
    while (this.#entered < stop) this.#enterRun(stop);
    return true;
  }

  #enterRun(stop: number): void {
    const kernel = this.#kernel;
    const next = kernel.serviceRun(this.#entered, stop);
    const tenant = this.#memory.slice(kernel.runTenant(), kernel.runTenantBytes()).toString();
    const key = `[${tenant},${this.#memory.slice(kernel.runService(), kernel.runServiceBytes()).toString()}]`;
    const known = this.#services.get(key);
    const list = known ?? [];
    if (known === undefined) this.#services.set(key, list);
    while (this.#entered < next) list.push(this.#entered++);
  }

  /** Slots by serviceKey(), of all streams; the order of lists is made when one is asked for. */
  get all(): ReadonlyMap<string, readonly number[]> {
    this.catchUp(Number.POSITIVE_INFINITY);
    return this.#services;
  }
}
