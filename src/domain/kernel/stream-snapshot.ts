/**
 * A stream's record as packed bytes of a checkpoint:
 *
 *   count u8      values in the ring, 0..120
 *   present u24   bit i: the i-th of the record's 8-byte words is not zero (WORDS: the header but for place, tenant and partition; both peaks; SR_BEYOND_SINCE,
 *                 whose place is the first value's while the ring is that small)
 *   words         those that are not zero, 8 bytes each
 *   values        column of the ring's values, oldest first (domain/codec/sample-column.ts), when count > 0
 *   intervals     column of their intervals in ms
 *
 * A full ring of a 3-decimal random walk takes about 270 bytes instead of the 1,648 of its raw form: 96 of words, 160 of values, 8 of intervals; full mantissas
 * take 1,070. Every bit comes back, the statistics too, and they do not depend on where in the ring a value lies (the oldest comes back at
 * place 0), so the stream goes on as if it had never stopped. Packing takes about 2 us a stream, the columns in the kernel; the kernel unpacks in less than one.
 */

import { SCRATCH } from "../../core/layout/memory-map.ts";
import {
  FIRST_MAX,
  FLAG_PROFILE_MASK,
  SR_BEYOND_SINCE,
  SR_CHUNK_AT,
  SR_COUNT,
  SR_FLAGS,
  SR_HEAD,
  SR_MASK,
  SR_PARTITION,
  SR_PEAK_HIGH,
  SR_STATE_BYTES,
  SR_TENANT,
  SR_UNCHUNKED,
  WINDOW_MAX,
} from "../../core/layout/stream-record.ts";
import type { ByteWriter } from "../codec/byte-writer.ts";
import { COLUMN_BYTES_MAX, decodeColumn } from "../codec/sample-column.ts";
import type { ByteCursor } from "../codec/varint.ts";
import type { StreamRecords } from "./stream-records.ts";

const WORD_BYTES = 8;
/** Offsets in the record of the words that a snapshot holds. */
const WORDS = packedWords();
const PRESENT_BYTES = 3;
const MASK_BYTES = 16;
/** The word whose upper half are the flags; a stream's profile follows from settings, not from the snapshot. */
const FLAGS_WORD = SR_FLAGS - 4;
const SNAPSHOT_BYTES_MAX = 1 + PRESENT_BYTES + WORD_BYTES * WORDS.length + 2 * COLUMN_BYTES_MAX;

function packedWords(): readonly number[] {
  const header = Array.from({ length: SR_STATE_BYTES / WORD_BYTES }, (_, word) => word * WORD_BYTES);
  return [...header.filter((at) => at !== SR_COUNT && at !== SR_TENANT), SR_PEAK_HIGH, SR_BEYOND_SINCE];
}

if (SR_HEAD !== SR_COUNT + 4 || SR_PARTITION !== SR_TENANT + 4) throw new Error("place, tenant and partition are no whole words");
if (WORDS.length > 8 * PRESENT_BYTES) throw new Error("the words of a record do not fit a snapshot");

/** Contents of a snapshot, unpacked: the record's header, and its ring oldest first. Reused by the next `decode`. */
export class SnapshotReader {
  /** The record up to its values, with the peaks and SR_BEYOND_SINCE behind; place, tenant and partition are 0. */
  readonly header = new DataView(new ArrayBuffer(SR_STATE_BYTES + 2 * WORD_BYTES));
  readonly values = new Float64Array(WINDOW_MAX);
  /** Whole milliseconds of 32 bits. */
  readonly intervals = new Float64Array(WINDOW_MAX);
  count = 0;
  readonly #bytes = new Uint8Array(this.header.buffer);

  /** Reads a snapshot and moves the cursor behind it; false when the bytes are none. */
  decode(cursor: ByteCursor): boolean {
    return (
      this.decodeHeader(cursor) &&
      (this.count === 0 || (decodeColumn(cursor, this.values, this.count) && decodeColumn(cursor, this.intervals, this.count)))
    );
  }

  /** Reads all but the ring. */
  decodeHeader(cursor: ByteCursor): boolean {
    const { bytes, end } = cursor;
    if (cursor.at + 1 + PRESENT_BYTES > end) return false;
    const count = bytes[cursor.at] as number;
    const present = (bytes[cursor.at + 1] as number) | ((bytes[cursor.at + 2] as number) << 8) | ((bytes[cursor.at + 3] as number) << 16);
    cursor.at += 1 + PRESENT_BYTES;
    if (count > WINDOW_MAX || present >>> WORDS.length !== 0 || !this.#takeWords(cursor, present)) return false;
    this.count = count;
    // The kernel takes both as they stand, and would pack values that the ring has not.
    return this.header.getUint32(SR_UNCHUNKED, true) <= count && this.header.getUint8(SR_CHUNK_AT) <= WINDOW_MAX;
  }

  #takeWords(cursor: ByteCursor, present: number): boolean {
    this.#bytes.fill(0);
    for (let index = 0; index < WORDS.length; index++) {
      if (((present >>> index) & 1) === 0) continue;
      if (cursor.at + WORD_BYTES > cursor.end) return false;
      const to = headerIndex(WORDS[index] as number);
      for (let i = 0; i < WORD_BYTES; i++) this.#bytes[to + i] = cursor.bytes[cursor.at + i] as number;
      cursor.at += WORD_BYTES;
    }
    return true;
  }
}

