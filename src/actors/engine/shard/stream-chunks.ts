// What of a shard's streams is stored: the values of their rings as chunks, which wait for a block of their partition, and beside them, for readers alone, what was sent and
// does not follow from these (domain/codec/sample-chunk.ts).
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { SENT_RUN_SAMPLES_MAX, SENT_RUNS_PER_PARTITION_MAX } from "../../../core/config/metric-limits.ts";
import { PARTITIONS, SCRATCH } from "../../../core/layout/memory-map.ts";
import { FLAG_COUNTER, WINDOW_MAX } from "../../../core/layout/stream-record.ts";
import { FRAME_BLOCK } from "../../../core/protocol/coordinator-frame.ts";
import type { BlockEncoder } from "../../../domain/codec/chunk-block.ts";
import type { ChunkBlockBuilder } from "../../../domain/codec/chunk-block-builder.ts";
import { CHUNK_BYTES_MAX, encodeChunkApart, encodeCountedChunk, encodeSampleChunk } from "../../../domain/codec/sample-chunk.ts";
import { lastOfEachTime } from "../../../domain/codec/sent-samples.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import type { Outbox } from "../report/outbox.ts";
import type { Partition } from "../streams/partition.ts";

export interface StreamChunksDependencies {
  readonly kernel: ShardKernel;
  readonly memory: EngineMemory;
  readonly outbox: Outbox;
  readonly partitionOf: (slot: number) => Partition;
  readonly hashOf: (slot: number) => Uint8Array;
}

/** The chunks of one shard's streams. */
export class StreamChunks {
  readonly #dependencies: StreamChunksDependencies;
  readonly #encodeBlock: BlockEncoder;
  readonly #sent = new SentValues((slot, times, values, count) => this.#storeApart("sent", slot, times, values, count));
  readonly #time = new Float64Array(1);
  readonly #value = new Float64Array(1);
  readonly #chunk = new Uint8Array(CHUNK_BYTES_MAX);

  constructor(dependencies: StreamChunksDependencies) {
    this.#dependencies = dependencies;
    this.#encodeBlock = (records, headBytes) => dependencies.kernel.blocks.encode(records, headBytes);
  }

  /** Packs the values of a stream that are in no chunk yet. What the kernel has found no room for in the partition's block (`isTried`) begins the next one. */
  take(slot: number, isTried = false): void {
    const { kernel, memory, partitionOf } = this.#dependencies;
    if (!isTried && kernel.takeChunk(slot)) return;
    const bytes = kernel.packChunk(slot, SCRATCH);
    if (bytes > 0) {
      const chunks = this.#chunksFor(partitionOf(slot), bytes);
      chunks.appendRecord(memory.uint32s, SCRATCH >>> 2, kernel.records.enterBlock(slot, chunks.block));
    }
    kernel.chunkTaken(slot);
  }

  /** One value, as detection has it, that readers merge into the chunks by its time. */
  storeValue(slot: number, timeMs: number, value: number): void {
    this.#time[0] = timeMs;
    this.#value[0] = value;
    if (this.#isCounter(slot)) this.#storeApart("deltas", slot, this.#time, this.#value, 1);
    else this.#storeValues(slot, this.#time, this.#value, 1);
  }

  /** A gauge's values of the past, from before those that are in no chunk yet: the ring is about to take them. */
  storeHistory(slot: number, times: Float64Array, values: Float64Array, count: number): void {
    this.#storeValues(slot, times, values, count);
  }

  /** Deltas of a counter's past, with what the first was measured from (encodeCountedChunk). */
  storeCounted(
    slot: number,
    from: Parameters<typeof encodeCountedChunk>[0],
    times: Float64Array,
    deltas: Float64Array,
    count: number,
  ): void {
    this.#keepAnchor(slot);
    this.#store(slot, times, count, encodeCountedChunk(from, times, deltas, count, this.#chunk, 0));
  }

  /** What the first open delta was measured from will not be just before it in the ring any longer. */
  #keepAnchor(slot: number): void {
    const anchorMs = this.#dependencies.kernel.records.readAnchor(slot, this.#value);
    if (anchorMs > 0) this.#keep(slot, anchorMs);
  }

