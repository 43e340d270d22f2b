/**
 * Collects a partition's chunks until they make a block. What waits are records (core/layout/chunk-record.ts) one behind the other, as the kernel
 * writes them: in a place of the engine's memory where the kernel packs them, and from where they do not fit in a growing buffer. So a chunk is copied
 * once, into the block, and a checkpoint writes all of them as they are:
 *
 *   pending state: version u8 = 2, three zero bytes, count u32, then the records
 *
 * Little-endian; 36 bytes a chunk above its own. It has no checksum: the checkpoint around it has one.
 */

import { WordSet } from "../../core/base/word-set.ts";
import { CR_CHUNK, CR_CHUNK_BYTES, CR_FIRST_TIME, CR_LAST_TIME, CR_STREAM } from "../../core/layout/chunk-record.ts";
import type { BlockChunk, BlockEncoder } from "./chunk-block.ts";
import { CHUNK_OVERHEAD_BYTES, chunkBlockBytes, compareStreams, encodeChunkBlock, STREAM_ID_BYTES } from "./chunk-block.ts";
import { CHUNK_BYTES_MAX as PACKED_BYTES_MAX } from "./sample-chunk.ts";

const VERSION = 2;
const STATE_HEADER_BYTES = 8;
const CHUNK_BYTES_MAX = 0xffff;
const FIRST_BUFFER_BYTES = 4096;
/** Most bytes of waiting records: far above the 64 KiB at which a block is written, far below what its u32 places can say. */
const PENDING_BYTES_MAX = 64 * 1024 * 1024;
/** More records than can wait: 2^21 x 52 bytes. A stream's first word times this, plus a record's number, is an exact double. */
const RECORDS_END = 2 ** 21;
const CHUNK_WORD = CR_CHUNK / 4;
const LENGTH_WORD = CR_CHUNK_BYTES / 4;

const orderArrays = (count: number) => [new Uint32Array(count), new Float64Array(count), new Uint32Array(count)] as const;
let [orderPlaces, orderKeys, ordered] = orderArrays(1024);

/** A waiting chunk with the times of its first and last sample in milliseconds. */
export interface PendingChunk extends BlockChunk {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Memory that the kernel reaches, as words. */
export type KernelRoom = Uint32Array<ArrayBufferLike>;

/** The chunks of one partition that are not yet in a stored block. */
export class ChunkBlockBuilder {
  readonly #room: KernelRoom;
  #words: KernelRoom;
  #view: DataView;
  #end = 0;
  #count = 0;
  #chunkBytes = 0;
  /** First words of the streams that have a chunk here. */
  readonly #streams = new WordSet();

  /** Records stand in `room` for as long as they fit there. */
  constructor(room: KernelRoom = new Uint32Array(FIRST_BUFFER_BYTES / 4)) {
    this.#room = room;
    this.#words = room;
    this.#view = viewOf(room);
  }

  /** Number of chunks waiting. */
  get count(): number {
    return this.#count;
  }

