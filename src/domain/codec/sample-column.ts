/**
 * One column (times or values) of a sample chunk: 1 to 255 doubles, decimal-scaled, differenced, frame of reference, bit-packed.
 *
 *   mode u8      bits 0-1: order of the differences 0, 1 or 2, or 3 = raw; bits 2-4: decimal scale 0..6; bits 5-7: zero
 *   raw:         count x f64, little-endian
 *   otherwise:   width u8 (bits of a packed residual, 0..54), `order` first terms as zigzag varints, smallest residual as zigzag varint,
 *                step as varint (only where width > 0), then (count - order) residuals of `width` bits, each (residual - smallest) / step
 *
 * The step is the greatest common divisor: a gap in 10 s samples costs one bit a sample instead of fourteen, and page counts in bytes lose
 * their twelve zero bits. Raw is taken where no scale is exact (-0, NaN, infinities, denormals, full mantissas) or where it is smaller.
 */

import { bitLength, PACKED_BITS_MAX, packBits, packedBytes, unpackBits } from "./bit-packing.ts";
import type { ByteCursor } from "./varint.ts";
import { readVarint, unzigzag, writeVarint, zigzag } from "./varint.ts";

/** Most samples in one column. */
export const COLUMN_SAMPLES_MAX = 255;
/** Most bytes that `encodeColumn` touches behind its start: raw doubles with the mode byte, or a packed form not yet given up for them. */
export const COLUMN_BYTES_MAX = 48 + 8 * COLUMN_SAMPLES_MAX;

const RAW = 3;
const SCALE_MAX = 6;
const POWERS = Float64Array.of(1, 10, 100, 1e3, 1e4, 1e5, 1e6);
/** Keeps first differences within 2^52, so that every sum below is exact. */
const INTEGER_MAX = 2 ** 51;
/** Second differences are tried only where they stay within 2^52. */
const DIFFERENCE_MAX = 2 ** 50;
/** What one more difference costs in its header varint: about three bytes. */
const ORDER_BITS = 24;

// Scratch of the thread's only encoder and decoder: a column is encoded from start to end without a break.
const integers = new Float64Array(COLUMN_SAMPLES_MAX);
const differences = new Float64Array(COLUMN_SAMPLES_MAX);
const secondDifferences = new Float64Array(COLUMN_SAMPLES_MAX);
const spans = [newSpan(), newSpan(), newSpan()] as const;

interface Span {
  min: number;
  max: number;
}

/** Encodes `values[0..count)` at `at` of `out`, which has COLUMN_BYTES_MAX bytes of room, and returns the place behind the column. */
export function encodeColumn(values: Float64Array, count: number, out: Uint8Array, at: number): number {
  const scale = scaleToIntegers(values, count);
  if (scale < 0) return encodeRaw(values, count, out, at);
  const end = encodeIntegers(count, scale, out, at);
  return end - at <= 1 + 8 * count ? end : encodeRaw(values, count, out, at);
}

/** Decodes a column of `count` doubles into `values` and moves the cursor behind it; false when the bytes are no column. */
export function decodeColumn(cursor: ByteCursor, values: Float64Array, count: number): boolean {
  if (cursor.at >= cursor.end) return false;
  const mode = cursor.bytes[cursor.at++]!;
  const scale = mode >>> 2;
  const order = mode & 3;
  if (mode === RAW) return decodeRaw(cursor, values, count);
  if (order === RAW || scale > SCALE_MAX || order > count) return false;
  return decodeIntegers(cursor, values, count, order, POWERS[scale]!);
}

function encodeRaw(values: Float64Array, count: number, out: Uint8Array, at: number): number {
  out[at] = RAW;
  out.set(new Uint8Array(values.buffer, values.byteOffset, 8 * count), at + 1); // bytes, so that NaN payloads stay as they are
  return at + 1 + 8 * count;
}

function decodeRaw(cursor: ByteCursor, values: Float64Array, count: number): boolean {
  const end = cursor.at + 8 * count;
  if (end > cursor.end) return false;
  new Uint8Array(values.buffer, values.byteOffset, 8 * count).set(cursor.bytes.subarray(cursor.at, end));
  cursor.at = end;
  return true;
}

/** Fills `integers` with the values times the smallest exact power of ten and returns its exponent; -1 when no power up to 10^6 is exact. */
function scaleToIntegers(values: Float64Array, count: number): number {
  let scale = 0;
  for (let index = 0; index < count; index++) {
    while (Number.isNaN(scaled(values[index]!, POWERS[scale]!))) if (++scale > SCALE_MAX) return -1;
  }
  const power = POWERS[scale]!;
  for (let index = 0; index < count; index++) {
    const integer = scaled(values[index]!, power);
    if (Number.isNaN(integer)) return -1; // exact at a smaller scale, beyond 2^51 at this one
    integers[index] = integer;
  }
  return scale;
}

