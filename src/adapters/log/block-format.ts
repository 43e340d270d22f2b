/**
 * A log segment is a plain file of blocks, nothing before, between or behind them. Little-endian; a block begins at a multiple of 8:
 *
 *    0  magic u32 "VLB3"
 *    4  crc32 u32 of bytes 8..48 and the payload
 *    8  payload bytes u32, at most 80 MiB
 *   12  kinds u32: flags of the caller
 *   16  admission f64: the front's number of what is in the block
 *   24  base f64: milliseconds that the payload's time offsets count from
 *   32  number u32: of the block in its writer's log, from 0
 *   36  rows u32: rows and records in the block
 *   40  rows before f64: of all blocks of the writer before it; with the number it says what is missing where blocks cannot be read
 *   48  payload, opaque here, then 0 to 7 zero bytes up to a multiple of 8, so that the reader's views of it are aligned
 *
 * Blocks "VLB2" of earlier versions have no number and no rows: their payload begins at 32. 16-byte rows at 2.4 M samples a second are 38 MB/s; the checksum takes about 0.2 ns a byte of that.
 */

import { crc32 } from "../../core/hashing/crc32.ts";

/** Bytes of a block before its payload. */
export const BLOCK_HEADER_BYTES = 48;
/** The same of an earlier version: no block takes fewer bytes. */
export const BLOCK_HEADER_BYTES_MIN = 32;
/** Largest payload: one 64 MiB body as rows, and room. A header that claims more is damage. */
export const BLOCK_PAYLOAD_BYTES_MAX = 80 * 1024 * 1024;
/** Alignment of every block's size and place. */
export const BLOCK_ALIGNMENT = 8;

const MAGIC = 0x33424c56; // "VLB3" read as a little-endian word
const MAGIC_BEFORE = 0x32424c56; // "VLB2"
const PADDING = new Uint8Array(BLOCK_ALIGNMENT);

/** Header fields that a writer's caller gives besides the payload; see the layout above. */
export interface LogBlockHeader {
  readonly admission: number;
  readonly baseMs: number;
  readonly kinds: number;
  readonly rows: number;
}

/** The place of a block among all of its writer. */
export interface BlockPosition {
  readonly number: number;
  readonly rowsBefore: number;
}

/** A header as it is read; a block of an earlier version has no place. */
export interface StoredBlockHeader extends LogBlockHeader {
  readonly position: BlockPosition | null;
}

/** Sizes of the parts of a block. */
export interface BlockSize {
  readonly headerBytes: number;
  readonly payloadBytes: number;
  /** With its padding. */
  readonly bytes: number;
}

/** Place in one writer's log: a byte offset in a segment, always the end of a block or the beginning of the segment. */
export interface LogPosition {
  readonly segment: number;
  readonly offset: number;
}

/** Returns the bytes of a block with such a payload, padding included. */
export function blockBytes(payloadBytes: number, headerBytes = BLOCK_HEADER_BYTES): number {
  return headerBytes + Math.ceil(payloadBytes / BLOCK_ALIGNMENT) * BLOCK_ALIGNMENT;
}

/** Returns the zero bytes that follow such a payload. */
export function blockPadding(payloadBytes: number): Uint8Array {
  return PADDING.subarray(0, blockBytes(payloadBytes) - BLOCK_HEADER_BYTES - payloadBytes);
}

/** Fills the first bytes of `into` with the header of a block whose payload is `parts` one after another. */
export function writeBlockHeader(into: Uint8Array, header: LogBlockHeader & BlockPosition, parts: ReadonlyArray<Uint8Array>): void {
  const view = new DataView(into.buffer, into.byteOffset, BLOCK_HEADER_BYTES);
  let payloadBytes = 0;
  for (const part of parts) payloadBytes += part.length;
  view.setUint32(0, MAGIC, true);
  view.setUint32(8, payloadBytes, true);
  view.setUint32(12, header.kinds, true);
  view.setFloat64(16, header.admission, true);
  view.setFloat64(24, header.baseMs, true);
  view.setUint32(32, header.number, true);
  view.setUint32(36, header.rows, true);
  view.setFloat64(40, header.rowsBefore, true);
  let checksum = crc32(into.subarray(8, BLOCK_HEADER_BYTES));
  for (const part of parts) checksum = crc32(part, checksum);
  view.setUint32(4, checksum, true);
}

/** Returns the sizes that the header at `at` claims; undefined where there is no header. At least BLOCK_HEADER_BYTES_MIN bytes must be there. */
export function readBlockSize(bytes: Uint8Array, at: number): BlockSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, BLOCK_HEADER_BYTES_MIN);
  const magic = view.getUint32(0, true);
  const payloadBytes = view.getUint32(8, true);
  if ((magic !== MAGIC && magic !== MAGIC_BEFORE) || payloadBytes > BLOCK_PAYLOAD_BYTES_MAX) return undefined;
  const headerBytes = magic === MAGIC ? BLOCK_HEADER_BYTES : BLOCK_HEADER_BYTES_MIN;
  return { headerBytes, payloadBytes, bytes: blockBytes(payloadBytes, headerBytes) };
}

/** Reads the header at `at` of a block that lies wholly in `bytes`; undefined when its checksum is wrong. */
export function readBlockHeader(bytes: Uint8Array, at: number, { headerBytes, payloadBytes }: BlockSize): StoredBlockHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, headerBytes);
  if (view.getUint32(4, true) !== crc32(bytes.subarray(at + 8, at + headerBytes + payloadBytes))) return undefined;
  const hasPosition = headerBytes === BLOCK_HEADER_BYTES;
  return {
    kinds: view.getUint32(12, true),
    admission: view.getFloat64(16, true),
    baseMs: view.getFloat64(24, true),
    rows: hasPosition ? view.getUint32(36, true) : 0,
    position: hasPosition ? { number: view.getUint32(32, true), rowsBefore: view.getFloat64(40, true) } : null,
  };
}
