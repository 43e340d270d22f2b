// Takes streams that have had no sample for long out of memory, on the way of their partition's checkpoint, which carries them to the store: a stream is
// in the checkpoint or among the streams that left, never in both and never in none.
import type { EngineMemory, ProcessSlots } from "../../../adapters/shared-memory/engine-memory.ts";
import { Uint32List } from "../../../core/collections/uint32-list.ts";
import { EVICTIONS_PER_CHECKPOINT_MAX, EVICTIONS_PER_STEP_MAX, SLOTS_PER_CHECK_MAX } from "../../../core/config/limits.ts";
import { COLD_SLOTS, CONTROL_TABLE_EDITS } from "../../../core/layout/memory-map.ts";
import { SR_HASH } from "../../../core/layout/stream-record.ts";
import { ByteWriter } from "../../../domain/codec/byte-writer.ts";
import { writeColdEntry } from "../../../domain/kernel/cold-entry.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { Partition } from "../streams/partition.ts";
import type { ServiceIndex } from "../streams/service-index.ts";
import { COLD, type ColdStreams, RETURNED } from "./cold-streams.ts";

export interface StreamEvictionOptions {
  /** STREAM_IDLE_HOURS in ms. */
  readonly idleMs: number;
  /** Retention of a stream in the store after its newest sample. */
  readonly retentionMs: number;
}

export interface StreamEvictionDependencies {
  readonly memory: EngineMemory;
  readonly kernel: ShardKernel;
  readonly cold: ColdStreams;
  readonly services: ServiceIndex;
  /** Told of slots whose streams leave, before others take them. */
  readonly removing: (slots: readonly number[]) => void;
  readonly counters: EngineCounters;
  readonly processSlots: ProcessSlots;
  readonly wallMs: () => number;
}

/** Chooses and takes streams of one partition at a time. */
export class StreamEviction {
  readonly #options: StreamEvictionOptions;
  readonly #dependencies: StreamEvictionDependencies;
  readonly #writer = new ByteWriter();
  #inspected = 0;
  #evicted = 0;

  constructor(options: StreamEvictionOptions, dependencies: StreamEvictionDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Begins with a partition. */
  begin(): void {
    this.#writer.at = 0;
    this.#inspected = 0;
    this.#evicted = 0;
  }

  /** Entries (domain/kernel/cold-entry.ts) of the streams taken since `begin`, valid until the next. */
  get entries(): Uint8Array {
    return this.#writer.bytes.subarray(0, this.#writer.at);
  }

  /** Takes the next few streams; false when there is none left to look at, or as many as one checkpoint carries have gone. About 2 ms. */
  step(partition: Partition): boolean {
    if (this.#inspected >= partition.slots.length || this.#evicted >= EVICTIONS_PER_CHECKPOINT_MAX) return false;
    const chosen = this.#choose(partition.slots);
    if (chosen.length > 0) this.#evict(partition, chosen);
    return true;
  }

  /** Whether a checkpoint of the partition is worth while for its idle streams alone: a tenth of those looked at, from `from` on. */
  isDue({ slots }: Partition, from: number): boolean {
    const inspected = Math.min(slots.length, SLOTS_PER_CHECK_MAX);
    let idle = 0;
    for (let i = 0; i < inspected; i++) if (this.#isIdle(slots.at((from + i) % slots.length))) idle++;
    return idle > 0 && idle * 10 >= inspected;
  }

  /** Streams in the store whose newest sample is past its retention, and which no ref names. */
  forgotten({ cold: ids }: Partition): number[] {
    const { cold, wallMs } = this.#dependencies;
    const beforeMs = wallMs() - this.#options.retentionMs;
    return Array.from(ids.uint32s).filter((id) => cold.state(id) === COLD && cold.lastTimeMs(id) < beforeMs && !cold.hasRef(id));
  }

  #isIdle(slot: number): boolean {
    const newestMs = this.#dependencies.kernel.records.newestTimeMs(slot);
    return newestMs > 0 && newestMs < this.#dependencies.wallMs() - this.#options.idleMs;
  }

  #choose(slots: Uint32List): number[] {
    const chosen: number[] = [];
    const stop = Math.min(slots.length, this.#inspected + SLOTS_PER_CHECK_MAX);
    while (this.#inspected < stop && chosen.length < EVICTIONS_PER_STEP_MAX) {
      const slot = slots.at(this.#inspected++);
      if (this.#isIdle(slot)) chosen.push(slot);
    }
    return chosen;
  }

  #evict(partition: Partition, chosen: readonly number[]): void {
    const { kernel, memory, cold, services, counters, processSlots } = this.#dependencies;
    const numbers = new Map(chosen.map((slot) => [slot, this.#write(partition, slot)]));
    services.remove(chosen);
    this.#dependencies.removing(chosen);
    this.#rebind(partition, numbers);
    const left = new Uint32List();
    for (const slot of partition.slots.uint32s) if (!numbers.has(slot)) left.push(slot);
    partition.slots = left;
    this.#inspected -= chosen.length;
    this.#evicted += chosen.length;
    const edits = memory.load(CONTROL_TABLE_EDITS);
    memory.store(CONTROL_TABLE_EDITS, edits + 1);
    for (const slot of chosen) {
      processSlots.addTenantStreams(kernel.records.tenant(slot), -1);
      kernel.removeStream(slot);
    }
    memory.store(CONTROL_TABLE_EDITS, edits + 2);
    counters.add("streams", -chosen.length);
    counters.add("streamsEvicted", chosen.length);
    counters.set("streamsCold", cold.size);
    counters.set("identityBytes", kernel.identitiesBytes);
  }

  /** Writes a stream's entry and returns the number under which it is known from now on. */
  #write(partition: Partition, slot: number): number {
    const { kernel, memory, cold } = this.#dependencies;
    const { records } = kernel;
    const at = records.address(slot) + SR_HASH;
    const hash = memory.bytes.slice(at, at + 16);
    const identity = memory.bytes.subarray(records.identityAddress(slot), records.identityAddress(slot) + records.identityBytes(slot));
    const serial = partition.nextSerial++;
    writeColdEntry(this.#writer, { serial, hash, identity }, () => kernel.pack(slot, this.#writer));
    const id = cold.add({ hash, partition: partition.number, serial, lastTimeMs: records.newestTimeMs(slot) });
    partition.cold.push(id);
    return id;
  }

  /** Rows with refs of these streams are parked from now on, also with refs that still name one as it was before it came back. */
  #rebind({ refs, returned }: Partition, numbers: ReadonlyMap<number, number>): void {
    const { kernel, cold } = this.#dependencies;
    for (let i = 0; i < refs.length; i += 2) {
      const target = refs.at(i + 1);
      const wasCold = target >= COLD_SLOTS && cold.state(target - COLD_SLOTS) === RETURNED;
      const id = numbers.get(wasCold ? cold.slot(target - COLD_SLOTS) : target);
      if (id === undefined) continue;
      refs.set(i + 1, COLD_SLOTS + id);
      kernel.bindRef(refs.at(i), COLD_SLOTS + id);
      cold.setRef(id);
    }
    for (const id of returned.uint32s) if (cold.state(id) === RETURNED && numbers.has(cold.slot(id))) cold.setReplaced(id);
  }
}
