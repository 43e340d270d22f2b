/**
 * A block: sample chunks of many streams of one partition in one stored value, 64 KiB. Little-endian.
 *
 *    0  version u8 = 2, three zero bytes
 *    4  number of chunks u32, at least 1      8  number of streams u32      12  zero u32
 *   16  earliest first time f64 ms            24  latest last time f64 ms
 *   32  the streams, 20 bytes each, ordered by id (as four u32): id 16 bytes, u32 place in the chunk area behind the stream's last chunk
 *    .  the chunk area: for each stream in order its chunks by first time, then order of appending: {bytes u16, chunk}
 *    .  crc32 u32 of everything before
 *
 * A chunk says itself when it begins, and the area of a stream is read as a whole: a chunk costs 2 bytes above its own, a stream 20. With 100
 * streams in a partition, 120 samples of a 3-decimal walk each come to 1.46 bytes a sample, of which 1.24 are the walk's own bits.
 */

import { crc32 } from "../../core/hashing/crc32.ts";
import {
  CB_CHUNKS,
  CB_MAX_TIME,
  CB_MIN_TIME,
  CB_STREAMS,
  CB_VERSION,
  CB_CHECKSUM_BYTES as CHECKSUM_BYTES,
  CB_HEADER_BYTES as HEADER_BYTES,
  CB_LENGTH_BYTES as LENGTH_BYTES,
  CB_STREAM_BYTES as STREAM_BYTES,
  CB_VERSION_NOW as VERSION,
} from "../../core/layout/chunk-block.ts";
import { CR_CHUNK, CR_CHUNK_BYTES, CR_FIRST_TIME, CR_LAST_TIME, CR_STREAM } from "../../core/layout/chunk-record.ts";

/** Bytes of a stream id in a block. */
export const STREAM_ID_BYTES = 16;

/** The text of a stream's id, as a key. */
export function idText(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString("latin1");
}

/** One of ids that lie one behind the other; a view. */
export function idAt(ids: Uint8Array, index: number): Uint8Array {
  return ids.subarray(index * STREAM_ID_BYTES, (index + 1) * STREAM_ID_BYTES);
}

/** Size of a chunk in a block besides its own bytes, at most: when it is the first of its stream. */
export const CHUNK_OVERHEAD_BYTES = 22;

// Of a record, in words.
const STREAM_WORD = CR_STREAM / 4;
export const LENGTH_WORD = CR_CHUNK_BYTES / 4;
export const CHUNK_WORD = CR_CHUNK / 4;

export interface BlockChunk {
  readonly streamId: Uint8Array;
  readonly chunk: Uint8Array;
}

/** Chunks that are to make a block, as records (core/layout/chunk-record.ts). */
export interface ChunkRecords {
  readonly uint32s: Uint32Array;
  /** Where each record begins, in words, in the order of the block; valid during the call alone. */
  readonly places: Uint32Array;
  readonly chunkBytes: number;
}

/** Encodes at least one record as a block, behind `headBytes` (a multiple of four) bytes that are left to the caller. */
export type BlockEncoder = (records: ChunkRecords, headBytes: number) => Uint8Array;

/** Returns how many bytes a block of `count` chunks of so many streams with `chunkBytes` in all takes. */
export function chunkBlockBytes(count: number, streams: number, chunkBytes: number): number {
  return HEADER_BYTES + STREAM_BYTES * streams + LENGTH_BYTES * count + chunkBytes + CHECKSUM_BYTES;
}

/** A BlockEncoder that makes an array for the block. Those that lie where the kernel packs them are encoded by it (domain/kernel/chunk-block-kernel.ts), byte for byte the same. */
export function encodeChunkBlock(records: ChunkRecords, headBytes: number): Uint8Array {
  const { uint32s: slots, places, chunkBytes } = records;
  const times = new DataView(slots.buffer, slots.byteOffset, slots.byteLength);
  let streams = 1;
  let minMs = Number.POSITIVE_INFINITY;
  let maxMs = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < places.length; index++) {
    const position = places[index]!;
    if (index > 0 && compareStreams(slots, places[index - 1]!, position) !== 0) streams++;
    minMs = Math.min(minMs, times.getFloat64(4 * position + CR_FIRST_TIME, true));
    maxMs = Math.max(maxMs, times.getFloat64(4 * position + CR_LAST_TIME, true));
  }
  const bytes = new Uint8Array(headBytes + chunkBlockBytes(places.length, streams, chunkBytes));
  const block = bytes.subarray(headBytes);
  const view = new DataView(bytes.buffer, headBytes);
  view.setUint32(CB_VERSION, VERSION, true);
  view.setUint32(CB_CHUNKS, places.length, true);
  view.setUint32(CB_STREAMS, streams, true);
  view.setFloat64(CB_MIN_TIME, minMs, true);
  view.setFloat64(CB_MAX_TIME, maxMs, true);
  writeChunks(view, block, records, streams);
  const end = block.length - CHECKSUM_BYTES;
  view.setUint32(end, crc32(block.subarray(0, end)), true);
  return bytes;
}

/** Reads a block in place: every chunk it yields is a view of the bytes it was opened on. */
export class ChunkBlock {
  /** Number of chunks. */
  readonly count: number;
  /** Earliest first time and latest last time of its chunks in milliseconds, exact. */
  readonly minMs: number;
  readonly maxMs: number;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #streams: number;

