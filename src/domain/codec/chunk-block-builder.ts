/**
 * Collects a partition's chunks until they make a block. What waits are records (core/layout/chunk-record.ts) one behind the other, as the kernel
 * writes them: in a place of the engine's memory where the kernel packs them, and from where they do not fit in a growing buffer. So a chunk is copied
 * once, into the block, and a checkpoint writes all of them as they are:
 *
 *   pending state: version u8 = 2, three zero bytes, count u32, then the records
 *
 * Little-endian; 36 bytes a chunk above its own. It has no checksum: the checkpoint around it has one.
 */

import { CR_CHUNK, CR_CHUNK_BYTES, CR_FIRST_TIME, CR_LAST_TIME, CR_STREAM } from "../../core/layout/chunk-record.ts";
import { WC_BLOCK, WC_CAPACITY, WC_CHUNK_BYTES, WC_COUNT, WC_END, WC_STATE_BYTES, WC_STREAMS } from "../../core/layout/waiting-chunks.ts";
import type { BlockChunk, BlockEncoder } from "./chunk-block.ts";
import {
  CHUNK_OVERHEAD_BYTES,
  CHUNK_WORD,
  chunkBlockBytes,
  compareStreams,
  encodeChunkBlock,
  LENGTH_WORD,
  STREAM_ID_BYTES,
} from "./chunk-block.ts";

const VERSION = 2;
const STATE_HEADER_BYTES = 8;
const CHUNK_BYTES_MAX = 0xffff;
const FIRST_BUFFER_BYTES = 4096;
/** Most bytes of waiting records: far above the 64 KiB at which a block is written, far below what its u32 places can say. */
const PENDING_BYTES_MAX = 64 * 1024 * 1024;
/** More records than can wait: 2^21 x 52 bytes. A stream's first word times this, plus a record's number, is an exact double. */
const RECORDS_END = 2 ** 21;

const orderArrays = (count: number) => [new Uint32Array(count), new Float64Array(count), new Uint32Array(count)] as const;
let [orderPlaces, orderKeys, ordered] = orderArrays(1024);

/** A waiting chunk with the times of its first and last sample in milliseconds. */
export interface PendingChunk extends BlockChunk {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Where the kernel packs the chunks of a partition: words of the engine's memory. */
export interface WaitingPosition {
  /** For the records. */
  readonly buffer: Uint32Array;
  /** State that both sides keep of them (core/layout/waiting-chunks.ts). */
  readonly state: Uint32Array;
}

const ownPosition = (): WaitingPosition => ({
  buffer: new Uint32Array(FIRST_BUFFER_BYTES / 4),
  state: new Uint32Array(WC_STATE_BYTES / 4),
});

/** The chunks of one partition that are not yet in a stored block. */
export class ChunkBlockBuilder {
  readonly #buffer: Uint32Array;
  readonly #state: Uint32Array;
  #slots: Uint32Array;
  #view: DataView;

  /** Records stand in the place for as long as they fit there; what it held is forgotten. */
  constructor({ buffer, state }: WaitingPosition = ownPosition()) {
    this.#buffer = buffer;
    this.#state = state;
    this.#slots = buffer;
    this.#view = viewOf(buffer);
    this.#startAnew();
  }

  #startAnew(): void {
    if (this.#slots !== this.#buffer) {
      this.#slots = this.#buffer;
      this.#view = viewOf(this.#buffer);
    }
    const state = this.#state;
    state[WC_END / 4] = 0;
    state[WC_CAPACITY / 4] = this.#buffer.byteLength;
    state[WC_COUNT / 4] = 0;
    state[WC_CHUNK_BYTES / 4] = 0;
    state[WC_STREAMS / 4] = 0;
    state[WC_BLOCK / 4] = Math.max(1, (state[WC_BLOCK / 4]! + 1) >>> 0);
  }

