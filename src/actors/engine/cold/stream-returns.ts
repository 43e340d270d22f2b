// Streams on their way back from the store. A row for one of them is parked, and so are all rows of its partition behind it: what a partition's streams
// take, they take in the order of its rows, whether a stream was in memory or not. The engine goes on with everything else meanwhile.
import type { EngineMemory, ProcessSlots } from "../../../adapters/shared-memory/engine-memory.ts";
import { PARKED_ROWS_MAX } from "../../../core/config/limits.ts";
import { COLD_SLOTS, PARKED_ROWS, PARKED_ROWS_BYTES, PARTITIONS } from "../../../core/layout/memory-map.ts";
import { ROW_BYTES, ROW_OFFSET, ROW_REF, ROW_VALUE } from "../../../core/layout/row-frame.ts";
import type { ReturnedStreams, StreamsWanted } from "../../../core/protocol/engine-control.ts";
import { readColdEntries } from "../../../domain/kernel/cold-entry.ts";
import { startsAnew } from "../../../domain/kernel/guessed-kind.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { Partition } from "../streams/partition.ts";
import { COLD, type ColdStreams, RETURNED, WANTED } from "./cold-streams.ts";
import { ParkedRows } from "./parked-rows.ts";

/** Rows of one call to the kernel. */
const BATCH_ROWS = PARKED_ROWS_BYTES / ROW_BYTES;

/** Rows that came with one frame, in place. */
interface Batch {
  readonly pointer: number;
  readonly rows: number;
  readonly baseMs: number;
  readonly arrivalMs: number;
}

export interface StreamReturnsDependencies {
  readonly memory: EngineMemory;
  readonly kernel: ShardKernel;
  readonly cold: ColdStreams;
  readonly counters: EngineCounters;
  readonly processSlots: ProcessSlots;
  readonly partition: (number: number) => Partition;
  readonly applyRows: (batch: Batch) => void;
  /** Starts a stream anew because its sender changed its mind about what kind it is. */
  readonly restartStream: (slot: number, flags: number) => void;
  /** Makes a stream's slot; -1 when there is no room. */
  readonly createStream: (stream: { readonly hash: Uint8Array; readonly identity: Uint8Array; readonly partition: number }) => number;
  readonly askForStreams: (wanted: StreamsWanted) => void;
}

/** Rows and bodies that wait for streams in one engine. */
export class StreamReturns {
  readonly #dependencies: StreamReturnsDependencies;
  readonly #queues: Array<ParkedRows | undefined> = Array.from({ length: PARTITIONS });
  /** Asked for and not come, by partition and serial. */
  readonly #wanted = new Map<number, number>();
  #asking: number[] = [];
  #parked = 0;

  constructor(dependencies: StreamReturnsDependencies) {
    this.#dependencies = dependencies;
  }

  /** No further row may come: the ingest takes no body, and rings are not read. */
  get isFull(): boolean {
    return this.#parked >= PARKED_ROWS_MAX;
  }

  get isIdle(): boolean {
    return this.#parked === 0 && this.#wanted.size === 0;
  }

  /** Whether rows of the partition wait. */
  isWaiting(partition: number): boolean {
    return this.#queues[partition]?.isEmpty === false;
  }

  /** Where the partition's queue ends now: what `hasReached` is asked later. */
  end(partition: number): number {
    return this.#queues[partition]?.pushed ?? 0;
  }

  /** Whether everything that waited at a position has been applied. */
  hasReached(partition: number, end: number): boolean {
    const queue = this.#queues[partition];
    return queue === undefined || queue.taken >= end;
  }

  /** Takes a row that the kernel has not; false when it may be applied after all, because its stream is back. */
  park(pointer: number, { baseMs, arrivalMs }: Pick<Batch, "baseMs" | "arrivalMs">): boolean {
    const { memory, kernel } = this.#dependencies;
    const ref = memory.uint32s[(pointer + ROW_REF) >>> 2] as number;
    const target = this.#target(ref, kernel.slotOfRef(ref));
    const number = this.#partitionOf(target);
    if (target < COLD_SLOTS && !this.isWaiting(number)) return false;
    const word = (pointer + ROW_VALUE) >>> 2;
    const offset = memory.uint32s[(pointer + ROW_OFFSET) >>> 2] as number;
    this.#queue(number).push(ref, offset, memory.uint32s[word] as number, memory.uint32s[word + 1] as number, baseMs, arrivalMs);
    this.#count(1);
    if (target >= COLD_SLOTS) this.want(target - COLD_SLOTS);
    return true;
  }

  /** The stream's kind is to be compared once the rows before have been applied. */
  parkKind(target: number, flags: number): void {
    this.#queue(this.#partitionOf(target)).pushKind(target, flags);
    this.#count(1);
    if (target >= COLD_SLOTS) this.want(target - COLD_SLOTS);
  }

  /** Asks for a stream, once. */
  want(id: number): void {
    const { cold } = this.#dependencies;
    if (cold.state(id) !== COLD) return;
    cold.setWanted(id, true);
    const partition = cold.partition(id);
    this.#wanted.set(wantedKey(partition, cold.serial(id)), id);
    this.#asking.push(partition, cold.serial(id));
  }

