/**
 * A chunk: 1 to 255 samples of one stream, usually one full turn of its ring of recent values.
 *
 *   count u8, column of times, column of values (sample-column.ts)
 *
 * or, since values are kept as they were sent (core/layout/chunk-form.ts has the bits):
 *
 *   0 u8, form u8, of counted values {the cumulative value that the first was measured from, gap varint}, then the same
 *
 * What a counter's chunk holds is its deltas, for detection; their sums behind that value are what was sent. Where they are not, as where counting
 * began anew, and where nothing was judged, as of a NaN or of a late value of a counter, a chunk of another form has the value itself.
 *
 * 120 samples of a 3-decimal random walk at a constant interval take about 168 bytes: 1.4 a sample, of which the times are 0.1.
 * A constant interval and a constant value cost nothing beyond the header; one sample takes 12 to 21 bytes; the worst case is 16.01 a sample.
 *
 * Whole rings are encoded by the kernel (domain/kernel/assembly/chunk/chunk-ring.ts), byte for byte as here; this is its slow twin, and what
 * encodes single values.
 */

import {
  CHUNK_HAS_FORM,
  FORM_ANCHOR_INTEGER,
  FORM_COUNTED,
  FORM_DELTAS,
  FORM_SENT,
  GAP_ADDED,
  GAP_NONE,
  GAP_STEP,
} from "../../core/layout/chunk-form.ts";
import { COLUMN_BYTES_MAX, COLUMN_SAMPLES_MAX, decodeColumn, encodeColumn, INTEGER_END } from "./sample-column.ts";
import { type ByteCursor, readVarint, unzigzag, writeVarint, zigzag } from "./varint.ts";

/** Most samples in one chunk. */
export const CHUNK_SAMPLES_MAX = COLUMN_SAMPLES_MAX;
/** Room that `encodeSampleChunk` needs behind `at`; a finished chunk is at most 5 + 16 x count bytes. */
export const CHUNK_BYTES_MAX = 19 + 2 * COLUMN_BYTES_MAX;

const PLAIN_BYTES_MAX = 1 + 2 * COLUMN_BYTES_MAX;
const FORM_HEADER_BYTES = 2;
const NUMBER_BYTES = 8;
/** By form; others are of later versions. */
const MEANINGS: ReadonlyMap<number, ChunkMeaning> = new Map([
  [FORM_COUNTED, "counted"],
  [FORM_COUNTED | FORM_ANCHOR_INTEGER, "counted"],
  [FORM_SENT, "sent"],
  [FORM_DELTAS, "deltas"],
]);

/**
 * What the values of a chunk are. "values": as they were sent, of a gauge; deltas of a counter whose sums nothing is known of, of versions before.
 * "counted": deltas, with what the first was measured from. "sent": as they were sent, and what others say of their times counts no more. "deltas": whose values a "sent" chunk has.
 */
export type ChunkMeaning = "values" | "counted" | "sent" | "deltas";

/** A decoded chunk besides its samples. */
export interface ReadChunk {
  readonly meaning: ChunkMeaning;
  readonly count: number;
  /** Of "counted": the cumulative value that the first was measured from, 0 where counting began with it; and when it was sent, NaN where it is not known to have been. */
  readonly anchor: number;
  readonly anchorMs: number;
}

/**
 * Encodes the first `count` (1..255) times (milliseconds, ascending, finite) and values (any doubles) at `at` of `out`, which has
 * CHUNK_BYTES_MAX bytes of room, and returns the place behind the chunk. Every bit of both comes back. Throws RangeError on a bad count.
 */
export function encodeSampleChunk(times: Float64Array, values: Float64Array, count: number, out: Uint8Array, at: number): number {
  if (!(count >= 1 && count <= CHUNK_SAMPLES_MAX)) throw new RangeError(`a chunk holds 1 to 255 samples, not ${count}`);
  if (out.length - at < PLAIN_BYTES_MAX) throw new RangeError(`a chunk needs ${PLAIN_BYTES_MAX} bytes of room`);
  out[at] = count;
  return encodeColumn(values, count, out, encodeColumn(times, count, out, at + 1));
}

/** Encodes samples as encodeSampleChunk does, for readers of values as sent ("sent") or for detection alone ("deltas"). */
export function encodeChunkApart(
  meaning: "sent" | "deltas",
  times: Float64Array,
  values: Float64Array,
  count: number,
  out: Uint8Array,
  at: number,
): number {
  out[at] = CHUNK_HAS_FORM;
  out[at + 1] = meaning === "sent" ? FORM_SENT : FORM_DELTAS;
  return encodeSampleChunk(times, values, count, out, at + FORM_HEADER_BYTES);
}

/**
 * Encodes deltas of a counter as encodeSampleChunk does. The first was measured from `anchor`, which was sent so many ms before it; from nothing, as counting began with it,
 * where `anchor` is NaN.
 */
