// What an engine holds of streams that is in no stored block, for query workers, which know the streams by their identity hashes.
import { FLAG_COUNTER } from "../../../core/layout/stream-record.ts";
import {
  type PackedChunks,
  type StreamValuesAnswer,
  type StreamValuesQuery,
  VALUES_COUNTER,
  VALUES_IN_MEMORY,
} from "../../../core/protocol/paged-streams.ts";
import { idAt, idText } from "../../../domain/codec/chunk-block.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import type { Shard } from "../shard/shard.ts";

/** Streams whose open values a slice packs, about 6 us each: a body of others that comes meanwhile waits for 0.4 ms. */
const PACKED_PER_SLICE = 64;
/** Streams whose times alone a slice reads, 0.5 us each. */
const INSPECTED_PER_SLICE = 1_024;

/** Reads values of streams of one shard. */
export class StreamValues {
  readonly #shard: Shard;
  readonly #kernel: ShardKernel;
  readonly #tenantIndex: (name: string) => number;

  constructor(shard: Shard, kernel: ShardKernel, tenantIndex: (name: string) => number) {
    this.#shard = shard;
    this.#kernel = kernel;
    this.#tenantIndex = tenantIndex;
  }

  /** What is asked for; others of the engine have their turn at each step. */
  *answer(query: StreamValuesQuery): Generator<void, StreamValuesAnswer> {
    const { id, streamIds, partitions, withChunks } = query;
    const tenant = this.#tenantIndex(query.tenant);
    const flags = new Uint8Array(partitions.length);
    const times = new Float64Array(2 * partitions.length);
    const chunks = new ChunkList();
    const perSlice = withChunks ? PACKED_PER_SLICE : INSPECTED_PER_SLICE;
    for (let first = 0, index = 0; index < partitions.length; index++) {
      const slot = this.#shard.streams.findSlot(idAt(streamIds, index), tenant);
      if (slot >= 0) this.#readRecord(slot, index, flags, times);
      // What is open is read before chunks that wait are: what becomes one meanwhile is in both, and not in none.
      if (slot >= 0 && withChunks) for (const chunk of this.#shard.chunks.open(slot)) chunks.addOpen(index, chunk);
      if (withChunks && partitions[index] !== partitions[index + 1]) {
        this.#addWaiting(chunks, query, first, index + 1);
        first = index + 1;
        yield;
      } else if (index % perSlice === perSlice - 1) yield;
    }
    return { type: "stream-values", id, flags, times, chunks: chunks.finish() };
  }

  #readRecord(slot: number, index: number, flags: Uint8Array, times: Float64Array): void {
    const { records } = this.#kernel;
    const isCounter = (records.flags(slot) & FLAG_COUNTER) !== 0;
    flags[index] = VALUES_IN_MEMORY | (isCounter ? VALUES_COUNTER : 0);
    times[2 * index] = records.firstTimeMs(slot);
    times[2 * index + 1] = records.newestTimeMs(slot);
  }

  /** Chunks of streams of one partition that wait for a block. */
  #addWaiting(chunks: ChunkList, { streamIds, partitions }: StreamValuesQuery, first: number, end: number): void {
    const partition = partitions[first] as number;
    const indexes = new Map<string, number>();
    for (let index = first; index < end; index++) indexes.set(idText(idAt(streamIds, index)), index);
    this.#shard.chunks.storePartition(partition);
    for (const { streamId, chunk } of this.#shard.streams.partition(partition).chunks.pending()) {
      const index = indexes.get(idText(streamId));
      if (index !== undefined) chunks.add(index, chunk.slice());
    }
  }
}

/** Chunks that are collected: those that wait, and behind them the open ones. */
class ChunkList {
  readonly #owners: number[] = [];
  readonly #chunks: Uint8Array[] = [];
  readonly #openOwners: number[] = [];
  readonly #open: Uint8Array[] = [];

  add(owner: number, chunk: Uint8Array): void {
    this.#owners.push(owner);
    this.#chunks.push(chunk);
  }

  addOpen(owner: number, chunk: Uint8Array): void {
    this.#openOwners.push(owner);
    this.#open.push(chunk);
  }

  finish(): PackedChunks {
    const all = [...this.#chunks, ...this.#open];
    let end = 0;
    const ends = Uint32Array.from(all, ({ length }) => {
      end += length;
      return end;
    });
    return { owners: Uint32Array.from([...this.#owners, ...this.#openOwners]), ends, bytes: new Uint8Array(Buffer.concat(all)) };
  }
}
