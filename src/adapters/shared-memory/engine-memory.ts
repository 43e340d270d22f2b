// Views over one engine's shared WebAssembly memory, and the few words in it that threads touch with atomics.
import {
  CONTROL,
  CONTROL_BODIES_HEAD,
  CONTROL_DOORBELL,
  CONTROL_PLACED,
  COORDINATOR_RING_BYTES,
  COUNTERS,
  INBOX_BYTES,
  MEMORY_PAGES,
  PROCESS_NEXT_REF,
  PROCESS_PAIRS_WITHIN_SHARES,
  PROCESS_TENANT_PAIRS,
  PROCESS_TENANT_STREAMS,
  PROCESS_WATCHDOG_PAIRS,
  STREAM_RECORDS,
} from "../../core/layout/memory-map.ts";
import type { LogPosition } from "../../core/protocol/coordinator-frame.ts";
import { adviseHugePages } from "../platform/huge-pages.ts";
import { FirstScopes } from "./first-scopes.ts";
import { ProcessPlaces } from "./process-places.ts";
import { ReplicaGroups } from "./replica-groups.ts";

/** Words of the whole process, shared by all engines. */
export class ProcessSlots {
  readonly #slots: Int32Array;
  readonly #pairs: ProcessPlaces;
  readonly replicas: ReplicaGroups;
  readonly scopes: FirstScopes;

  constructor(buffer: SharedArrayBuffer) {
    this.#slots = new Int32Array(buffer);
    const [taken, within, tenants] = [PROCESS_WATCHDOG_PAIRS, PROCESS_PAIRS_WITHIN_SHARES, PROCESS_TENANT_PAIRS];
    this.#pairs = new ProcessPlaces(this.#slots, { taken, within, tenants });
    this.replicas = new ReplicaGroups(buffer);
    this.scopes = new FirstScopes(buffer);
  }

  /** Takes the next stream ref. */
  takeRef(): number {
    return this.takeRefs(1);
  }

