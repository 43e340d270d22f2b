// Slots of an engine's streams by service, for queries. New streams are not entered one by one: the index catches up when the engine has nothing
// else to do, and wholly when it is asked. Senders mix the streams of thousands of services, so a service is found by the bytes of the identity that name it;
// a text is made only where they are new. Sketch: 0.2 us a stream.
import type { EngineMemory } from "../../../adapters/runtime/engine-memory.ts";
import { ByteMap } from "../../../core/base/byte-map.ts";
import { INDEXED_SERVICES_KEPT_MAX } from "../../../core/config/limits.ts";
import type { ShardExports } from "../../../domain/kernel/shard-kernel.ts";

/** The kernel's functions that tell which service a slot belongs to. */
type Services = Pick<ShardExports, "slots" | "findService" | "foundTenant" | "foundTenantBytes" | "foundService" | "foundServiceBytes">;

/** A service in an environment. */
interface Service {
  readonly key: string;
  readonly slots: number[];
  readonly tenant: { streams: number };
}

/** The index of one engine. */
export class ServiceIndex {
  readonly #memory: EngineMemory;
  readonly #kernel: Services;
  /** By tenant, environment and service as they stand in an identity. */
  readonly #named = new ByteMap<Service>(INDEXED_SERVICES_KEPT_MAX);
  readonly #services = new Map<string, number[]>();
  /** By tenant as it stands in an identity. */
  readonly #tenants = new Map<string, Service["tenant"]>();
  /** Slots before this one are in the index, but for those in #again: they were given back and taken anew. */
  #entered = 0;
  #again: number[] = [];
  /** How often streams were removed: lists of slots that somebody walks over are other ones then. */
  removals = 0;

  constructor(memory: EngineMemory, kernel: Services) {
    this.#memory = memory;
    this.#kernel = kernel;
  }

  /** Enters up to `most` slots; false when there was none to enter. */
  catchUp(most: number): boolean {
    const slots = this.#kernel.slots();
    if (this.#entered === slots && this.#again.length === 0) return false;
    for (const slot of this.#again.splice(0, most)) this.#enter(slot);
    const stop = Math.min(slots, this.#entered + most);
    while (this.#entered < stop) this.#enter(this.#entered++);
    return true;
  }

  /** A slot that was in use before has another stream. */
  again(slot: number): void {
    if (slot < this.#entered) this.#again.push(slot);
  }

  /** Forgets slots before they are given back, and services of which none is left. */
  remove(slots: readonly number[]): void {
    this.catchUp(Number.POSITIVE_INFINITY);
    this.removals++;
    const gone = new Set(slots);
    const services = new Map<string, number[]>();
    for (const slot of slots) {
      const service = this.#serviceOf(slot);
      service.tenant.streams--;
      services.set(service.key, service.slots);
    }
    const before = this.#services.size;
    for (const [key, list] of services) {
      let kept = 0;
      for (const slot of list) if (!gone.has(slot)) list[kept++] = slot;
      list.length = kept;
      if (kept === 0) this.#services.delete(key);
    }
    if (this.#services.size < before) this.#named.clear();
  }

  #enter(slot: number): void {
    const service = this.#serviceOf(slot);
    service.slots.push(slot);
    service.tenant.streams++;
  }

  #serviceOf(slot: number): Service {
    const kernel = this.#kernel;
    kernel.findService(slot);
    const at = kernel.foundTenant();
    const bytes = kernel.foundService() + kernel.foundServiceBytes() - at;
    const named = this.#named.find(this.#memory.view, at, bytes);
    if (named !== undefined) return named;
    const service = this.#foundService();
    this.#named.add(this.#memory.view, at, bytes, service);
    return service;
  }

  /** The service that the kernel found last. */
  #foundService(): Service {
    const kernel = this.#kernel;
    const tenantText = this.#memory.slice(kernel.foundTenant(), kernel.foundTenantBytes()).toString();
    const key = `[${tenantText},${this.#memory.slice(kernel.foundService(), kernel.foundServiceBytes()).toString()}]`;
    const tenant = this.#tenants.get(tenantText) ?? { streams: 0 };
    this.#tenants.set(tenantText, tenant);
    const slots = this.#services.get(key) ?? [];
    this.#services.set(key, slots);
    return { key, slots, tenant };
  }

  /** Slots by serviceKey(), of the streams that have been entered so far. */
  get entered(): ReadonlyMap<string, readonly number[]> {
    return this.#services;
  }

  /** Streams of a tenant. */
  streamsOf(tenant: string): number {
    this.catchUp(Number.POSITIVE_INFINITY);
    return this.#tenants.get(JSON.stringify(tenant))?.streams ?? 0;
  }

  /** Slots by serviceKey(), of all streams; the order of lists is made when one is asked for. */
  get all(): ReadonlyMap<string, readonly number[]> {
    this.catchUp(Number.POSITIVE_INFINITY);
    return this.#services;
  }
}
