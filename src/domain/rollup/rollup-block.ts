/**
 * A roll-up block: hours of many streams of one partition in one stored value, 32 KiB or more. Little-endian.
 *
 *    0  version u8 = 1, three zero bytes
 *    4  count u32, at least 1
 *    8  first hour u32, last hour u32 (since 1970)
 *   16  count entries of 20 bytes, ordered by (stream, first hour): stream 16 bytes, offset u32 in the area
 *    .  the pieces (hour-column.ts) in the order of the entries, each up to where the next begins
 *    .  crc32 u32 of everything before
 */

import { firstIndex } from "../../core/collections/sorted-search.ts";
import { crc32 } from "../../core/hashing/crc32.ts";
import { STREAM_ID_BYTES } from "../codec/chunk-block.ts";
import { compareKeys } from "../codec/key.ts";

const VERSION = 1;
const HEADER_BYTES = 16;
const ENTRY_BYTES = STREAM_ID_BYTES + 4;
const CHECKSUM_BYTES = 4;

/** One piece to be placed into a block; pieces come ordered by (stream, first hour). */
export interface RollupPiece {
  readonly streamId: Uint8Array;
  readonly bytes: Uint8Array;
}

/** Encodes at least one piece as a block that the caller owns. */
export function encodeRollupBlock(pieces: readonly RollupPiece[], firstHour: number, lastHour: number): Uint8Array {
  if (pieces.length === 0) throw new RangeError("a roll-up block holds at least one piece");
  const area = HEADER_BYTES + ENTRY_BYTES * pieces.length;
  const block = new Uint8Array(pieces.reduce((sum, { bytes }) => sum + bytes.length, area) + CHECKSUM_BYTES);
  const view = new DataView(block.buffer);
  block[0] = VERSION;
  view.setUint32(4, pieces.length, true);
  view.setUint32(8, firstHour, true);
  view.setUint32(12, lastHour, true);
  let offset = 0;
  pieces.forEach(({ streamId, bytes }, index) => {
    const at = HEADER_BYTES + ENTRY_BYTES * index;
    block.set(streamId, at);
    view.setUint32(at + STREAM_ID_BYTES, offset, true);
    block.set(bytes, area + offset);
    offset += bytes.length;
  });
  view.setUint32(block.length - CHECKSUM_BYTES, crc32(block.subarray(0, block.length - CHECKSUM_BYTES)), true);
  return block;
}

/** Reads a block in place: every piece it yields is a view of the bytes it was opened on. */
export class RollupBlock {
  /** Number of pieces. */
  readonly count: number;
  readonly firstHour: number;
  readonly lastHour: number;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  private constructor(bytes: Uint8Array, view: DataView, count: number) {
    this.#bytes = bytes;
    this.#view = view;
    this.count = count;
    this.firstHour = view.getUint32(8, true);
    this.lastHour = view.getUint32(12, true);
  }

  /** Opens a block; undefined when the checksum, the version or the directory is wrong. */
  static open(bytes: Uint8Array): RollupBlock | undefined {
    if (bytes.length < HEADER_BYTES + ENTRY_BYTES + CHECKSUM_BYTES || bytes[0] !== VERSION) return undefined;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const end = bytes.length - CHECKSUM_BYTES;
    if (view.getUint32(end, true) !== crc32(bytes.subarray(0, end))) return undefined;
    const count = view.getUint32(4, true);
    if (count === 0 || HEADER_BYTES + ENTRY_BYTES * count > end) return undefined;
    const block = new RollupBlock(bytes, view, count);
    return block.#hasOrderedOffsets() ? block : undefined;
  }

  get firstStream(): Uint8Array {
    return this.#streamId(0);
  }

  get lastStream(): Uint8Array {
    return this.#streamId(this.count - 1);
  }

  /** Yields the pieces of one stream, by first hour. */
  *piecesOf(streamId: Uint8Array): Generator<Uint8Array> {
    for (let index = this.#lowerBound(streamId); index < this.count; index++) {
      if (compareKeys(this.#streamId(index), streamId) !== 0) return;
      yield this.#bytes.subarray(this.#offset(index), this.#offset(index + 1));
    }
  }

  #streamId(index: number): Uint8Array {
    const at = HEADER_BYTES + ENTRY_BYTES * index;
    return this.#bytes.subarray(at, at + STREAM_ID_BYTES);
  }

  /** Place of a piece in the block; of the one behind the last, the end of the area. */
  #offset(index: number): number {
    if (index === this.count) return this.#bytes.length - CHECKSUM_BYTES;
    const area = HEADER_BYTES + ENTRY_BYTES * this.count;
    return area + this.#view.getUint32(HEADER_BYTES + ENTRY_BYTES * index + STREAM_ID_BYTES, true);
  }

  #hasOrderedOffsets(): boolean {
    for (let index = 0; index < this.count; index++) if (this.#offset(index) > this.#offset(index + 1)) return false;
    return true;
  }

  #lowerBound(streamId: Uint8Array): number {
    return firstIndex(0, this.count, (index) => compareKeys(this.#streamId(index), streamId) < 0);
  }
}
