// The streams of a shard: takes definitions from engines and from the log, and knows which slots and refs belong to which partition. The kernel takes
// definitions where they lie; what it leaves (a kind that changed, a count to correct, no room) is taken here, one at a time.
import type { EngineMemory, ProcessSlots } from "../../../adapters/shared-memory/engine-memory.ts";
import {
  BINDINGS,
  COLD_SLOTS,
  CONTROL_TABLE_BITS,
  DEFINITIONS,
  DEFINITIONS_BYTES,
  PARTITIONS,
  SCRATCH,
  WAITING_CHUNKS,
  WAITING_CHUNKS_BYTES,
  WAITING_STATES,
} from "../../../core/layout/memory-map.ts";
import {
  BINDING_BYTES,
  BINDING_IS_NEW,
  BINDING_PARTITION,
  BINDING_REF,
  BINDING_SLOT,
  DEFINE_COUNTED,
} from "../../../core/layout/row-frame.ts";
import { SR_HASH } from "../../../core/layout/stream-record.ts";
import { WC_STATE_BYTES } from "../../../core/layout/waiting-chunks.ts";
import type { WaitingPosition } from "../../../domain/codec/chunk-block-builder.ts";
import { HASH_BYTES } from "../../../domain/kernel/cold-entry.ts";
import { startsAnew } from "../../../domain/kernel/guessed-kind.ts";
import type { DefinitionTenant, ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import { engineOf } from "../../../domain/placement/partition.ts";
import type { ColdStreams } from "../cold/cold-streams.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import { Partition } from "../streams/partition.ts";
import type { ServiceIndex } from "../streams/service-index.ts";
import type { StreamChanges } from "../streams/stream-changes.ts";
import { type Definition, decodeDefinition, definitionBytes } from "../unit/work-unit.ts";

export interface StreamRegistryOptions {
  readonly engine: number;
  readonly engines: number;
  readonly blockBytes: number;
}

export interface StreamRegistryDependencies {
  readonly memory: EngineMemory;
  readonly kernel: ShardKernel;
  readonly processSlots: ProcessSlots;
  readonly counters: EngineCounters;
  readonly cold: ColdStreams;
  readonly services: ServiceIndex;
  readonly changes: StreamChanges;
  /** Gives a stream, in memory or not, the kind that its sender says, behind the rows that came before. */
  readonly adoptKind: (slot: number, flags: number) => void;
  /** Told of each stream that was made, of one of a stored state behind that. */
  readonly created: (slot: number, isRestored: boolean) => void;
}

/** Streams of a stored state in the engine's memory. */
export interface StoredRun {
  readonly pointer: number;
  readonly bytes: number;
  readonly previous: number;
  readonly partition: number;
  readonly tenant: DefinitionTenant;
  /** Told of each slot. */
  readonly restored: (slot: number) => void;
}

/** Streams of one engine. */
export class StreamRegistry {
  readonly #options: StreamRegistryOptions;
  readonly #dependencies: StreamRegistryDependencies;
  readonly #partitions: Array<Partition | undefined> = Array.from({ length: PARTITIONS });

  constructor(options: StreamRegistryOptions, dependencies: StreamRegistryDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  partition(number: number): Partition {
    const known = this.#partitions[number];
    if (known !== undefined) return known;
    const partition = new Partition(number, this.#options.blockBytes, this.#positionOf(number));
    this.#partitions[number] = partition;
    return partition;
  }

  #positionOf(partition: number): WaitingPosition {
    const { buffer } = this.#dependencies.memory.memory;
    return {
      buffer: new Uint32Array(buffer, WAITING_CHUNKS + partition * WAITING_CHUNKS_BYTES, WAITING_CHUNKS_BYTES / 4),
      state: new Uint32Array(buffer, WAITING_STATES + partition * WC_STATE_BYTES, WC_STATE_BYTES / 4),
    };
  }

  /** Takes this engine's share of definitions that lie in its memory. */
  take(pointer: number, bytes: number): void {
    const { kernel, memory, counters } = this.#dependencies;
    const { engine, engines } = this.#options;
    for (let at = 0; at < bytes; ) {
      at += kernel.takeDefinitions(pointer + at, bytes - at, engine, engines);
      this.#takeBindings((partition, ref, slot) => partition.bind(ref, slot));
      counters.add("refs", kernel.bindingsCount);
      if (at === bytes) break;
      this.takeOne(decodeDefinition(memory.view, pointer + at));
      at += definitionBytes(memory.view, pointer + at);
    }
    this.#publish();
  }

  /** Takes a definition if it is this engine's. */
  takeOne(definition: Definition): void {
    const { kernel, processSlots, counters } = this.#dependencies;
    if (engineOf(definition.partition, this.#options.engines) !== this.#options.engine) return;
    const before = kernel.streams;
    const isCounted = (definition.flags & DEFINE_COUNTED) !== 0;
    const slot = this.#define({ ...definition, flags: definition.flags & ~DEFINE_COUNTED });
    // An ingest counts what the table did not show it; another ingest, or another spelling, may have been first.
    const isNew = kernel.streams > before || (slot >= COLD_SLOTS && isCounted && this.#countCold(slot - COLD_SLOTS));
    if (isNew !== isCounted) processSlots.addTenantStreams(definition.tenant, isNew ? 1 : -1);
    if (slot >= 0) {
      kernel.bindRef(definition.ref, slot);
      this.partition(definition.partition).bind(definition.ref, slot);
      if (slot >= COLD_SLOTS) this.#dependencies.cold.setRef(slot - COLD_SLOTS);
      counters.add("refs", 1);
    }
    this.#publish();
  }

  /** Whether an ingest's count of a stream on its way back is the first. */
  #countCold(id: number): boolean {
    const { cold } = this.#dependencies;
    const isFirst = !cold.isCounted(id);
    cold.setCounted(id, true);
    return isFirst;
  }

  /** A stream of a stored state. It may have come back while that was written, so that the state holds it both ways: it is in memory. */
  restore(definition: Definition): number {
    const { cold, processSlots } = this.#dependencies;
    const slot = this.#createAt(definition);
    if (slot < 0) return slot;
    processSlots.addTenantStreams(definition.tenant, 1);
    const id = cold.find(definition.hash);
    if (id >= 0) {
      cold.setReturned(id, slot);
      this.partition(definition.partition).returned.push(id);
    }
    this.#publish();
    return slot;
  }

  /**
   * The streams of a partition's stored state that lie at `pointer`, in their order, as far as the kernel takes them; answers how many bytes. `previous` is the slot of
   * the one before, or -1. What it leaves is for `restore`.
   */
  restoreRun({ pointer, bytes, previous, partition, tenant, restored }: StoredRun): number {
    const { kernel, processSlots } = this.#dependencies;
    const taken = kernel.restoreStreams(pointer, bytes, previous, partition, tenant);
    const streams = this.#takeBindings((_, __, slot) => restored(slot), true);
    processSlots.addTenantStreams(tenant.tenant, streams);
    this.#publish();
    return taken;
  }

  /** A stream that comes back from the store. */
  createReturned(definition: Definition): number {
    const slot = this.#createAt(definition);
    this.#publish();
    return slot;
  }

  #createAt(definition: Definition): number {
    const { memory } = this.#dependencies;
    memory.bytes.set(definition.hash, SCRATCH);
    return this.#create(definition);
  }

  /** The stream of a definition that a checkpoint covers: its slot, COLD_SLOTS and more when it is not in memory; -1 when there is none. */
  findAny(hash: Uint8Array, tenant: number): number {
    const slot = this.findSlot(hash, tenant);
    const id = slot < 0 ? this.#dependencies.cold.find(hash) : -1;
    return id < 0 ? slot : COLD_SLOTS + id;
  }

  /** A stream of an earlier log: created at first sight, and counted for its tenant when it is new. -1 when there is no room, COLD_SLOTS and more when it is on its way back. */
  recover(definition: Definition): number {
    const { kernel, processSlots } = this.#dependencies;
    const before = kernel.streams;
    const slot = this.#define({ ...definition, flags: definition.flags & ~DEFINE_COUNTED });
    if (kernel.streams > before) processSlots.addTenantStreams(definition.tenant, 1);
    this.#publish();
    return slot;
  }

  /**
   * Takes this engine's share of the definitions in `payload`, of an earlier log, before the ingest begins: it uses the ingest's area. `bound` gets every
   * ref of that log with its slot; what the kernel leaves goes to `take`, after which the tenant may be another one.
   */
  replay(
    payload: Uint8Array,
    tenantNow: () => DefinitionTenant,
    bound: (ref: number, slot: number) => void,
    take: (definition: Definition) => void,
  ): void {
    const { memory, kernel, processSlots } = this.#dependencies;
    const { engine, engines } = this.#options;
    const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
    for (let at = 0; at < payload.byteLength; ) {
      const bytes = Math.min(payload.byteLength - at, DEFINITIONS_BYTES);
      memory.bytes.set(payload.subarray(at, at + bytes), DEFINITIONS);
      const tenant = tenantNow();
      const taken = kernel.replayDefinitions(DEFINITIONS, bytes, engine, engines, tenant);
      const streams = this.#takeBindings((_, ref, slot) => bound(ref, slot));
      processSlots.addTenantStreams(tenant.tenant, streams);
      at += taken;
      if (at === payload.byteLength) break;
      if (taken > 0 && definitionBytes(view, at) > bytes - taken) continue; // the area ended in the middle of it
      take(decodeDefinition(view, at));
      at += definitionBytes(view, at);
    }
    this.#publish();
  }

  /** Enters what the kernel did with the definitions that it took last; answers how many streams are new. */
  #takeBindings(visit: (partition: Partition, ref: number, slot: number) => void, isRestored = false): number {
    const { memory, kernel, counters } = this.#dependencies;
    const { uint32s: slots } = memory;
    const end = BINDINGS + kernel.bindingsCount * BINDING_BYTES;
    let streams = 0;
    // The index has all of them before it is asked about the first.
    for (let at = BINDINGS; at < end; at += BINDING_BYTES)
      if (slots[(at + BINDING_IS_NEW) >> 2] === 1) this.#dependencies.services.again(slots[(at + BINDING_SLOT) >> 2] as number);
    for (let at = BINDINGS; at < end; at += BINDING_BYTES) {
      const partition = this.partition(slots[(at + BINDING_PARTITION) >> 2] as number);
      const slot = slots[(at + BINDING_SLOT) >> 2] as number;
      if (slots[(at + BINDING_IS_NEW) >> 2] === 1) {
        partition.slots.push(slot);
        this.#dependencies.created(slot, isRestored);
        streams++;
      }
      if (!isRestored) partition.isTouched = true;
      this.#came(slot);
      visit(partition, slots[(at + BINDING_REF) >> 2] as number, slot);
    }
    counters.add("streams", streams);
    return streams;
  }

  /** Slot of the stream, which is created at first sight; -1 when this engine can hold no more streams, COLD_SLOTS and more when it is on its way back now. */
  #define(definition: Definition): number {
    const { kernel, adoptKind } = this.#dependencies;
    this.partition(definition.partition).isTouched = true;
    const known = this.findAny(definition.hash, definition.tenant);
    if (known < 0) return this.#createAt(definition);
    if (known >= COLD_SLOTS || startsAnew(kernel.records.flags(known), definition.flags)) adoptKind(known, definition.flags);
    else kernel.records.setKind(known, definition.flags);
    this.#came(known);
    return known;
  }

  /** Slot of the stream with the identity hash, or -1. */
  findSlot(hash: Uint8Array, tenant: number): number {
    const { memory, kernel } = this.#dependencies;
    memory.bytes.set(hash, SCRATCH);
    return kernel.findSlot(SCRATCH, tenant);
  }

  /** Expects the hash at SCRATCH. */
  #create({ identity, tenant, partition, flags }: Definition): number {
    const { memory, kernel, counters } = this.#dependencies;
    memory.bytes.set(identity, SCRATCH + HASH_BYTES);
    const slot = kernel.createStream(SCRATCH, tenant, partition, flags, SCRATCH + HASH_BYTES, identity.byteLength);
    counters.add(slot < 0 ? "streamsRefused" : "streams", 1);
    if (slot < 0) return slot;
    this.partition(partition).slots.push(slot);
    this.#dependencies.services.again(slot);
    this.#dependencies.created(slot, false);
    this.#came(slot);
    return slot;
  }

  /** A stream is there, or has been defined once more: what named its service may have become known. */
  #came(slot: number): void {
    const { changes, memory, kernel } = this.#dependencies;
    if (changes.isIdle || slot >= COLD_SLOTS) return;
    const at = kernel.records.address(slot) + SR_HASH;
    changes.came(memory.bytes.subarray(at, at + HASH_BYTES), kernel.records.tenant(slot), slot);
  }

  /** Tells the other engines how large the table is that they look streams up in. */
  #publish(): void {
    const { memory, kernel, counters } = this.#dependencies;
    memory.store(CONTROL_TABLE_BITS, kernel.tableBits);
    counters.set("identityBytes", kernel.identitiesBytes);
  }
}