/** Returns the integer that gives `value` back when divided by `power`, or NaN. */
function scaled(value: number, power: number): number {
  const integer = Math.round(value * power);
  const exact = integer / power === value && Math.abs(integer) <= INTEGER_MAX && (value !== 0 || 1 / value > 0);
  return exact ? integer : Number.NaN;
}

function encodeIntegers(count: number, scale: number, out: Uint8Array, at: number): number {
  const order = chooseOrder(count);
  const residuals = order === 0 ? integers : order === 1 ? differences : secondDifferences;
  const { min, max } = spans[order]!;
  const step = max > min ? commonStep(residuals, order, count, min) : 1;
  const width = bitLength((max - min) / step);
  let next = at;
  out[next++] = order | (scale << 2);
  out[next++] = width;
  if (order > 0) next = writeVarint(zigzag(integers[0]!), out, next);
  if (order > 1) next = writeVarint(zigzag(differences[1]!), out, next);
  next = writeVarint(zigzag(min), out, next);
  if (width === 0) return next;
  next = writeVarint(step, out, next);
  for (let index = order; index < count; index++) residuals[index] = (residuals[index]! - min) / step;
  return packBits(residuals, order, count, width, out, next);
}

/** Fills the differences and returns the order (0, 1, 2) whose packed form is smallest. */
function chooseOrder(count: number): number {
  measure(integers, 0, count, spans[0]);
  let order = 0;
  let cost = packedCost(0, count);
  for (let next = 1; next < 3 && next < count; next++) {
    if (next === 1) differentiate(integers, differences, 1, count);
    else if (Math.max(spans[1].max, -spans[1].min) > DIFFERENCE_MAX) break;
    else differentiate(differences, secondDifferences, 2, count);
    measure(next === 1 ? differences : secondDifferences, next, count, spans[next]!);
    const nextCost = packedCost(next, count);
    if (nextCost < cost) {
      cost = nextCost;
      order = next;
    }
  }
  return order;
}

function packedCost(order: number, count: number): number {
  const { min, max } = spans[order]!;
  return bitLength(max - min) * (count - order) + ORDER_BITS * order;
}

function differentiate(from: Float64Array, into: Float64Array, start: number, count: number): void {
  for (let index = start; index < count; index++) into[index] = from[index]! - from[index - 1]!;
}

function measure(values: Float64Array, start: number, count: number, span: Span): void {
  let min = values[start]!;
  let max = min;
  for (let index = start + 1; index < count; index++) {
    const value = values[index]!;
    if (value < min) min = value;
    else if (value > max) max = value;
  }
  span.min = min;
  span.max = max;
}

/** Returns the greatest common divisor of the distances from `min`; at least one of them is not zero. */
function commonStep(residuals: Float64Array, start: number, count: number, min: number): number {
  let step = 0;
  for (let index = start; index < count && step !== 1; index++) {
    let rest = residuals[index]! - min;
    while (rest !== 0) {
      const remainder = step % rest;
      step = rest;
      rest = remainder;
    }
  }
  return step;
}

function decodeIntegers(cursor: ByteCursor, values: Float64Array, count: number, order: number, power: number): boolean {
  if (cursor.at >= cursor.end) return false;
  const width = cursor.bytes[cursor.at++]!;
  const first = order > 0 ? readVarint(cursor) : 0;
  const second = order > 1 ? readVarint(cursor) : 0;
  const min = readVarint(cursor);
  const step = width > 0 ? readVarint(cursor) : 1;
  if (width > PACKED_BITS_MAX || first < 0 || second < 0 || min < 0 || step < 1) return false;
  const end = cursor.at + packedBytes(count - order, width);
  if (end > cursor.end) return false;
  unpackBits(cursor.bytes, cursor.at, width, values, order, count);
  cursor.at = end;
  const base = unzigzag(min);
  for (let index = order; index < count; index++) values[index] = values[index]! * step + base;
  integrate(values, count, order, unzigzag(first), unzigzag(second));
  for (let index = 0; index < count; index++) values[index] = values[index]! / power;
  return true;
}

function integrate(values: Float64Array, count: number, order: number, first: number, second: number): void {
  if (order === 0) return;
  if (order === 2) {
    values[1] = second;
    for (let index = 2; index < count; index++) values[index] = values[index]! + values[index - 1]!;
  }
  values[0] = first;
  for (let index = 1; index < count; index++) values[index] = values[index]! + values[index - 1]!;
}

function newSpan(): Span {
  return { min: 0, max: 0 };
}
