/**
 * Collects a partition's chunks until they make a block. What waits is one growing buffer of records, so that a checkpoint writes it as it is:
 *
 *   pending state: version u8 = 1, count u32, then a record for each chunk: stream 16 bytes, first f64 ms, last f64 ms, length u16, chunk
 *
 * Little-endian; 34 bytes a chunk above its own. It has no checksum: the checkpoint around it has one.
 */

import type { BlockChunk } from "./chunk-block.ts";
import { chunkBlockBytes, encodeChunkBlock, STREAM_ID_BYTES } from "./chunk-block.ts";

const VERSION = 1;
const STATE_HEADER_BYTES = 5;
const RECORD_HEADER_BYTES = STREAM_ID_BYTES + 8 + 8 + 2;
const CHUNK_BYTES_MAX = 0xffff;
const FIRST_BUFFER_BYTES = 4096;
/** Most bytes of waiting records: far above the 64 KiB at which a block is written, far below what its u32 offsets can say. */
const PENDING_BYTES_MAX = 64 * 1024 * 1024;

/** The chunks of one partition that are not yet in a stored block. */
export class ChunkBlockBuilder {
  #records = new Uint8Array(FIRST_BUFFER_BYTES);
  #recordBytes = 0;
  #count = 0;

  /** Number of chunks waiting. */
  get count(): number {
    return this.#count;
  }

  /** Bytes of the block that `finish` would return now. */
  get byteLength(): number {
    return chunkBlockBytes(this.#count, this.#recordBytes - RECORD_HEADER_BYTES * this.#count);
  }

  /**
   * Copies a chunk (1 to 65,535 bytes) of a stream (16 bytes) with the times of its first and last sample in milliseconds.
   * Throws RangeError on sizes or times out of range and when more than 64 MiB wait.
   */
  append(streamId: Uint8Array, chunk: Uint8Array, firstMs: number, lastMs: number): void {
    if (streamId.length !== STREAM_ID_BYTES) throw new RangeError(`a stream id has ${STREAM_ID_BYTES} bytes`);
    if (chunk.length === 0 || chunk.length > CHUNK_BYTES_MAX) throw new RangeError(`a chunk has 1 to ${CHUNK_BYTES_MAX} bytes`);
    if (!isTimeRange(firstMs, lastMs)) throw new RangeError("a chunk's times are finite and in order");
    const at = this.#grow(RECORD_HEADER_BYTES + chunk.length);
    const view = new DataView(this.#records.buffer, at);
    this.#records.set(streamId, at);
    view.setFloat64(16, firstMs, true);
    view.setFloat64(24, lastMs, true);
    view.setUint16(32, chunk.length, true);
    this.#records.set(chunk, at + RECORD_HEADER_BYTES);
    this.#count += 1;
  }

  /** Returns the block of all waiting chunks (at least one), which the caller owns, and starts anew. */
  finish(): Uint8Array {
    const block = encodeChunkBlock([...readRecords(this.#records.subarray(0, this.#recordBytes))]);
    this.#records = new Uint8Array(FIRST_BUFFER_BYTES);
    this.#recordBytes = 0;
    this.#count = 0;
    return block;
  }

  /** Yields the waiting chunks in order of appending, as views that are valid until the next append or finish. */
  pending(): Generator<BlockChunk> {
    return readRecords(this.#records.subarray(0, this.#recordBytes));
  }

  /** Returns the waiting chunks as bytes for a checkpoint; the builder goes on as it was. */
  serialise(): Uint8Array {
    const state = new Uint8Array(STATE_HEADER_BYTES + this.#recordBytes);
    state[0] = VERSION;
    new DataView(state.buffer).setUint32(1, this.#count, true);
    state.set(this.#records.subarray(0, this.#recordBytes), STATE_HEADER_BYTES);
    return state;
  }

  /** Returns a builder with the chunks that `serialise` wrote; undefined when the bytes are no such state. */
  static restore(state: Uint8Array): ChunkBlockBuilder | undefined {
    if (state.length < STATE_HEADER_BYTES || state[0] !== VERSION) return undefined;
    const records = state.subarray(STATE_HEADER_BYTES);
    const count = countRecords(records);
    if (count !== new DataView(state.buffer, state.byteOffset).getUint32(1, true) || records.length > PENDING_BYTES_MAX) return undefined;
    const builder = new ChunkBlockBuilder();
    const at = builder.#grow(records.length); // by itself: it may replace the buffer that is written to
    builder.#records.set(records, at);
    builder.#count = count;
    return builder;
  }

  /** Makes room for so many bytes more and returns where they begin. */
  #grow(by: number): number {
    const at = this.#recordBytes;
    if (at + by > PENDING_BYTES_MAX) throw new RangeError(`at most ${PENDING_BYTES_MAX} bytes of chunks may wait for a block`);
    if (at + by > this.#records.length) {
      const larger = new Uint8Array(Math.max(2 * this.#records.length, at + by));
      larger.set(this.#records.subarray(0, at));
      this.#records = larger;
    }
    this.#recordBytes = at + by;
    return at;
  }
}

/** Counts the records; undefined when they do not end where the bytes do or one has impossible times. */
function countRecords(records: Uint8Array): number | undefined {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
  let count = 0;
  let at = 0;
  while (at < records.length) {
    if (records.length - at < RECORD_HEADER_BYTES) return undefined;
    const chunkBytes = view.getUint16(at + 32, true);
    if (chunkBytes === 0 || !isTimeRange(view.getFloat64(at + 16, true), view.getFloat64(at + 24, true))) return undefined;
    at += RECORD_HEADER_BYTES + chunkBytes;
    count += 1;
  }
  return at === records.length ? count : undefined;
}

function* readRecords(records: Uint8Array): Generator<BlockChunk> {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
  for (let at = 0; at < records.length; ) {
    const end = at + RECORD_HEADER_BYTES + view.getUint16(at + 32, true);
    yield {
      streamId: records.subarray(at, at + STREAM_ID_BYTES),
      firstMs: view.getFloat64(at + 16, true),
      lastMs: view.getFloat64(at + 24, true),
      chunk: records.subarray(at + RECORD_HEADER_BYTES, end),
    };
    at = end;
  }
}

function isTimeRange(firstMs: number, lastMs: number): boolean {
  return Number.isFinite(firstMs) && Number.isFinite(lastMs) && firstMs <= lastMs;
}