  private constructor(bytes: Uint8Array, view: DataView, count: number, streams: number) {
    this.#bytes = bytes;
    this.#view = view;
    this.#streams = streams;
    this.count = count;
    this.minMs = view.getFloat64(CB_MIN_TIME, true);
    this.maxMs = view.getFloat64(CB_MAX_TIME, true);
  }

  /** Opens a block; undefined when the checksum, the version or the structure is wrong. */
  static open(bytes: Uint8Array): ChunkBlock | undefined {
    const block = ChunkBlock.openUnchecked(bytes);
    const end = bytes.length - CHECKSUM_BYTES;
    return block !== undefined && block.#view.getUint32(end, true) === crc32(bytes.subarray(0, end)) ? block : undefined;
  }

  /** The same for bytes that have not left the process since they were encoded: the checksum is not taken again. */
  static openUnchecked(bytes: Uint8Array): ChunkBlock | undefined {
    if (bytes.length < chunkBlockBytes(1, 1, 0) || bytes[0] !== VERSION) return undefined;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const count = view.getUint32(CB_CHUNKS, true);
    const streams = view.getUint32(CB_STREAMS, true);
    if (streams === 0 || chunkBlockBytes(count, streams, 0) > bytes.length) return undefined;
    const block = new ChunkBlock(bytes, view, count, streams);
    return block.#countChunks() === count ? block : undefined;
  }

  /** Yields all chunks, stream by stream, by first time. */
  *chunks(): Generator<BlockChunk> {
    for (let index = 0; index < this.#streams; index++) yield* this.#chunksAt(index);
  }

  /** Yields the chunks of one stream by first time. */
  *chunksOf(streamId: Uint8Array): Generator<BlockChunk> {
    const wanted = new DataView(streamId.buffer, streamId.byteOffset, STREAM_ID_BYTES);
    let low = 0;
    let high = this.#streams;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = compareIds(this.#view, HEADER_BYTES + STREAM_BYTES * middle, wanted);
      if (order === 0) return yield* this.#chunksAt(middle);
      if (order < 0) low = middle + 1;
      else high = middle;
    }
  }

  *#chunksAt(index: number): Generator<BlockChunk> {
    const at = HEADER_BYTES + STREAM_BYTES * index;
    const streamId = this.#bytes.subarray(at, at + STREAM_ID_BYTES);
    const end = this.#areaEnd(index);
    for (let next = this.#areaEnd(index - 1); next < end; ) {
      const from = next + LENGTH_BYTES;
      next = from + this.#view.getUint16(next, true);
      yield { streamId, chunk: this.#bytes.subarray(from, next) };
    }
  }

  /** Place in the block behind the last chunk of a stream; of the one before the first, where the chunk area begins. */
  #areaEnd(index: number): number {
    const area = HEADER_BYTES + STREAM_BYTES * this.#streams;
    return index < 0 ? area : area + this.#view.getUint32(HEADER_BYTES + STREAM_BYTES * index + STREAM_ID_BYTES, true);
  }

  /** Counts the chunks; -1 where they do not end where their stream does, or the last stream not where the block does. */
  #countChunks(): number {
    const areaEnd = this.#bytes.length - CHECKSUM_BYTES;
    let count = 0;
    let next = this.#areaEnd(-1);
    for (let index = 0; index < this.#streams; index++) {
      const end = this.#areaEnd(index);
      if (end > areaEnd || next >= end) return -1;
      for (; next + LENGTH_BYTES < end; count++) next += LENGTH_BYTES + this.#view.getUint16(next, true);
      if (next !== end) return -1;
    }
    return next === areaEnd ? count : -1;
  }
}

function compareIds(view: DataView, at: number, wanted: DataView): number {
  for (let byte = 0; byte < STREAM_ID_BYTES; byte += 4) {
    const order = view.getUint32(at + byte, true) - wanted.getUint32(byte, true);
    if (order !== 0) return order;
  }
  return 0;
}

/** Writes the streams and the chunk area. */
function writeChunks(view: DataView, block: Uint8Array, { uint32s: slots, places }: ChunkRecords, streams: number): void {
  const area = HEADER_BYTES + STREAM_BYTES * streams;
  let stream = HEADER_BYTES - STREAM_BYTES;
  let next = area;
  let previous = -1;
  for (const index of places) {
    if (previous < 0 || compareStreams(slots, previous, index) !== 0) {
      stream += STREAM_BYTES;
      for (let word = 0; word < 4; word++) view.setUint32(stream + 4 * word, slots[index + STREAM_WORD + word]!, true);
    }
    const bytes = slots[index + LENGTH_WORD]!;
    view.setUint16(next, bytes, true);
    next += LENGTH_BYTES;
    block.set(new Uint8Array(slots.buffer, slots.byteOffset + 4 * (index + CHUNK_WORD), bytes), next);
    next += bytes;
    view.setUint32(stream + STREAM_ID_BYTES, next - area, true);
    previous = index;
  }
}

/** Order of the streams of two records, as blocks have it. */
export function compareStreams(slots: Uint32Array, a: number, b: number): number {
  for (let word = STREAM_WORD; word < STREAM_WORD + 4; word++) {
    const order = slots[a + word]! - slots[b + word]!;
    if (order !== 0) return order;
  }
  return 0;
}
