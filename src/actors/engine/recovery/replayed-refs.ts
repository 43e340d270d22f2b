// The refs of an earlier log: which stream each of them named, and the ref that the stream has in this start. What is found out about a ref is taught to
// the kernel, which then translates its rows by itself (domain/kernel/assembly/ingest/row-translation.ts).
import type { EngineMemory, ProcessSlots } from "../../../adapters/shared-memory/engine-memory.ts";
import { NumberMap } from "../../../core/collections/number-map.ts";
import { COLD_SLOTS, PARTITIONS, REPLAYED_COVERAGE, REPLAYED_REFS, REPLAYED_REFS_MAX } from "../../../core/layout/memory-map.ts";
import {
  COVERAGE_NO,
  COVERAGE_UNKNOWN,
  COVERAGE_YES,
  REPLAYED_NEW_REF,
  REPLAYED_OTHERS,
  REPLAYED_OWNER,
  REPLAYED_PARTITION,
  REPLAYED_REF_BYTES,
} from "../../../core/layout/replayed-refs.ts";
import { ROW_BYTES, ROW_OFFSET, ROW_REF, ROW_VALUE } from "../../../core/layout/row-frame.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import { type ColdStreams, RETURNED } from "../cold/cold-streams.ts";

export interface ReplayedRefsDependencies {
  readonly memory: EngineMemory;
  readonly kernel: ShardKernel;
  readonly ingest: Pick<IngestExports, "translateRows" | "translatedRows">;
  readonly cold: ColdStreams;
  readonly processSlots: ProcessSlots;
  /** Whether the partition's checkpoint covers the block at hand. */
  readonly isBlockCovered: (partition: number) => boolean;
}

/** Translates the rows of logs, one epoch after another. To be used while the ingest is not: it has its table where this keeps its notes. */
export class ReplayedRefs {
  readonly #dependencies: ReplayedRefsDependencies;
  /** Slots by refs of the epoch at hand, COLD_SLOTS and more for streams that are not in memory. */
  #slots = new NumberMap();
  /** Refs of this start by slot. */
  readonly #newRefs = new NumberMap();
  /** The same by number of streams that are not in memory. */
  readonly #newColdRefs = new NumberMap();
  /** One more than the highest ref that the kernel was taught. */
  #taughtEnd = 0;

  constructor(dependencies: ReplayedRefsDependencies) {
    this.#dependencies = dependencies;
    this.beginBlock();
  }

  /** The refs from now on are those of another epoch; `slots` has those that are known already. */
  beginEpoch(slots: NumberMap): void {
    this.forget();
    this.#slots = slots;
  }

  beginBlock(): void {
    this.#dependencies.memory.bytes.fill(COVERAGE_UNKNOWN, REPLAYED_COVERAGE, REPLAYED_COVERAGE + PARTITIONS);
  }

  /** Leaves the ingest's table empty. */
  forget(): void {
    const from = REPLAYED_REFS >>> 2;
    this.#dependencies.memory.uint32s.fill(0, from, from + (this.#taughtEnd * REPLAYED_REF_BYTES) / 4);
    this.#taughtEnd = 0;
  }

  /** A ref names a stream from now on; below 0: none of this engine. */
  bind(ref: number, slot: number): void {
    this.#slots.set(ref, slot);
    if (ref < this.#taughtEnd) this.#dependencies.memory.uint32s.fill(0, entryWord(ref), entryWord(ref + 1));
  }

  /** Looked up once for each partition and block. */
  isCovered(partition: number): boolean {
    const { memory, isBlockCovered } = this.#dependencies;
    const at = REPLAYED_COVERAGE + partition;
    if (memory.bytes[at] === COVERAGE_UNKNOWN) memory.bytes[at] = isBlockCovered(partition) ? COVERAGE_YES : COVERAGE_NO;
    return memory.bytes[at] === COVERAGE_YES;
  }

  /** Copies the rows that are this engine's and not covered to `out`, with refs of this start; answers how many. Most that are read are covered. */
  translate(pointer: number, rows: number, out: number): number {
    const { ingest } = this.#dependencies;
    let to = out;
    for (let done = 0; done < rows; done++) {
      done += ingest.translateRows(pointer + done * ROW_BYTES, rows - done, to);
      to += ingest.translatedRows() * ROW_BYTES;
      if (done < rows && this.#translateOne(pointer + done * ROW_BYTES, to)) to += ROW_BYTES;
    }
    return (to - out) / ROW_BYTES;
  }

  /** A row that the kernel does not know what to do with: false when it is passed over. */
  #translateOne(row: number, out: number): boolean {
    const { uint32s: slots } = this.#dependencies.memory;
    const ref = slots[(row + ROW_REF) >>> 2] as number;
    const slot = this.#slotOf(ref);
    if (slot < 0) {
      this.#teach(ref, REPLAYED_OTHERS);
      return false;
    }
    const partition = this.#partitionOf(slot);
    const isCovered = this.isCovered(partition);
    // What is not in memory may come back, and has another slot then.
    if (slot < COLD_SLOTS) this.#teach(ref, REPLAYED_PARTITION + partition);
    if (isCovered) return false;
    const newRef = this.#newRef(slot);
    if (slot < COLD_SLOTS) this.#teachNewRef(ref, newRef);
    slots[(out + ROW_REF) >>> 2] = newRef;
    slots[(out + ROW_OFFSET) >>> 2] = slots[(row + ROW_OFFSET) >>> 2] as number;
    slots[(out + ROW_VALUE) >>> 2] = slots[(row + ROW_VALUE) >>> 2] as number;
    slots[((out + ROW_VALUE) >>> 2) + 1] = slots[((row + ROW_VALUE) >>> 2) + 1] as number;
    return true;
  }

  #teach(ref: number, index: number): void {
    if (ref >= REPLAYED_REFS_MAX) return;
    this.#dependencies.memory.uint32s[entryWord(ref) + (REPLAYED_OWNER >>> 2)] = index;
    this.#taughtEnd = Math.max(this.#taughtEnd, ref + 1);
  }

  #teachNewRef(ref: number, newRef: number): void {
    if (ref < REPLAYED_REFS_MAX) this.#dependencies.memory.uint32s[entryWord(ref) + (REPLAYED_NEW_REF >>> 2)] = newRef + 1;
  }

  #slotOf(ref: number): number {
    const { cold } = this.#dependencies;
    const slot = this.#slots.get(ref);
    return slot >= COLD_SLOTS && cold.state(slot - COLD_SLOTS) === RETURNED ? cold.slot(slot - COLD_SLOTS) : slot;
  }

  #partitionOf(slot: number): number {
    const { kernel, cold } = this.#dependencies;
    return slot < COLD_SLOTS ? kernel.records.partition(slot) : cold.partition(slot - COLD_SLOTS);
  }

  #newRef(slot: number): number {
    const { kernel, processSlots } = this.#dependencies;
    const refs = slot < COLD_SLOTS ? this.#newRefs : this.#newColdRefs;
    const key = slot % COLD_SLOTS;
    const known = refs.get(key);
    if (known >= 0) return known;
    const ref = processSlots.takeRef();
    kernel.bindRef(ref, slot);
    refs.set(key, ref);
    return ref;
  }
}

/** Where the kernel finds what it was taught of a ref, in words of the memory. */
const entryWord = (ref: number) => (REPLAYED_REFS + ref * REPLAYED_REF_BYTES) >>> 2;