export function encodeCountedChunk(
  { anchor, gapMs }: { readonly anchor: number; readonly gapMs: number },
  times: Float64Array,
  deltas: Float64Array,
  count: number,
  out: Uint8Array,
  at: number,
): number {
  const began = Number.isNaN(anchor);
  const raw = began ? 0 : anchor;
  const isInteger = Number.isInteger(raw) && Math.abs(raw) < INTEGER_END;
  out[at] = CHUNK_HAS_FORM;
  out[at + 1] = isInteger ? FORM_COUNTED | FORM_ANCHOR_INTEGER : FORM_COUNTED;
  let next = at + FORM_HEADER_BYTES;
  if (isInteger) next = writeVarint(zigzag(raw), out, next);
  else {
    new DataView(out.buffer, out.byteOffset).setFloat64(next, raw, true);
    next += NUMBER_BYTES;
  }
  const isStep = count > 1 && (times[1] as number) - (times[0] as number) === gapMs;
  next = writeVarint(began || gapMs === 0 ? GAP_NONE : isStep ? GAP_STEP : gapMs + GAP_ADDED, out, next);
  return encodeSampleChunk(times, deltas, count, out, next);
}

/**
 * Decodes a chunk into `times` and `values` (at least 255 places each); undefined when the bytes are no chunk of this version. Bytes that were tampered with may give wrong
 * numbers, times out of order among them, but never an exception.
 */
export function readSampleChunk(chunk: Uint8Array, times: Float64Array, values: Float64Array): ReadChunk | undefined {
  const cursor: ByteCursor = { bytes: chunk, at: 0, end: chunk.length };
  if (chunk[0] !== CHUNK_HAS_FORM) {
    const count = decodePlain(cursor, times, values);
    return count === 0 ? undefined : { meaning: "values", count, anchor: 0, anchorMs: Number.NaN };
  }
  const form = chunk[1] ?? 0;
  const meaning = MEANINGS.get(form);
  cursor.at = FORM_HEADER_BYTES;
  const anchor = meaning === "counted" ? decodeAnchor(cursor, form) : 0;
  const gap = meaning === "counted" ? readVarint(cursor) : GAP_NONE;
  const count = meaning === undefined || gap < 0 || anchor === undefined ? 0 : decodePlain(cursor, times, values);
  if (meaning === undefined || anchor === undefined || count === 0) return undefined;
  const first = times[0] as number;
  const gapMs = gap === GAP_NONE ? Number.NaN : gap === GAP_STEP ? (times[1] as number) - first : gap - GAP_ADDED;
  return { meaning, count, anchor, anchorMs: first - gapMs };
}

/** Whether a chunk has values for readers alone, which go before what other chunks say of their times. */
export function isSentChunk(chunk: Uint8Array): boolean {
  return chunk[0] === CHUNK_HAS_FORM && chunk[1] === FORM_SENT;
}

function decodeAnchor(cursor: ByteCursor, form: number): number | undefined {
  if ((form & FORM_ANCHOR_INTEGER) !== 0) {
    const raw = readVarint(cursor);
    return raw < 0 ? undefined : unzigzag(raw);
  }
  const { bytes, at, end } = cursor;
  cursor.at += NUMBER_BYTES;
  return cursor.at > end ? undefined : new DataView(bytes.buffer, bytes.byteOffset).getFloat64(at, true);
}

/** Samples of a plain chunk that goes up to the cursor's end; 0 where the bytes are none. */
function decodePlain(cursor: ByteCursor, times: Float64Array, values: Float64Array): number {
  const count = cursor.bytes[cursor.at++] ?? 0;
  const isWhole = count > 0 && decodeColumn(cursor, times, count) && decodeColumn(cursor, values, count) && cursor.at === cursor.end;
  return isWhole ? count : 0;
}

/** Decodes what detection reads of a chunk, as readSampleChunk does, and returns the number of samples: 0 of one that is for readers alone. */
export function decodeSampleChunk(chunk: Uint8Array, times: Float64Array, values: Float64Array): number | undefined {
  const read = readSampleChunk(chunk, times, values);
  return read?.meaning === "sent" ? 0 : read?.count;
}

/** Number of samples that detection reads of a whole chunk, without decoding them. */
export function judgedSamplesOf(chunk: Uint8Array): number {
  if (chunk[0] !== CHUNK_HAS_FORM) return chunk[0] ?? 0;
  const form = chunk[1] ?? 0;
  if (form === FORM_SENT) return 0;
  const cursor: ByteCursor = { bytes: chunk, at: FORM_HEADER_BYTES, end: chunk.length };
  if ((form & FORM_COUNTED) !== 0) {
    decodeAnchor(cursor, form);
    readVarint(cursor);
  }
  return chunk[cursor.at] ?? 0;
}
