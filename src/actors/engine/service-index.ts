// Slots of an engine's streams by service, for queries. New streams are not entered one by one: the index catches up when the engine has nothing
// else to do, and wholly when it is asked. Senders mix the streams of thousands of services, so a service is found by a hash of the identity's part that
// names it; a text is made only where the hash is new. Sketch: 0.2 us a stream, of which half is the miss of its identity.
import type { EngineMemory } from "../../adapters/runtime/engine-memory.ts";
import { SCRATCH } from "../../core/layout/memory-map.ts";
import type { ShardExports } from "../../domain/kernel/shard-kernel.ts";

/** The kernel's functions that tell which service slots belong to. */
type Services = Pick<
  ShardExports,
  "slots" | "serviceHashes" | "findService" | "foundTenant" | "foundTenantBytes" | "foundService" | "foundServiceBytes"
>;

/** A service in an environment. */
interface Service {
  readonly key: string;
  readonly slots: number[];
  readonly tenant: { streams: number };
}

/** Words of a hash. */
const HASH_WORDS = 4;
/** Slots whose hashes are in the scratch area at a time: 32 KiB. */
const SLOTS_HASHED = 2_048;
/** Of a table that holds no service yet; it is at most half full. */
const PLACES_FIRST = 256;

/** Services by hashes of 128 bits with secret seeds (identity-hash.ts), as streams are: open addressing, no removal. */
class HashedServices {
  readonly #found: Service[] = [];
  #hashes = new Uint32Array((HASH_WORDS * PLACES_FIRST) / 2);
  /** Number of a service in #found + 1, 0 = free. */
  #places = new Int32Array(PLACES_FIRST);

  /** The service of the hash at a word of `hashes`. */
  find(hashes: Uint32Array, word: number): Service | undefined {
    const mask = this.#places.length - 1;
    for (let place = (hashes[word] as number) & mask; ; place = (place + 1) & mask) {
      const number = this.#places[place] as number;
      if (number === 0) return undefined;
      if (this.#isHash(HASH_WORDS * (number - 1), hashes, word)) return this.#found[number - 1];
    }
  }

  /** Keeps a service that find() does not know. */
  add(hashes: Uint32Array, word: number, service: Service): void {
    const number = this.#found.push(service) - 1;
    if (HASH_WORDS * number === this.#hashes.length) this.#grow();
    this.#hashes.set(hashes.subarray(word, word + HASH_WORDS), HASH_WORDS * number);
    this.#place(number);
  }

  clear(): void {
    this.#found.length = 0;
    this.#hashes = new Uint32Array((HASH_WORDS * PLACES_FIRST) / 2);
    this.#places = new Int32Array(PLACES_FIRST);
  }

  #isHash(own: number, hashes: Uint32Array, word: number): boolean {
    for (let i = 0; i < HASH_WORDS; i++) if (this.#hashes[own + i] !== hashes[word + i]) return false;
    return true;
  }

  #grow(): void {
    const hashes = new Uint32Array(2 * this.#hashes.length);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
    this.#places = new Int32Array(2 * this.#places.length);
    for (let number = 0; number < this.#found.length - 1; number++) this.#place(number);
  }

  #place(number: number): void {
    const mask = this.#places.length - 1;
    let place = (this.#hashes[HASH_WORDS * number] as number) & mask;
    while (this.#places[place] !== 0) place = (place + 1) & mask;
    this.#places[place] = number + 1;
  }
}

/** The index of one engine. */
export class ServiceIndex {
  readonly #memory: EngineMemory;
  readonly #kernel: Services;
  readonly #words: Uint32Array;
  readonly #hashed = new HashedServices();
  readonly #services = new Map<string, number[]>();
  /** By tenant as it stands in an identity. */
  readonly #tenants = new Map<string, Service["tenant"]>();
  /** Slots before this one are in the index, but for those in #again: they were given back and taken anew. */
  #entered = 0;
  #again: number[] = [];

  constructor(memory: EngineMemory, kernel: Services) {
    this.#memory = memory;
    this.#kernel = kernel;
    this.#words = new Uint32Array(memory.view.buffer);
  }

  /** Enters up to `most` slots; false when there was none to enter. */
  catchUp(most: number): boolean {
    const slots = this.#kernel.slots();
    if (this.#entered === slots && this.#again.length === 0) return false;
    for (const slot of this.#again.splice(0, most)) this.#enter(slot, slot + 1);
    const stop = Math.min(slots, this.#entered + most);
    while (this.#entered < stop) {
      const next = Math.min(stop, this.#entered + SLOTS_HASHED);
      this.#enter(this.#entered, next);
      this.#entered = next;
    }
    return true;
  }

  /** A slot that was in use before has another stream. */
  again(slot: number): void {
    if (slot < this.#entered) this.#again.push(slot);
  }

  /** Forgets slots before they are given back, and services of which none is left. */
  remove(slots: readonly number[]): void {
    this.catchUp(Number.POSITIVE_INFINITY);
    const gone = new Set(slots);
    const services = new Map<string, number[]>();
    for (const slot of slots) {
      this.#kernel.serviceHashes(slot, slot + 1, SCRATCH);
      const service = this.#serviceOf(slot, SCRATCH >>> 2);
      service.tenant.streams--;
      services.set(service.key, service.slots);
    }
    let emptied = false;
    for (const [key, list] of services) {
      let kept = 0;
      for (const slot of list) if (!gone.has(slot)) list[kept++] = slot;
      list.length = kept;
      if (kept === 0) emptied = this.#services.delete(key);
    }
    if (emptied) this.#hashed.clear();
  }

  /** Enters the slots before `stop`, at most SLOTS_HASHED. */
  #enter(slot: number, stop: number): void {
    this.#kernel.serviceHashes(slot, stop, SCRATCH);
    for (let word = SCRATCH >>> 2; slot < stop; slot++, word += HASH_WORDS) {
      const service = this.#serviceOf(slot, word);
      service.slots.push(slot);
      service.tenant.streams++;
    }
  }

  /** The service of a slot whose hash is at a word of the memory. */
  #serviceOf(slot: number, word: number): Service {
    const hashed = this.#hashed.find(this.#words, word);
    if (hashed !== undefined) return hashed;
    const service = this.#named(slot);
    this.#hashed.add(this.#words, word, service);
    return service;
  }

  #named(slot: number): Service {
    const kernel = this.#kernel;
    kernel.findService(slot);
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
