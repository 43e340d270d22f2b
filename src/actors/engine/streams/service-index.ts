// Slots of an engine's streams by service, for queries. New streams are not entered one by one: the index catches up when the engine has nothing
// else to do, a little while many wait, and in slices when it is asked. Senders mix the streams of thousands of services, so a service is found by the bytes of the identity that name it;
// a text is made only where they are new. Sketch: 0.2 us a stream.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { ByteMap } from "../../../core/collections/byte-map.ts";
import { INDEXED_SERVICES_RETAINED_MAX } from "../../../core/config/limits.ts";
import { STREAM_RECORDS } from "../../../core/layout/memory-map.ts";
import { SERVICE_LABEL_QUERY_ONLY, SR_SERVICE_LABEL, STREAM_RECORD_BYTES } from "../../../core/layout/stream-record.ts";
import type { ShardExports } from "../../../domain/kernel/shard-kernel.ts";

/** Streams that a step of the engine with nothing else to do enters: about 100 us. */
const SLOTS_PER_IDLE_STEP = 1_000;
/** While more of them wait, a step that had something else to do enters a few: whoever asks has that many to enter. */
const SLOTS_BEHIND_MAX = 256;
const SLOTS_PER_BUSY_STEP = 512;
/** The oldest streams of a service that say since when it is known. */
const OLDEST_ASKED = 4;

/** The kernel's functions that tell which service a slot belongs to. */
type Services = Pick<ShardExports, "slots" | "findService" | "foundTenant" | "foundTenantBytes" | "foundService" | "foundServiceBytes">;

/** Index of one tenant. */
interface Tenant {
  streams: number;
  /** Slots by serviceKey(), without those for queries alone. */
  readonly services: Map<string, number[]>;
  /** Those for queries alone likewise, of services that have such. */
  readonly queryOnly: Map<string, number[]>;
}

/** A service in an environment. */
interface Service {
  readonly key: string;
  readonly slots: number[];
  readonly tenant: Tenant;
}

const NO_SERVICES: ReadonlyMap<string, readonly number[]> = new Map();

/** The index of one engine. */
export class ServiceIndex {
  readonly #memory: EngineMemory;
  readonly #kernel: Services;
  /** By tenant, environment and service as they stand in an identity. */
  readonly #named = new ByteMap<Service>(INDEXED_SERVICES_RETAINED_MAX);
  /** By tenant as it stands in an identity: a question about one does not pass over the services of another. */
  readonly #tenants = new Map<string, Tenant>();
  /** Slots before this one are in the index, but for those in #again: they were given back and taken anew. */
  #entered = 0;
  #again: number[] = [];
  /** Number of removals of streams: lists of slots that somebody walks over are other ones then. */
  removals = 0;

  constructor(memory: EngineMemory, kernel: Services) {
    this.#memory = memory;
    this.#kernel = kernel;
  }

  /** Enters what a step of the engine may; false for nothing. */
  keepUp(isBusy: boolean): boolean {
    if (!isBusy) return this.catchUp(SLOTS_PER_IDLE_STEP);
    return this.behind > SLOTS_BEHIND_MAX && this.catchUp(SLOTS_PER_BUSY_STEP);
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

  /** Since when the service of a stream is known, as its oldest streams say; Infinity where they do not. All streams are in the index then. */
  sinceMs(slot: number, sinceOf: (slot: number) => number): number {
    this.catchUp(Number.POSITIVE_INFINITY);
    const oldest = this.#serviceOf(slot).slots.slice(0, OLDEST_ASKED);
    return Math.min(...oldest.map(sinceOf), Number.POSITIVE_INFINITY);
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
    const touched = new Map<string, Service>();
    for (const slot of slots) {
      const service = this.#serviceOf(slot);
      service.tenant.streams--;
      touched.set(service.key, service);
    }
    let isForgotten = false;
    for (const { key, slots: list, tenant } of touched.values()) {
      for (const [slots, services] of [
        [list, tenant.services],
        [tenant.queryOnly.get(key) ?? [], tenant.queryOnly],
      ] as const) {
        keepOthers(slots, gone);
        if (slots.length === 0) isForgotten = services.delete(key) || isForgotten;
      }
    }
    if (isForgotten) this.#named.clear();
  }

  #enter(slot: number): void {
    const { key, slots, tenant } = this.#serviceOf(slot);
    tenant.streams++;
    const label = this.#memory.bytes[STREAM_RECORDS + slot * STREAM_RECORD_BYTES + SR_SERVICE_LABEL];
    if (label === SERVICE_LABEL_QUERY_ONLY) {
      const known = tenant.queryOnly.get(key);
      if (known === undefined) tenant.queryOnly.set(key, [slot]);
      else known.push(slot);
    } else {
      if (slots.length === 0) tenant.services.set(key, slots);
      slots.push(slot);
    }
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
    const tenant = this.#tenants.get(tenantText) ?? { streams: 0, services: new Map(), queryOnly: new Map() };
    this.#tenants.set(tenantText, tenant);
    const slots = tenant.services.get(key) ?? [];
    return { key, slots, tenant };
  }

  /** Whether the identity of a stream goes on with these bytes where its metric is named: behind the service. */
  isMetricMarked(slot: number, mark: Uint8Array): boolean {
    const kernel = this.#kernel;
    kernel.findService(slot);
    const from = kernel.foundService() + kernel.foundServiceBytes() + 1;
    const { bytes } = this.#memory;
    for (let i = 0; i < mark.length; i++) if (bytes[from + i] !== mark[i]) return false;
    return true;
  }

  /** The environment of a stream, read where its identity names it: between tenant and service. */
  environmentOf(slot: number): string {
    const kernel = this.#kernel;
    kernel.findService(slot);
    const from = kernel.foundTenant() + kernel.foundTenantBytes() + 1;
    const text = this.#memory.slice(from, kernel.foundService() - 1 - from).toString();
    return text.includes("\\") ? (JSON.parse(text) as string) : text.slice(1, -1);
  }

  /** Streams that wait to be entered. */
  get behind(): number {
    return this.#kernel.slots() - this.#entered + this.#again.length;
  }

  /** Services of which a stream has been entered so far. */
  get size(): number {
    let size = 0;
    for (const { services } of this.#tenants.values()) size += services.size;
    return size;
  }

  /** Slots by serviceKey(), of the streams that have been entered so far, one tenant after the other. What is entered meanwhile may be among them. */
  *entries(): Generator<[key: string, slots: readonly number[]]> {
    for (const { services } of this.#tenants.values()) yield* services.entries();
  }

  /** Streams of a tenant that have been entered so far. */
  streamsOf(tenant: string): number {
    return this.#tenants.get(JSON.stringify(tenant))?.streams ?? 0;
  }

  /** Slots of a tenant's services by serviceKey(), of the streams that have been entered so far; the order of lists is made when one is asked for. */
  servicesOf(tenant: string): ReadonlyMap<string, readonly number[]> {
    return this.#tenants.get(JSON.stringify(tenant))?.services ?? NO_SERVICES;
  }

  /** The same of streams for queries alone. */
  queryOnlyOf(tenant: string): ReadonlyMap<string, readonly number[]> {
    return this.#tenants.get(JSON.stringify(tenant))?.queryOnly ?? NO_SERVICES;
  }
}

function keepOthers(list: number[], gone: ReadonlySet<number>): void {
  let retained = 0;
  for (const slot of list) if (!gone.has(slot)) list[retained++] = slot;
  list.length = retained;
}