  /** Keeps a value as it was sent, of an event. */
  keepSent(index: number): void {
    const { events } = this.#dependencies.kernel;
    events.readValue(index, this.#value);
    this.#keep(events.slot(index), events.timeMs(index));
  }

  /** Keeps a value as it was sent where the stream is a counter, of which chunks have deltas. */
  keepCumulative(slot: number, timeMs: number, value: number): void {
    if (!this.#isCounter(slot)) return;
    this.#value[0] = value;
    this.#keep(slot, timeMs);
  }

  /** Keeps what a stream that is about to start anew has in its record alone: a counter its newest value, and a gauge, whose values will be taken for deltas, those of its ring. */
  keepOpen(slot: number): void {
    const { records } = this.#dependencies.kernel;
    if (this.#isCounter(slot)) {
      const timeMs = records.readRaw(slot, this.#value);
      if (timeMs > 0) this.#keep(slot, timeMs);
      return;
    }
    const [times, values] = [new Float64Array(WINDOW_MAX), new Float64Array(WINDOW_MAX)];
    const count = records.readRing(slot, times, values);
    if (count > 0) this.#storeApart("sent", slot, times, values, count);
  }

  /** Has what was kept of streams wait in chunks, before they leave their slots. */
  storeSent(slots: readonly number[]): void {
    for (const slot of slots) this.#sent.storeStream(this.#dependencies.kernel.records.partition(slot), slot);
  }

  /** The same of a partition, before its chunks are read. */
  storePartition(partition: number): void {
    this.#sent.storePartition(partition);
  }

  /** Chunks of what a stream has besides those that wait, for readers of values as sent; storePartition() has been called. */
  open(slot: number): Uint8Array[] {
    const { kernel, memory } = this.#dependencies;
    const open = kernel.openChunk(slot, SCRATCH, memory.bytes);
    if (open !== undefined) return [open];
    this.#time[0] = kernel.records.readRaw(slot, this.#value);
    if (!this.#isCounter(slot) || this.#time[0] === 0) return [];
    return [this.#chunk.slice(0, encodeChunkApart("sent", this.#time, this.#value, 1, this.#chunk, 0))];
  }

  #isCounter(slot: number): boolean {
    return (this.#dependencies.kernel.records.flags(slot) & FLAG_COUNTER) !== 0;
  }

  #keep(slot: number, timeMs: number): void {
    this.#sent.add(this.#dependencies.kernel.records.partition(slot), slot, timeMs, this.#value);
  }

  /** Where a chunk of so many bytes waits for its block; one that it would not fit leaves before. */
  #chunksFor(partition: Partition, bytes: number): ChunkBlockBuilder {
    if (partition.blockIsFull(bytes)) this.#dependencies.outbox.sendView(FRAME_BLOCK, partition.takeBlock(this.#encodeBlock));
    return partition.chunks;
  }

  /** Values, ascending by time, as a chunk of their own. */
  #storeValues(slot: number, times: Float64Array, values: Float64Array, count: number): void {
    this.#store(slot, times, count, encodeSampleChunk(times, values, count, this.#chunk, 0));
  }

  /** The same for readers of one kind. */
  #storeApart(meaning: "sent" | "deltas", slot: number, times: Float64Array, values: Float64Array, count: number): void {
    this.#store(slot, times, count, encodeChunkApart(meaning, times, values, count, this.#chunk, 0));
  }

  /** Has the chunk of so many bytes wait. */
  #store(slot: number, times: Float64Array, count: number, bytes: number): void {
    const { kernel, partitionOf, hashOf } = this.#dependencies;
    const [first, last] = [times[0] as number, times[count - 1] as number];
    const chunks = this.#chunksFor(partitionOf(slot), bytes);
    const isFirst = kernel.records.enterBlock(slot, chunks.block);
    chunks.append(hashOf(slot), this.#chunk.subarray(0, bytes), first, last, isFirst);
  }
}

// Values as they were sent that do not follow from the ring: what a counter begins anew with, what comes late, NaN, infinities, stale markers. They are gathered for a stream
// at a time, so that a run of them is one chunk, and wait in the partition's chunks before a checkpoint, an eviction or an answer reads those.

/** Values of one stream, in the order in which they came. */
interface Run {
  readonly times: Float64Array;
  readonly values: Float64Array;
  count: number;
}

/** Stores values of a stream, ascending by time, as a chunk of their own. */
type StoreSent = (slot: number, times: Float64Array, values: Float64Array, count: number) => void;

/** Those of one shard that are in no chunk yet. */
class SentValues {
  /** By partition, by slot, the oldest first. */
  readonly #runs = Array.from({ length: PARTITIONS }, () => new Map<number, Run>());
  readonly #store: StoreSent;

  constructor(store: StoreSent) {
    this.#store = store;
  }

  /** Takes a value, the first of `value`, by its bits. Where there are many streams, that which has waited longest is stored. */
  add(partition: number, slot: number, timeMs: number, value: Float64Array): void {
    const runs = this.#runs[partition] as Map<number, Run>;
    const known = runs.get(slot);
    const run = known ?? { times: new Float64Array(SENT_RUN_SAMPLES_MAX), values: new Float64Array(SENT_RUN_SAMPLES_MAX), count: 0 };
    if (known === undefined) {
      const [oldest] = runs.size < SENT_RUNS_PER_PARTITION_MAX ? [] : runs.keys();
      if (oldest !== undefined) this.storeStream(partition, oldest);
      runs.set(slot, run);
    }
    run.times[run.count] = timeMs;
    run.values.set(value.subarray(0, 1), run.count++);
    if (run.count === SENT_RUN_SAMPLES_MAX) this.storeStream(partition, slot);
  }

  /** Stores the values of a stream. */
  storeStream(partition: number, slot: number): void {
    const runs = this.#runs[partition] as Map<number, Run>;
    const run = runs.get(slot);
    if (run === undefined) return;
    runs.delete(slot);
    const times = run.times.subarray(0, run.count);
    if (times.every((timeMs, at) => at === 0 || (times[at - 1] as number) < timeMs)) this.#store(slot, times, run.values, run.count);
    else {
      const { timesMs, values } = lastOfEachTime(times, run.values);
      this.#store(slot, timesMs, values, timesMs.length);
    }
  }

  /** Stores all values of a partition. */
  storePartition(partition: number): void {
    for (const slot of [...(this.#runs[partition] as Map<number, Run>).keys()]) this.storeStream(partition, slot);
  }
}