  /** Takes the next `count` stream refs; answers the first. */
  takeRefs(count: number): number {
    return Atomics.add(this.#slots, PROCESS_NEXT_REF >> 2, count) >>> 0;
  }

  /**
   * Counts up to `most` new streams of a tenant ahead; answers how many. It takes no more than one part in `parts` of what the tenant has left under
   * `limit`, so the last ones are left for those who count one at a time.
   */
  reserveTenantStreams(tenant: number, most: number, limit: number, parts: number): number {
    const word = (PROCESS_TENANT_STREAMS >> 2) + tenant;
    for (;;) {
      const counted = Atomics.load(this.#slots, word);
      const count = Math.min(most, Math.floor((limit - counted) / parts));
      if (count <= 0) return 0;
      if (Atomics.compareExchange(this.#slots, word, counted, counted + count) === counted) return count;
    }
  }

  addTenantStreams(tenant: number, count: number): void {
    Atomics.add(this.#slots, (PROCESS_TENANT_STREAMS >> 2) + tenant, count);
  }

  /** Counts one more long baseline of a tenant where its share, or what others leave of theirs, has room; of so many tenants that are known. */
  takePair(tenant: number, most: number, tenants: number): boolean {
    return this.#pairs.take(tenant, most, tenants);
  }

  /** Counts one more whose tenant is not known yet, unless there are `most`. */
  restorePair(most: number): boolean {
    return this.#pairs.restore(most);
  }

  /** Counts a pair that is counted already as the tenant's. */
  claimPair(tenant: number, most: number): void {
    this.#pairs.claim(tenant, most);
  }

  /** Gives a pair back; undefined for one whose tenant was never known. */
  returnPair(tenant: number | undefined, most: number): void {
    this.#pairs.give(tenant, most);
  }

  tenantStreams(tenant: number): number {
    return Atomics.load(this.#slots, (PROCESS_TENANT_STREAMS >> 2) + tenant);
  }
}

/** Allocates an engine's memory: 4 GiB of address space, no resident pages until touched. */
export function createEngineMemory(): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: MEMORY_PAGES, maximum: MEMORY_PAGES, shared: true });
}

/** Asks for large pages for the records and rings of streams, which fill slot by slot; answers why there are none, undefined where there are. Where pages in use can be made large, large-pages.ts does that instead. */
export function enlargePages({ buffer }: WebAssembly.Memory): string | undefined {
  return adviseHugePages(new Uint8Array(buffer, STREAM_RECORDS));
}

/** Bytes of the rings in one engine's memory, powers of two; a test may narrow them, the same for all who use the memory. */
export interface RingSizes {
  readonly coordinatorBytes: number;
  readonly inboxBytes: number;
}

export interface EngineMemoryOptions {
  readonly rings?: RingSizes;
  /** Memory of the engine whose doorbell wakes this one as well; its own unless given. */
  readonly bell?: WebAssembly.Memory;
}

/** One engine's memory as its users see it. The size never changes, so the views stay valid. */
export class EngineMemory {
  readonly memory: WebAssembly.Memory;
  readonly rings: RingSizes;
  readonly bytes: Uint8Array;
  readonly uint32s: Uint32Array;
  readonly doubles: Float64Array;
  readonly view: DataView;
  readonly #control: Int32Array;
  readonly #texts: Buffer;
  readonly #bell: Int32Array;
  readonly #wide: BigInt64Array;

  constructor(memory: WebAssembly.Memory, { rings, bell = memory }: EngineMemoryOptions = {}) {
    this.memory = memory;
    this.rings = rings ?? { coordinatorBytes: COORDINATOR_RING_BYTES, inboxBytes: INBOX_BYTES };
    const buffer = memory.buffer;
    this.bytes = new Uint8Array(buffer);
    this.uint32s = new Uint32Array(buffer);
    this.doubles = new Float64Array(buffer);
    this.view = new DataView(buffer);
    this.#texts = Buffer.from(buffer);
    this.#control = new Int32Array(buffer, CONTROL, 16384);
    this.#bell = new Int32Array(bell.buffer, CONTROL + CONTROL_DOORBELL, 1);
    this.#wide = new BigInt64Array(buffer, CONTROL, 8192);
  }

  /** A Buffer over the same bytes, for decoding text without a copy. */
  slice(pointer: number, bytes: number): Buffer {
    return Buffer.from(this.memory.buffer, pointer, bytes);
  }

  /** The text in UTF-8 at an address below 2 GiB. */
  textAt(pointer: number, bytes: number): string {
    return this.#texts.toString("utf8", pointer, pointer + bytes);
  }

  counters(slots: number): Float64Array {
    return new Float64Array(this.memory.buffer, COUNTERS, slots);
  }

  load(controlOffset: number): number {
    return Atomics.load(this.#control, controlOffset >> 2) >>> 0;
  }

  store(controlOffset: number, value: number): void {
    Atomics.store(this.#control, controlOffset >> 2, value | 0);
  }

  /** Clears a word; true when it was set. */
  take(controlOffset: number): boolean {
    return this.load(controlOffset) !== 0 && Atomics.exchange(this.#control, controlOffset >> 2, 0) !== 0;
  }

  /** Wakes the engine's thread, or keeps it from going to sleep. */
  ringBell(): void {
    Atomics.add(this.#bell, 0, 1);
    Atomics.notify(this.#bell, 0);
  }

  bell(): number {
    return Atomics.load(this.#bell, 0);
  }

  /** Blocks the calling thread until the bell differs from `seen`, at most `timeoutMs`. */
  sleep(seen: number, timeoutMs: number): void {
    Atomics.wait(this.#bell, 0, seen, timeoutMs);
  }

  bodiesHead(): number {
    return this.load(CONTROL_BODIES_HEAD);
  }

  publishBodies(head: number): void {
    this.store(CONTROL_BODIES_HEAD, head);
  }

  /** Publishes how far this writer's log is in the rings; read by the other engines' shards. */
  publishPlaced(position: LogPosition): void {
    Atomics.store(this.#wide, CONTROL_PLACED >> 3, BigInt(position.segment) * 0x100000000n + BigInt(position.offset));
  }

  placed(): LogPosition {
    const packed = Atomics.load(this.#wide, CONTROL_PLACED >> 3);
    return { segment: Number(packed >> 32n), offset: Number(packed & 0xffffffffn) };
  }
}

/** Seeds of an engine's hashes, 64 bits each: two of the stream table from 16 random bytes, new at every start, and two of identities, the data folder's (hex digits). */
export function hashSeeds(identitySeed: string, table: Buffer): readonly [bigint, bigint, bigint, bigint] {
  return [
    table.readBigUInt64LE(0),
    table.readBigUInt64LE(8),
    BigInt(`0x${identitySeed.slice(0, 16)}`),
    BigInt(`0x${identitySeed.slice(16, 32)}`),
  ];
}