  /** Sends what has been asked for since the last call. */
  flush(): boolean {
    if (this.#asking.length === 0) return false;
    this.#dependencies.askForStreams({ type: "streams-wanted", wanted: Uint32Array.from(this.#asking) });
    this.#asking = [];
    return true;
  }

  /** Puts streams back into memory and applies the rows that waited for them. */
  take({ partition, entries }: ReturnedStreams): void {
    for (const entry of readColdEntries(entries)) {
      const id = this.#wanted.get(wantedKey(partition, entry.serial));
      if (id === undefined) throw new Error(`stream ${entry.serial} of partition ${partition} comes back and was not asked for`);
      this.#wanted.delete(wantedKey(partition, entry.serial));
      this.#restore(id, partition, entry);
    }
    this.#drain(partition);
  }

  #restore(id: number, partition: number, entry: ReturnType<typeof readColdEntries> extends Generator<infer E> ? E : never): void {
    const { cold, kernel, createStream, counters, processSlots } = this.#dependencies;
    const slot = createStream({ hash: entry.hash, identity: entry.identity, partition });
    if (slot < 0) {
      cold.setWanted(id, false);
      return;
    }
    if (!kernel.unpack(slot, entry.snapshot)) throw new Error("the store holds a stream that this build cannot read");
    if (!cold.isCounted(id)) processSlots.addTenantStreams(kernel.records.tenant(slot), 1);
    cold.setReturned(id, slot);
    this.#dependencies.partition(partition).returned.push(id);
    counters.add("streamsReturned", 1);
    counters.set("streamsCold", cold.size);
  }

  /** Slot of a ref, or COLD_SLOTS and more; a ref of a stream that is back is bound to its slot. */
  #target(ref: number, target: number): number {
    const { cold, kernel } = this.#dependencies;
    if (target < COLD_SLOTS || cold.state(target - COLD_SLOTS) !== RETURNED) return target;
    const slot = cold.slot(target - COLD_SLOTS);
    kernel.bindRef(ref, slot);
    return slot;
  }

  #partitionOf(target: number): number {
    const { cold, kernel } = this.#dependencies;
    return target < COLD_SLOTS ? kernel.records.partition(target) : cold.partition(target - COLD_SLOTS);
  }

  #queue(partition: number): ParkedRows {
    this.#dependencies.kernel.suspendPartition(partition, true);
    this.#queues[partition] ??= new ParkedRows();
    return this.#queues[partition] as ParkedRows;
  }

  #count(rows: number): void {
    this.#parked += rows;
    this.#dependencies.counters.set("rowsParked", this.#parked);
  }

  /** Applies what waits up to the first row whose stream is not back. */
  #drain(partition: number): void {
    const queue = this.#queues[partition];
    if (queue === undefined || queue.isEmpty) return;
    const { kernel } = this.#dependencies;
    kernel.suspendPartition(partition, false);
    const before = queue.taken;
    while (!queue.isEmpty && this.#drainSome(queue));
    this.#count(before - queue.taken);
    if (queue.isEmpty) queue.release();
    else kernel.suspendPartition(partition, true);
  }

  /** A change of kind, a row of a stream for which there is no room, or a run of rows that came together; false when the first has to wait. */
  #drainSome(queue: ParkedRows): boolean {
    const { cold, kernel, counters, restartStream } = this.#dependencies;
    if (queue.isKind) {
      const target = queue.target >= COLD_SLOTS ? this.#resolve(queue.target) : queue.target;
      if (target >= COLD_SLOTS && cold.state(target - COLD_SLOTS) === WANTED) return false;
      if (target < COLD_SLOTS && startsAnew(kernel.records.flags(target), queue.flags)) restartStream(target, queue.flags);
      else if (target < COLD_SLOTS) kernel.records.setKind(target, queue.flags);
      queue.skip();
      return true;
    }
    const target = this.#target(queue.target, kernel.slotOfRef(queue.target));
    if (target < COLD_SLOTS) return this.#drainRows(queue);
    if (cold.state(target - COLD_SLOTS) === WANTED) return false;
    counters.add("rowsDropped", 1);
    queue.skip();
    return true;
  }

  #resolve(target: number): number {
    const { cold } = this.#dependencies;
    return cold.state(target - COLD_SLOTS) === RETURNED ? cold.slot(target - COLD_SLOTS) : target;
  }

  #drainRows(queue: ParkedRows): boolean {
    const { memory, kernel, applyRows } = this.#dependencies;
    const { baseMs, arrivalMs } = queue;
    let rows = 0;
    while (!queue.isEmpty && !queue.isKind && rows < BATCH_ROWS && queue.baseMs === baseMs && queue.arrivalMs === arrivalMs) {
      if (this.#target(queue.target, kernel.slotOfRef(queue.target)) >= COLD_SLOTS) break;
      queue.copyTo(memory.uint32s, (PARKED_ROWS + rows * ROW_BYTES) >>> 2);
      queue.skip();
      rows++;
    }
    applyRows({ pointer: PARKED_ROWS, rows, baseMs, arrivalMs });
    return true;
  }
}

function wantedKey(partition: number, serial: number): number {
  return partition * 2 ** 32 + serial;
}
