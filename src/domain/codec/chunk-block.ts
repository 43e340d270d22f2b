/**
 * A block: sample chunks of many streams of one partition in one stored value, 64 KiB or more. Little-endian.
 *
 *    0  version u8 = 1, three zero bytes
 *    4  count u32, at least 1
 *    8  earliest first time f64 ms        16  latest last time f64 ms        24  time unit f64 ms (1, or more where the span passes 2^32 ms)
 *   32  count entries of 28 bytes, ordered by (stream, first time), then order of appending:
 *         stream 16 bytes, first u32, last u32 (units since the earliest time, rounded outwards), offset u32 in the chunk area
 *    .  the chunks in the order of the entries, each up to where the next begins
 *    .  crc32 u32 of everything before
 *
 * The directory costs 28 bytes a chunk: 0.23 a sample at 120 samples a chunk.
 */

import { crc32 } from "../../core/base/crc32.ts";
import { compareKeys } from "./key.ts";

/** Bytes of a stream id in a block. */
export const STREAM_ID_BYTES = 16;

const VERSION = 1;
const HEADER_BYTES = 32;
const ENTRY_BYTES = 28;
const CHECKSUM_BYTES = 4;
const UNITS_MAX = 0xffff_fffe;

/** One chunk to be placed into a block; the arrays are read, not kept. */
export interface BlockChunk {
  readonly streamId: Uint8Array;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly chunk: Uint8Array;
}

/** Returns how many bytes a block of `count` chunks with `chunkBytes` in all takes. */
export function chunkBlockBytes(count: number, chunkBytes: number): number {
  return HEADER_BYTES + ENTRY_BYTES * count + chunkBytes + CHECKSUM_BYTES;
}

/** Encodes at least one chunk as a block that the caller owns; of one stream's chunks with equal first times the later keeps its place. */
export function encodeChunkBlock(chunks: ReadonlyArray<BlockChunk>): Uint8Array {
  if (chunks.length === 0) throw new RangeError("a block holds at least one chunk");
  const ordered = [...chunks].sort((a, b) => compareKeys(a.streamId, b.streamId) || a.firstMs - b.firstMs);
  const block = new Uint8Array(
    chunkBlockBytes(
      chunks.length,
      ordered.reduce((sum, each) => sum + each.chunk.length, 0),
    ),
  );
  const view = new DataView(block.buffer);
  const scale = timeScale(chunks);
  block[0] = VERSION;
  view.setUint32(4, chunks.length, true);
  view.setFloat64(8, scale.minMs, true);
  view.setFloat64(16, scale.maxMs, true);
  view.setFloat64(24, scale.unitMs, true);
  placeChunks(block, view, ordered, scale);
  view.setUint32(block.length - CHECKSUM_BYTES, crc32(block.subarray(0, block.length - CHECKSUM_BYTES)), true);
  return block;
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

  private constructor(bytes: Uint8Array, view: DataView, count: number) {
    this.#bytes = bytes;
    this.#view = view;
    this.count = count;
    this.minMs = view.getFloat64(8, true);
    this.maxMs = view.getFloat64(16, true);
  }

  /** Opens a block; undefined when the checksum, the version or the directory is wrong. */
  static open(bytes: Uint8Array): ChunkBlock | undefined {
    if (bytes.length < chunkBlockBytes(1, 0) || bytes[0] !== VERSION) return undefined;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const body = bytes.subarray(0, bytes.length - CHECKSUM_BYTES);
    if (view.getUint32(body.length, true) !== crc32(body)) return undefined;
    const count = view.getUint32(4, true);
    if (count === 0 || chunkBlockBytes(count, 0) > bytes.length) return undefined;
    const block = new ChunkBlock(bytes, view, count);
    return block.#hasOrderedOffsets() ? block : undefined;
  }

  /** Yields all chunks, stream by stream, by first time; their times are rounded outwards by less than the time unit, usually 1 ms. */
  *chunks(): Generator<BlockChunk> {
    for (let index = 0; index < this.count; index++) yield this.#chunk(index);
  }

  /** Yields the chunks of one stream that may hold samples of [fromMs, toMs), by first time. */
  *chunksOf(streamId: Uint8Array, fromMs: number, toMs: number): Generator<BlockChunk> {
    for (let index = this.#lowerBound(streamId); index < this.count; index++) {
      if (compareKeys(this.#streamId(index), streamId) !== 0) return;
      const chunk = this.#chunk(index);
      if (chunk.firstMs >= toMs) return;
      if (chunk.lastMs >= fromMs) yield chunk;
    }
  }

  #chunk(index: number): BlockChunk {
    const at = HEADER_BYTES + ENTRY_BYTES * index;
    const unitMs = this.#view.getFloat64(24, true);
    return {
      streamId: this.#streamId(index),
      firstMs: this.minMs + this.#view.getUint32(at + 16, true) * unitMs,
      lastMs: this.minMs + this.#view.getUint32(at + 20, true) * unitMs,
      chunk: this.#bytes.subarray(this.#offset(index), this.#offset(index + 1)),
    };
  }

  #streamId(index: number): Uint8Array {
    const at = HEADER_BYTES + ENTRY_BYTES * index;
    return this.#bytes.subarray(at, at + STREAM_ID_BYTES);
  }

  /** Place of a chunk in the block; of the one behind the last, the end of the chunk area. */
  #offset(index: number): number {
    if (index === this.count) return this.#bytes.length - CHECKSUM_BYTES;
    const area = HEADER_BYTES + ENTRY_BYTES * this.count;
    return area + this.#view.getUint32(HEADER_BYTES + ENTRY_BYTES * index + 24, true);
  }

  #hasOrderedOffsets(): boolean {
    for (let index = 0; index < this.count; index++) if (this.#offset(index) > this.#offset(index + 1)) return false;
    return this.#offset(0) === HEADER_BYTES + ENTRY_BYTES * this.count;
  }

  #lowerBound(streamId: Uint8Array): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeys(this.#streamId(middle), streamId) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