/** The peaks, and the word after them, stand behind the header. */
function headerIndex(at: number): number {
  if (at === SR_BEYOND_SINCE) return SR_STATE_BYTES + WORD_BYTES;
  return at === SR_PEAK_HIGH ? SR_STATE_BYTES : at;
}

/** The kernel's part of it; see assembly/chunk/chunk-ring.ts and assembly/definition/shard-restore.ts. */
interface RingPacker {
  /** Writes a slot's ring as two columns and returns their bytes. */
  packRing(slot: number, pointer: number): number;
  /** Writes the snapshot at the address over a slot's record and ring and returns the address behind it; 0 when the bytes before `end` are none. */
  unpackStream(slot: number, pointer: number, end: number): number;
}

/** Packs and unpacks records of one memory, in the kernel's scratch area. */
export class StreamPacker {
  readonly #records: StreamRecords;
  readonly #kernel: RingPacker;
  readonly #memory: Uint8Array;
  readonly #slots: Uint32Array;
  readonly #mask = new Uint32Array(MASK_BYTES / 4);

  constructor(records: StreamRecords, kernel: RingPacker) {
    const { buffer } = records.view;
    this.#records = records;
    this.#kernel = kernel;
    this.#memory = new Uint8Array(buffer);
    this.#slots = new Uint32Array(buffer);
  }

  /** Appends the snapshot of a slot; its identity, tenant and partition are the caller's. */
  pack(slot: number, writer: ByteWriter): void {
    const count = this.#records.count(slot);
    writer.reserve(SNAPSHOT_BYTES_MAX);
    writer.bytes[writer.at++] = count;
    this.#packWords(slot, count, writer);
    if (count === 0) return;
    const bytes = this.#kernel.packRing(slot, SCRATCH);
    writer.copy(this.#memory.subarray(SCRATCH, SCRATCH + bytes));
  }

  #packWords(slot: number, count: number, writer: ByteWriter): void {
    const at = this.#records.address(slot);
    const presentAt = writer.at;
    writer.at += PRESENT_BYTES;
    let present = 0;
    this.#rotateMask(slot, count);
    for (let index = 0; index < WORDS.length; index++) {
      const offset = WORDS[index] as number;
      if (offset === SR_BEYOND_SINCE && count <= FIRST_MAX) continue;
      const inMask = offset >= SR_MASK && offset < SR_MASK + MASK_BYTES;
      const source = inMask ? this.#mask : this.#slots;
      const word = (inMask ? offset - SR_MASK : at + offset) >>> 2;
      const low = source[word] as number;
      const high = (source[word + 1] as number) & (offset === FLAGS_WORD ? ~FLAG_PROFILE_MASK : -1);
      if ((low | high) === 0) continue;
      present |= 1 << index;
      writer.view.setUint32(writer.at, low, true);
      writer.view.setUint32(writer.at + 4, high, true);
      writer.at += WORD_BYTES;
    }
    for (let i = 0; i < PRESENT_BYTES; i++) writer.bytes[presentAt + i] = present >>> (8 * i);
  }

  /** Fills #mask: bit i for the i-th value from the oldest. Masked values are rare. */
  #rotateMask(slot: number, count: number): void {
    const word = (this.#records.address(slot) + SR_MASK) >>> 2;
    const slots = this.#slots;
    this.#mask.fill(0);
    if (((slots[word] as number) | (slots[word + 1] as number) | (slots[word + 2] as number) | (slots[word + 3] as number)) === 0) return;
    const oldest = this.#oldest(slot, count);
    for (let i = 0; i < count; i++) {
      if (this.#records.isMasked(slot, (oldest + i) % WINDOW_MAX)) this.#mask[i >>> 5] = (this.#mask[i >>> 5] as number) | (1 << (i & 31));
    }
  }

  #oldest(slot: number, count: number): number {
    const head = this.#slots[(this.#records.address(slot) + SR_HEAD) >>> 2] as number;
    return (head + WINDOW_MAX - count) % WINDOW_MAX;
  }

  /**
   * Writes the snapshot at the cursor over a slot's record, but for its identity, hash, tenant, partition and profile, and moves the cursor. False when the bytes are
   * none; the slot is of no use then.
   */
  unpack(slot: number, cursor: ByteCursor): boolean {
    const bytes = cursor.bytes.subarray(cursor.at, Math.min(cursor.end, cursor.at + SNAPSHOT_BYTES_MAX));
    this.#memory.set(bytes, SCRATCH);
    const end = this.#kernel.unpackStream(slot, SCRATCH, SCRATCH + bytes.length);
    if (end === 0) return false;
    cursor.at += end - SCRATCH;
    return true;
  }
}
