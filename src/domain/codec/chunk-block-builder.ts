/**
 * Collects a partition's chunks until they make a block. What waits is one growing buffer of records (core/layout/chunk-record.ts), as the kernel
 * writes them, so that a chunk is copied once from the engine's memory, once into the block, and a checkpoint writes all of them as they are:
 *
 *   pending state: version u8 = 2, three zero bytes, count u32, then the records
 *
 * Little-endian; 36 bytes a chunk above its own. It has no checksum: the checkpoint around it has one.
 */

import { CR_CHUNK, CR_CHUNK_BYTES, CR_FIRST_TIME, CR_LAST_TIME, CR_STREAM } from "../../core/layout/chunk-record.ts";
import type { BlockChunk } from "./chunk-block.ts";
import { CHUNK_OVERHEAD_BYTES, chunkBlockBytes, compareStreams, encodeChunkBlock, STREAM_ID_BYTES } from "./chunk-block.ts";

const VERSION = 2;
const STATE_HEADER_BYTES = 8;
const CHUNK_BYTES_MAX = 0xffff;
const FIRST_BUFFER_BYTES = 4096;
/** Most bytes of waiting records: far above the 64 KiB at which a block is written, far below what its u32 places can say. */
const PENDING_BYTES_MAX = 64 * 1024 * 1024;
/** More records than can wait: 2^21 x 52 bytes. A stream's first word times this, plus a record's number, is an exact double. */
const RECORDS_END = 2 ** 21;
/** From here on a view and `set` take less time than a loop over words. */
const WORDS_FOR_SET = 128;
const CHUNK_WORD = CR_CHUNK / 4;
const LENGTH_WORD = CR_CHUNK_BYTES / 4;

/** A waiting chunk with the times of its first and last sample in milliseconds. */
export interface PendingChunk extends BlockChunk {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** The chunks of one partition that are not yet in a stored block. */
export class ChunkBlockBuilder {
  #words = new Uint32Array(FIRST_BUFFER_BYTES / 4);
  #view = new DataView(this.#words.buffer);
  #end = 0;
  #count = 0;
  #chunkBytes = 0;
  /** First words of the streams that have a chunk here. */
  readonly #streams = new Set<number>();

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
    const bytes = new Uint8Array(this.#words.buffer, 4 * at);
    bytes.set(streamId, CR_STREAM);
    this.#view.setFloat64(4 * at + CR_FIRST_TIME, firstMs, true);
    this.#view.setFloat64(4 * at + CR_LAST_TIME, lastMs, true);
    this.#view.setUint32(4 * at + CR_CHUNK_BYTES, chunk.length, true);
    bytes.set(chunk, CR_CHUNK);
    bytes.fill(0, CR_CHUNK + chunk.length, 4 * recordWords(chunk.length));
    this.#added(at);
  }

  /**
   * Copies a record that the kernel has written to the words from `from` on. Throws RangeError when more than 64 MiB wait. Small ones word by word: for
   * 160 bytes out of shared memory that takes half the time of a view and `set`, and leaves no view behind.
   */
  appendRecord(memory: Uint32Array, from: number): void {
    const count = recordWords(memory[from + LENGTH_WORD]!);
    const at = this.#grow(count);
    const words = this.#words;
    if (count >= WORDS_FOR_SET) words.set(memory.subarray(from, from + count), at);
    else for (let word = 0; word < count; word++) words[at + word] = memory[from + word]!;
    this.#added(at);
  }

  /**
   * Returns the block of all waiting chunks (at least one), behind `headRoom` (a multiple of four) bytes for the caller, and starts anew: at the beginning
   * of `room` where that is large enough, else in an array that the caller owns. Of one stream's chunks with equal first times the later keeps its place.
   */
  finish(headRoom = 0, room?: Uint8Array): Uint8Array {
    if (this.#count === 0) throw new RangeError("a block holds at least one chunk");
    const words = this.#words;
    const places = this.#orderedPlaces();
    let streams = 1;
    let minMs = Number.POSITIVE_INFINITY;
    let maxMs = Number.NEGATIVE_INFINITY;
    for (let index = 0; index < places.length; index++) {
      const place = places[index]!;
      if (index > 0 && compareStreams(words, places[index - 1]!, place) !== 0) streams++;
      minMs = Math.min(minMs, this.#view.getFloat64(4 * place + CR_FIRST_TIME, true));
      maxMs = Math.max(maxMs, this.#view.getFloat64(4 * place + CR_LAST_TIME, true));
    }
    const block = encodeChunkBlock({ words, places, streams, chunkBytes: this.#chunkBytes, minMs, maxMs }, headRoom, room);
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
        streamId: new Uint8Array(this.#words.buffer, 4 * at + CR_STREAM, STREAM_ID_BYTES),
        firstMs: this.#view.getFloat64(4 * at + CR_FIRST_TIME, true),
        lastMs: this.#view.getFloat64(4 * at + CR_LAST_TIME, true),
        chunk: new Uint8Array(this.#words.buffer, 4 * at + CR_CHUNK, bytes),
      };
      at += recordWords(bytes);
    }
  }

  /** Returns the waiting chunks as bytes for a checkpoint; the builder goes on as it was. */
  serialise(): Uint8Array {
    const state = new Uint8Array(STATE_HEADER_BYTES + 4 * this.#end);
    state[0] = VERSION;
    new DataView(state.buffer).setUint32(4, this.#count, true);
    state.set(new Uint8Array(this.#words.buffer, 0, 4 * this.#end), STATE_HEADER_BYTES);
    return state;
  }

  /** Returns a builder with the chunks that `serialise` wrote; undefined when the bytes are no such state. */
  static restore(state: Uint8Array): ChunkBlockBuilder | undefined {
    const recordBytes = state.length - STATE_HEADER_BYTES;
    if (recordBytes < 0 || recordBytes > PENDING_BYTES_MAX || recordBytes % 4 !== 0 || state[0] !== VERSION) return undefined;
    const builder = new ChunkBlockBuilder();
    const isWhole = builder.#adopt(state.subarray(STATE_HEADER_BYTES));
    const count = new DataView(state.buffer, state.byteOffset).getUint32(4, true);
    return isWhole && builder.#count === count ? builder : undefined;
  }

  /** Takes records over; false when they do not end where the bytes do or one has impossible times. */
  #adopt(records: Uint8Array): boolean {
    const at = this.#grow(records.length / 4);
    new Uint8Array(this.#words.buffer).set(records, 4 * at);
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
    this.#streams.add(this.#words[at]! | 0); // signed, so that it is no object
  }

  /** Where the records begin, by stream, first time and order of appending. A second sort is for late chunks and for ids that begin alike. */
  #orderedPlaces(): Uint32Array {
    const places = new Uint32Array(this.#count);
    const keys = new Float64Array(this.#count);
    for (let at = 0, index = 0; at < this.#end; index++) {
      places[index] = at;
      keys[index] = this.#words[at]! * RECORDS_END + index;
      at += recordWords(this.#words[at + LENGTH_WORD]!);
    }
    keys.sort();
    const ordered = new Uint32Array(this.#count);
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
      this.#view = new DataView(larger.buffer);
    }
    this.#end = at + by;
    return at;
  }
}

/** Words of the record of a chunk. */
function recordWords(chunkBytes: number): number {
  return CHUNK_WORD + ((chunkBytes + 3) >>> 2);
}

function isTimeRange(firstMs: number, lastMs: number): boolean {
  return Number.isFinite(firstMs) && Number.isFinite(lastMs) && firstMs <= lastMs;
}