interface TimeScale {
  readonly minMs: number;
  readonly maxMs: number;
  readonly unitMs: number;
}

function timeScale(chunks: ReadonlyArray<BlockChunk>): TimeScale {
  let minMs = Number.POSITIVE_INFINITY;
  let maxMs = Number.NEGATIVE_INFINITY;
  for (const chunk of chunks) {
    minMs = Math.min(minMs, chunk.firstMs);
    maxMs = Math.max(maxMs, chunk.lastMs);
  }
  return { minMs, maxMs, unitMs: Math.max(1, Math.ceil((maxMs - minMs) / UNITS_MAX)) };
}

function placeChunks(block: Uint8Array, view: DataView, ordered: ReadonlyArray<BlockChunk>, scale: TimeScale): void {
  const area = HEADER_BYTES + ENTRY_BYTES * ordered.length;
  let offset = 0;
  ordered.forEach(({ streamId, firstMs, lastMs, chunk }, index) => {
    const at = HEADER_BYTES + ENTRY_BYTES * index;
    block.set(streamId, at);
    view.setUint32(at + 16, unitsBelow(firstMs, scale), true);
    view.setUint32(at + 20, unitsAbove(lastMs, scale), true);
    view.setUint32(at + 24, offset, true);
    block.set(chunk, area + offset);
    offset += chunk.length;
  });
}

// The second comparison undoes what rounding of the difference may have added: the stored range must never be too narrow.
function unitsBelow(ms: number, { minMs, unitMs }: TimeScale): number {
  const units = Math.floor((ms - minMs) / unitMs);
  return minMs + units * unitMs > ms ? units - 1 : units;
}

function unitsAbove(ms: number, { minMs, unitMs }: TimeScale): number {
  const units = Math.ceil((ms - minMs) / unitMs);
  return minMs + units * unitMs < ms ? units + 1 : units;
}