  /** Bytes of the block that `finish` would return now; 20 less for each stream that shares the first four bytes of its id with another. */
  get byteLength(): number {
    return chunkBlockBytes(this.#count, this.#streams.size, this.#chunkBytes);
  }

  /** Whether another chunk of so many bytes leaves the block within `blockBytes`, also when it is the first of its stream. */
  hasRoom(chunkBytes: number, blockBytes: number): boolean {
    return this.byteLength + CHUNK_OVERHEAD_BYTES + chunkBytes <= blockBytes;
  }

  /**
   * Copies a chunk (1 to 65,535 bytes) of a stream (16 bytes) with the times of its first and last sample in milliseconds.
   * Throws RangeError on sizes or times out of range and when more than 64 MiB wait.
   */
  append(streamId: Uint8Array, chunk: Uint8Array, firstMs: number, lastMs: number): void {
    if (streamId.length !== STREAM_ID_BYTES) throw new RangeError(`a stream id has ${STREAM_ID_BYTES} bytes`);
    if (chunk.length === 0 || chunk.length > CHUNK_BYTES_MAX) throw new RangeError(`a chunk has 1 to ${CHUNK_BYTES_MAX} bytes`);
    if (!isTimeRange(firstMs, lastMs)) throw new RangeError("a chunk's times are finite and in order");
    const at = this.#grow(recordWords(chunk.length));
    const bytes = this.#bytes(4 * at);
    bytes.set(streamId, CR_STREAM);
    this.#view.setFloat64(4 * at + CR_FIRST_TIME, firstMs, true);
    this.#view.setFloat64(4 * at + CR_LAST_TIME, lastMs, true);
    this.#view.setUint32(4 * at + CR_CHUNK_BYTES, chunk.length, true);
    bytes.set(chunk, CR_CHUNK);
    bytes.fill(0, CR_CHUNK + chunk.length, 4 * recordWords(chunk.length));
    this.#added(at);
  }

  /** Where in its memory the kernel may write the next record, which appendRecord() then takes without a copy; -1 where there is no room for the largest. */
  get nextAddress(): number {
    const isThere = this.#words === this.#room && 4 * (this.#room.length - this.#end) >= CR_CHUNK + PACKED_BYTES_MAX;
    return isThere ? this.#room.byteOffset + 4 * this.#end : -1;
  }

  /**
   * Takes a record that the kernel has written to the words from `from` on; copies it unless it stands where the next one goes. Throws RangeError when
   * more than 64 MiB wait.
   */
  appendRecord(memory: KernelRoom, from: number): void {
    const count = recordWords(memory[from + LENGTH_WORD]!);
    const isInPlace = this.#words.buffer === memory.buffer && this.nextAddress === memory.byteOffset + 4 * from;
    const at = this.#grow(count);
    if (!isInPlace) this.#words.set(memory.subarray(from, from + count), at);
    this.#added(at);
  }

  /**
   * Returns the block of all waiting chunks (at least one), behind `headRoom` (a multiple of four) bytes for the caller, as `encode` gives it, and starts
   * anew. Of one stream's chunks with equal first times the later keeps its place.
   */
  finish(headRoom = 0, encode: BlockEncoder = encodeChunkBlock): Uint8Array {
    if (this.#count === 0) throw new RangeError("a block holds at least one chunk");
    const block = encode({ words: this.#words, places: this.#orderedPlaces(), chunkBytes: this.#chunkBytes }, headRoom);
    if (this.#words !== this.#room) {
      this.#words = this.#room;
      this.#view = viewOf(this.#room);
    }
    this.#end = 0;
    this.#count = 0;
    this.#chunkBytes = 0;
    this.#streams.clear();
    return block;
  }

  /** Yields the waiting chunks in order of appending, as views that are valid until the next append or finish. */
  *pending(): Generator<PendingChunk> {
    for (let at = 0; at < this.#end; ) {
      const bytes = this.#words[at + LENGTH_WORD]!;
      yield {
        streamId: this.#bytes(4 * at + CR_STREAM, STREAM_ID_BYTES),
        firstMs: this.#view.getFloat64(4 * at + CR_FIRST_TIME, true),
        lastMs: this.#view.getFloat64(4 * at + CR_LAST_TIME, true),
        chunk: this.#bytes(4 * at + CR_CHUNK, bytes),
      };
      at += recordWords(bytes);
    }
  }

  /** Returns the waiting chunks as bytes for a checkpoint; the builder goes on as it was. */
  serialise(): Uint8Array {
    const state = new Uint8Array(STATE_HEADER_BYTES + 4 * this.#end);
    state[0] = VERSION;
    new DataView(state.buffer).setUint32(4, this.#count, true);
    state.set(this.#bytes(0, 4 * this.#end), STATE_HEADER_BYTES);
    return state;
  }

  /** Returns a builder with the chunks that `serialise` wrote, in `room` where they fit there; undefined when the bytes are no such state. */
  static restore(state: Uint8Array, room?: KernelRoom): ChunkBlockBuilder | undefined {
    const recordBytes = state.length - STATE_HEADER_BYTES;
    if (recordBytes < 0 || recordBytes > PENDING_BYTES_MAX || recordBytes % 4 !== 0 || state[0] !== VERSION) return undefined;
    const builder = new ChunkBlockBuilder(room);
    const isWhole = builder.#adopt(state.subarray(STATE_HEADER_BYTES));
    const count = new DataView(state.buffer, state.byteOffset).getUint32(4, true);
    return isWhole && builder.#count === count ? builder : undefined;
  }

  /** Takes records over; false when they do not end where the bytes do or one has impossible times. */
  #adopt(records: Uint8Array): boolean {
    const at = this.#grow(records.length / 4);
    this.#bytes(0).set(records, 4 * at);
    let next = at;
    while (next + CHUNK_WORD < this.#end) {
      const bytes = this.#words[next + LENGTH_WORD]!;
      const end = next + recordWords(bytes);
      const firstMs = this.#view.getFloat64(4 * next + CR_FIRST_TIME, true);
      const lastMs = this.#view.getFloat64(4 * next + CR_LAST_TIME, true);
      if (bytes === 0 || bytes > CHUNK_BYTES_MAX || end > this.#end || !isTimeRange(firstMs, lastMs)) return false;
      this.#added(next);
      next = end;
    }
    return next === this.#end;
  }

  #added(at: number): void {
    this.#count += 1;
    this.#chunkBytes += this.#words[at + LENGTH_WORD]!;
    this.#streams.add(this.#words[at]!);
  }

  /** Bytes of the records. */
  #bytes(from: number, length?: number): Uint8Array {
    const { buffer, byteOffset, byteLength } = this.#words;
    return new Uint8Array(buffer, byteOffset + from, length ?? byteLength - from);
  }

  /** Where the records begin, by stream, first time and order of appending. A second sort is for late chunks and for ids that begin alike. */
  #orderedPlaces(): Uint32Array {
    const { places, keys, ordered } = orderOf(this.#count);
    for (let at = 0, index = 0; at < this.#end; index++) {
      places[index] = at;
      keys[index] = this.#words[at]! * RECORDS_END + index;
      at += recordWords(this.#words[at + LENGTH_WORD]!);
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
    const byStream = compareStreams(this.#words, a, b);
    if (byStream !== 0) return byStream;
    return this.#view.getFloat64(4 * a + CR_FIRST_TIME, true) - this.#view.getFloat64(4 * b + CR_FIRST_TIME, true) || a - b;
  }

  /** Makes room for so many words more and returns where they begin. */
  #grow(by: number): number {
    const at = this.#end;
    if (4 * (at + by) > PENDING_BYTES_MAX) throw new RangeError(`at most ${PENDING_BYTES_MAX} bytes of chunks may wait for a block`);
    if (at + by > this.#words.length) {
      const larger = new Uint32Array(Math.max(2 * this.#words.length, at + by));
      larger.set(this.#words.subarray(0, at));
      this.#words = larger;
      this.#view = viewOf(larger);
    }
    this.#end = at + by;
    return at;
  }
}

function viewOf(words: KernelRoom): DataView {
  return new DataView(words.buffer, words.byteOffset, words.byteLength);
}

/** What ordering needs for so many records; kept for the next block. */
function orderOf(count: number) {
  if (count > orderPlaces.length) [orderPlaces, orderKeys, ordered] = orderArrays(2 * count);
  return { places: orderPlaces, keys: orderKeys.subarray(0, count), ordered: ordered.subarray(0, count) };
}

/** Words of the record of a chunk. */
function recordWords(chunkBytes: number): number {
  return CHUNK_WORD + ((chunkBytes + 3) >>> 2);
}

function isTimeRange(firstMs: number, lastMs: number): boolean {
  return Number.isFinite(firstMs) && Number.isFinite(lastMs) && firstMs <= lastMs;
}
