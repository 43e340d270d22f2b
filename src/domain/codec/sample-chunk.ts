/**
 * A chunk: 1 to 255 samples of one stream, usually one full turn of its ring of recent values.
 *
 *   count u8, column of times, column of values (sample-column.ts)
 *
 * 120 samples of a 3-decimal random walk at a constant interval take about 168 bytes: 1.4 a sample, of which the times are 0.1.
 * A constant interval and a constant value cost nothing beyond the header; one sample takes 12 to 21 bytes; the worst case is 16.01 a sample.
 *
 * Whole rings are encoded by the kernel (domain/kernel/assembly/chunk/chunk-ring.ts), byte for byte as here; this is its slow twin, and what
 * encodes single values.
 */

import { COLUMN_BYTES_MAX, COLUMN_SAMPLES_MAX, decodeColumn, encodeColumn } from "./sample-column.ts";
import type { ByteCursor } from "./varint.ts";

/** Most samples in one chunk. */
export const CHUNK_SAMPLES_MAX = COLUMN_SAMPLES_MAX;
/** Room that `encodeSampleChunk` needs behind `at`; a finished chunk is at most 5 + 16 x count bytes. */
export const CHUNK_BYTES_MAX = 1 + 2 * COLUMN_BYTES_MAX;

/**
 * Encodes the first `count` (1..255) times (milliseconds, ascending, finite) and values (any doubles) at `at` of `out`, which has
 * CHUNK_BYTES_MAX bytes of room, and returns the place behind the chunk. Every bit of both comes back. Throws RangeError on a bad count.
 */
export function encodeSampleChunk(times: Float64Array, values: Float64Array, count: number, out: Uint8Array, at: number): number {
  if (!(count >= 1 && count <= CHUNK_SAMPLES_MAX)) throw new RangeError(`a chunk holds 1 to 255 samples, not ${count}`);
  if (out.length - at < CHUNK_BYTES_MAX) throw new RangeError(`a chunk needs ${CHUNK_BYTES_MAX} bytes of room`);
  out[at] = count;
  return encodeColumn(values, count, out, encodeColumn(times, count, out, at + 1));
}

/**
 * Decodes a whole chunk into `times` and `values` (at least 255 places each) and returns the number of samples; undefined when the bytes
 * are no chunk. Bytes that were tampered with may give wrong numbers, times out of order among them, but never an exception.
 */
export function decodeSampleChunk(chunk: Uint8Array, times: Float64Array, values: Float64Array): number | undefined {
  const count = chunk[0] ?? 0;
  if (count === 0) return undefined;
  const cursor: ByteCursor = { bytes: chunk, at: 1, end: chunk.length };
  const whole = decodeColumn(cursor, times, count) && decodeColumn(cursor, values, count) && cursor.at === cursor.end;
  return whole ? count : undefined;
}
