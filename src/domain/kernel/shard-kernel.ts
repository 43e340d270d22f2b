// The shard's half of the kernel as TypeScript sees it: streams are slots, rows go in, events come out. One instance per engine; nothing here
// allocates per row or per event. Layouts are those of core/layout.
import { TABLE_COLUMNS } from "../../core/layout/kernel-event.ts";
import { THRESHOLD_TABLES } from "../../core/layout/memory-map.ts";
import { ROW_BYTES } from "../../core/layout/row-frame.ts";
import { ShardEvents } from "./shard-events.ts";
import { StreamRecords } from "./stream-records.ts";
import { restoreRecord, snapshotRecord } from "./stream-snapshot.ts";

/** A number that the kernel counts up since it began. */
export interface KernelCounter {
  readonly value: number;
}

/** What assembly/shard.ts exports. Booleans arrive as 0 or 1. */
export interface ShardExports {
  /** Values the statistics cover, 12 .. 120; before the first row. */
  setWindow(window: number): void;
  /** Slot of the stream with the 16 hash bytes at the address, or -1. */
  findSlot(hashPointer: number, tenant: number): number;
  /** A new slot for a hash that findSlot does not know, or -1 when every slot is in use. */
  createSlot(hashPointer: number, tenant: number, partition: number, flags: number): number;
  /** 0 when the ref is beyond the map. */
  bindRef(ref: number, slot: number): number;
  slotOfRef(ref: number): number;
  slots(): number;
  /** Rows taken; fewer than given when events or chunks have to be taken first. */
  applyRows(pointer: number, rows: number, baseMs: number, arrivalMs: number, wallMs: number): number;
  /** Every value of the slot's ring is in a chunk now. */
  chunkTaken(slot: number): void;
  /** Takes a slot's statistics from its ring again, exactly. */
  recompute(slot: number): void;
  eventsCount(): number;
  eventsReset(): void;
  readonly samplesTaken: KernelCounter;
  readonly samplesDuplicate: KernelCounter;
  readonly samplesLate: KernelCounter;
  readonly samplesLateCounter: KernelCounter;
  readonly samplesReplaced: KernelCounter;
  readonly staleMarkers: KernelCounter;
  readonly counterResets: KernelCounter;
  readonly excursions: KernelCounter;
  readonly openings: KernelCounter;
  readonly closings: KernelCounter;
  readonly rowsUnbound: KernelCounter;
  readonly rowsInvalid: KernelCounter;
}

/** Rows of one frame: where they lie, and what their offsets count from. All times in ms. */
export interface RowBatch {
  readonly pointer: number;
  readonly rows: number;
  readonly baseMs: number;
  readonly arrivalMs: number;
  readonly wallMs: number;
}

/** The streams of one engine's shard. */
export class ShardKernel {
  readonly kernel: ShardExports;
  /** Events of the last applyRows(). */
  readonly events: ShardEvents;
  readonly records: StreamRecords;
  /** The threshold tables, to be filled by detection/thresholds.ts before the first row and whenever the threshold changes. */
  readonly thresholdTables: Float64Array;

  constructor(options: { readonly window: number }, { kernel, memory }: { readonly kernel: ShardExports; readonly memory: { readonly buffer: ArrayBufferLike } }) {
    this.kernel = kernel;
    this.events = new ShardEvents(memory.buffer, () => kernel.eventsCount());
    this.records = new StreamRecords(memory.buffer, kernel);
    this.thresholdTables = new Float64Array(memory.buffer, THRESHOLD_TABLES, 8 * TABLE_COLUMNS);
    kernel.setWindow(options.window);
  }

  /** The stream's slot, taken at first sight; -1 when every slot is in use. */
  define(hashPointer: number, tenant: number, partition: number, flags: number): number {
    const slot = this.kernel.findSlot(hashPointer, tenant);
    return slot >= 0 ? slot : this.kernel.createSlot(hashPointer, tenant, partition, flags);
  }

  /** Rows with this ref belong to the slot from now on. */
  bind(ref: number, slot: number): void {
    if (this.kernel.bindRef(ref, slot) === 0) throw new Error(`stream ref ${ref} is beyond the map`);
  }

  /**
   * Applies a whole batch. `take` is called whenever there are events, at the latest at the end; it must answer each EVENT_CHUNK_DUE with
   * kernel.chunkTaken(). The events are gone when it returns.
   */
  applyAll(batch: RowBatch, take: (events: ShardEvents) => void): void {
    let taken = 0;
    while (taken < batch.rows) {
      const rows = this.kernel.applyRows(batch.pointer + taken * ROW_BYTES, batch.rows - taken, batch.baseMs, batch.arrivalMs, batch.wallMs);
      const events = this.kernel.eventsCount();
      if (rows === 0 && events === 0) throw new Error("the shard took no row and says nothing: a chunk that was due is not taken");
      taken += rows;
      if (events > 0) take(this.events);
      this.kernel.eventsReset();
    }
  }

  /** Everything of a stream that matters to verdicts to come, without its identity, tenant and partition. */
  snapshot(slot: number): Uint8Array {
    return snapshotRecord(this.records, slot);
  }

  /** Puts a snapshot into a slot that has just been created; false when the bytes are none of ours. */
  restore(slot: number, snapshot: Uint8Array): boolean {
    return restoreRecord(this.records, slot, snapshot);
  }
}