  /** Words of the records. */
  get #end(): number {
    return this.#state[WC_END / 4]! / 4;
  }

  /** Number of chunks waiting. */
  get count(): number {
    return this.#state[WC_COUNT / 4]!;
  }

  /** The number of the block, other than that of the blocks before. */
  get block(): number {
    return this.#state[WC_BLOCK / 4]!;
  }

  /** Bytes of the block that `finish` would return now; 20 less for each stream of which more than one chunk was said to be the first. */
  get byteLength(): number {
    return chunkBlockBytes(this.count, this.#state[WC_STREAMS / 4]!, this.#state[WC_CHUNK_BYTES / 4]!);
  }

  /** Whether another chunk of so many bytes leaves the block within `blockBytes`, also when it is the first of its stream. */
  hasCapacity(chunkBytes: number, blockBytes: number): boolean {
    return this.byteLength + CHUNK_OVERHEAD_BYTES + chunkBytes <= blockBytes;
  }

  /**
   * Copies a chunk (1 to 65,535 bytes) of a stream (16 bytes) with the times of its first and last sample in milliseconds; `isFirst` says that none of
   * the stream waits yet: a block of which too many are said to be is shorter than it may be. Throws RangeError on sizes or times out of range and
   * when more than 64 MiB wait.
   */
  append(streamId: Uint8Array, chunk: Uint8Array, firstMs: number, lastMs: number, isFirst = true): void {
    if (streamId.length !== STREAM_ID_BYTES) throw new RangeError(`a stream id has ${STREAM_ID_BYTES} bytes`);
    if (chunk.length === 0 || chunk.length > CHUNK_BYTES_MAX) throw new RangeError(`a chunk has 1 to ${CHUNK_BYTES_MAX} bytes`);
    if (!isTimeRange(firstMs, lastMs)) throw new RangeError("a chunk's times are finite and in order");
    const at = this.#grow(recordLength(chunk.length));
    const bytes = this.#bytes(4 * at);
    bytes.set(streamId, CR_STREAM);
    this.#view.setFloat64(4 * at + CR_FIRST_TIME, firstMs, true);
    this.#view.setFloat64(4 * at + CR_LAST_TIME, lastMs, true);
    this.#view.setUint32(4 * at + CR_CHUNK_BYTES, chunk.length, true);
    bytes.set(chunk, CR_CHUNK);
    bytes.fill(0, CR_CHUNK + chunk.length, 4 * recordLength(chunk.length));
    this.#added(at, isFirst);
  }

  /** Copies a record that the kernel has written to the words from `from` on, `isFirst` as above. Throws RangeError when more than 64 MiB wait. */
  appendRecord(memory: Uint32Array, from: number, isFirst = true): void {
    const count = recordLength(memory[from + LENGTH_WORD]!);
    const at = this.#grow(count);
    this.#slots.set(memory.subarray(from, from + count), at);
    this.#added(at, isFirst);
  }

  /**
   * Returns the block of all waiting chunks (at least one), behind `headBytes` (a multiple of four) bytes for the caller, as `encode` gives it, and starts
   * anew. Of one stream's chunks with equal first times the later keeps its place.
   */
  finish(headBytes = 0, encode: BlockEncoder = encodeChunkBlock): Uint8Array {
    if (this.count === 0) throw new RangeError("a block holds at least one chunk");
    const chunkBytes = this.#state[WC_CHUNK_BYTES / 4]!;
    const block = encode({ uint32s: this.#slots, places: this.#orderedPlaces(), chunkBytes }, headBytes);
    this.#startAnew();
    return block;
  }

  /** Yields the waiting chunks in order of appending, as views that are valid until the next append or finish. */
  *pending(): Generator<PendingChunk> {
    const end = this.#end;
    for (let at = 0; at < end; ) {
      const bytes = this.#slots[at + LENGTH_WORD]!;
      yield {
        streamId: this.#bytes(4 * at + CR_STREAM, STREAM_ID_BYTES),
        firstMs: this.#view.getFloat64(4 * at + CR_FIRST_TIME, true),
        lastMs: this.#view.getFloat64(4 * at + CR_LAST_TIME, true),
        chunk: this.#bytes(4 * at + CR_CHUNK, bytes),
      };
      at += recordLength(bytes);
    }
  }

  /** Copies of the waiting chunks of one stream, in order of appending. Makes nothing for those of others: who asks does so for each stream of a partition. */
  chunksOf(streamId: Uint8Array): Uint8Array[] {
    const id = new Uint32Array(Uint8Array.from(streamId).buffer);
    const slots = this.#slots;
    const chunks: Uint8Array[] = [];
    for (let at = 0, end = this.#end; at < end; ) {
      const bytes = slots[at + LENGTH_WORD]!;
      if (isIdAt(slots, at + CR_STREAM / 4, id)) chunks.push(this.#bytes(4 * at + CR_CHUNK, bytes).slice());
      at += recordLength(bytes);
    }
    return chunks;
  }

  /** Returns the waiting chunks as bytes for a checkpoint; the builder goes on as it was. */
  serialise(): Uint8Array {
    const end = this.#end;
    const state = new Uint8Array(STATE_HEADER_BYTES + 4 * end);
    state[0] = VERSION;
    new DataView(state.buffer).setUint32(4, this.count, true);
    state.set(this.#bytes(0, 4 * end), STATE_HEADER_BYTES);
    return state;
  }

  /** Returns a builder with the chunks that `serialise` wrote, at `place` where they fit there; undefined when the bytes are no such state. */
  static restore(state: Uint8Array, position?: WaitingPosition): ChunkBlockBuilder | undefined {
    const recordBytes = state.length - STATE_HEADER_BYTES;
    if (recordBytes < 0 || recordBytes > PENDING_BYTES_MAX || recordBytes % 4 !== 0 || state[0] !== VERSION) return undefined;
    const builder = new ChunkBlockBuilder(position);
    const isWhole = builder.#adopt(state.subarray(STATE_HEADER_BYTES));
    const count = new DataView(state.buffer, state.byteOffset).getUint32(4, true);
    return isWhole && builder.count === count ? builder : undefined;
  }

  /** Takes records over; false when they do not end where the bytes do or one has impossible times. Streams are distinguished by the first words of their ids. */
  #adopt(records: Uint8Array): boolean {
    let next = this.#grow(records.length / 4);
    this.#bytes(0).set(records, 4 * next);
    const end = this.#end;
    const streams = new Set<number>();
    while (next + CHUNK_WORD < end) {
      const bytes = this.#slots[next + LENGTH_WORD]!;
      const after = next + recordLength(bytes);
      const firstMs = this.#view.getFloat64(4 * next + CR_FIRST_TIME, true);
      const lastMs = this.#view.getFloat64(4 * next + CR_LAST_TIME, true);
      if (bytes === 0 || bytes > CHUNK_BYTES_MAX || after > end || !isTimeRange(firstMs, lastMs)) return false;
      const stream = this.#slots[next]!;
      this.#added(next, !streams.has(stream));
      streams.add(stream);
      next = after;
    }
    return next === end;
  }

  #added(at: number, isFirst: boolean): void {
    const state = this.#state;
    state[WC_COUNT / 4]! += 1;
    state[WC_CHUNK_BYTES / 4]! += this.#slots[at + LENGTH_WORD]!;
    if (isFirst) state[WC_STREAMS / 4]! += 1;
  }

  /** Bytes of the records. */
  #bytes(from: number, length?: number): Uint8Array {
    const { buffer, byteOffset, byteLength } = this.#slots;
    return new Uint8Array(buffer, byteOffset + from, length ?? byteLength - from);
  }

  /** Where the records begin, by stream, first time and order of appending. A second sort is for late chunks and for ids that begin alike. */
  #orderedPlaces(): Uint32Array {
    const { places, keys, ordered } = orderOf(this.count);
    const end = this.#end;
    for (let at = 0, index = 0; at < end; index++) {
      places[index] = at;
      keys[index] = this.#slots[at]! * RECORDS_END + index;
      at += recordLength(this.#slots[at + LENGTH_WORD]!);
    }
    keys.sort();
    let isOrdered = true;
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index]!;
      ordered[index] = places[key - Math.floor(key / RECORDS_END) * RECORDS_END]!;
      isOrdered &&= index === 0 || this.#compare(ordered[index - 1]!, ordered[index]!) <= 0;
    }
    return isOrdered ? ordered : ordered.sort((a, b) => this.#compare(a, b));
  }

  #compare(a: number, b: number): number {
    const byStream = compareStreams(this.#slots, a, b);
    if (byStream !== 0) return byStream;
    return this.#view.getFloat64(4 * a + CR_FIRST_TIME, true) - this.#view.getFloat64(4 * b + CR_FIRST_TIME, true) || a - b;
  }

  /** Makes room for so many words more and returns where they begin. */
  #grow(by: number): number {
    const at = this.#end;
    if (4 * (at + by) > PENDING_BYTES_MAX) throw new RangeError(`at most ${PENDING_BYTES_MAX} bytes of chunks may wait for a block`);
    if (at + by > this.#slots.length) {
      const larger = new Uint32Array(Math.max(2 * this.#slots.length, at + by));
      larger.set(this.#slots.subarray(0, at));
      this.#slots = larger;
      this.#view = viewOf(larger);
      this.#state[WC_CAPACITY / 4] = 0;
    }
    this.#state[WC_END / 4] = 4 * (at + by);
    return at;
  }
}

function viewOf(slots: Uint32Array): DataView {
  return new DataView(slots.buffer, slots.byteOffset, slots.byteLength);
}

/** Arrays that ordering needs for so many records; kept for the next block. */
function orderOf(count: number) {
  if (count > orderPlaces.length) [orderPlaces, orderKeys, ordered] = orderArrays(2 * count);
  return { places: orderPlaces, keys: orderKeys.subarray(0, count), ordered: ordered.subarray(0, count) };
}

function isIdAt(slots: Uint32Array, at: number, id: Uint32Array): boolean {
  return slots[at] === id[0] && slots[at + 1] === id[1] && slots[at + 2] === id[2] && slots[at + 3] === id[3];
}

/** Words of the record of a chunk. */
function recordLength(chunkBytes: number): number {
  return CHUNK_WORD + ((chunkBytes + 3) >>> 2);
}

function isTimeRange(firstMs: number, lastMs: number): boolean {
  return Number.isFinite(firstMs) && Number.isFinite(lastMs) && firstMs <= lastMs;
}
