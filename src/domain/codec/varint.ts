/**
 * LEB128 varints of non-negative integers up to 2^53 (1 to 8 bytes), and zigzag for signed ones up to 2^52 in magnitude.
 * Doubles, not BigInt: a BigInt costs 14 times as much.
 */

/** Longest varint that is written or accepted: 8 bytes carry 56 bits. */
export const VARINT_BYTES_MAX = 8;
/** Largest number that is left to 32-bit arithmetic: a double's remainder and division cost ten times as much. */
const INT31_MAX = 0x7fffffff;
const INT28_BITS = 28;

/** A place in bytes that readers move forward; `at` never passes `end`, which is at most `bytes.length`. */
export interface ByteCursor {
  readonly bytes: Uint8Array;
  readonly end: number;
  at: number;
}

/** Writes a non-negative integer up to 2^53 at `at` and returns the place behind it. */
export function writeVarint(value: number, out: Uint8Array, at: number): number {
  let rest = value;
  let next = at;
  while (rest > INT31_MAX) {
    out[next++] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  let low = rest | 0;
  while (low >= 128) {
    out[next++] = (low & 127) | 128;
    low >>= 7;
  }
  out[next++] = low;
  return next;
}

/** Reads a varint and moves the cursor behind it; -1 when it is cut off or longer than 8 bytes. */
export function readVarint(cursor: ByteCursor): number {
  const { bytes, end } = cursor;
  let at = cursor.at;
  let low = 0;
  for (let shift = 0; shift < INT28_BITS && at < end; shift += 7) {
    const byte = bytes[at++]!;
    low |= (byte & 127) << shift;
    if (byte < 128) {
      cursor.at = at;
      return low;
    }
  }
  return readLongVarint(cursor, at, low);
}

/** Goes on behind the four bytes that `low` is made of, unless the cursor ended before. */
function readLongVarint(cursor: ByteCursor, from: number, low: number): number {
  const limit = Math.min(cursor.end, cursor.at + VARINT_BYTES_MAX);
  let value = low;
  let weight = 2 ** INT28_BITS;
  cursor.at = from;
  while (cursor.at < limit) {
    const byte = cursor.bytes[cursor.at++]!;
    value += (byte & 127) * weight;
    if (byte < 128) return value;
    weight *= 128;
  }
  return -1;
}

/** Maps 0, -1, 1, -2, ... to 0, 1, 2, 3, ...; the magnitude is at most 2^52. */
export function zigzag(value: number): number {
  return value >= 0 ? 2 * value : -2 * value - 1;
}

/** Inverse of `zigzag` for a non-negative integer up to 2^53. */
export function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}
