/**
 * One column (times or values) of a sample chunk: 1 to 255 doubles, as scaled integers where a power of ten makes them such, else as their bits.
 *
 *   mode u8      bits 0-1: order of the differences 0, 1 or 2, or 3 = bits; bits 2-4: decimal scale 0..6; bit 5: a step follows; bits 6-7: zero
 *   width u8     bits of a packed residual
 *   integers:    width 0..54, `order` first terms as zigzag varints, smallest residual as zigzag varint, step as varint where bit 5 says so,
 *                then (count - order) residuals of `width` bits, each (residual - smallest) / step
 *   bits:        width 64: count x f64, little-endian. Otherwise the words are the doubles' bits rotated left by one (the sign goes last, so that
 *                values of one magnitude are near each other): smallest word u64, shift u8 (only where width > 0), then count residuals of
 *                `width` bits, each (word - smallest) >> shift
 *
 * The step is the greatest common divisor: a gap in 10 s samples costs one bit a sample instead of fourteen, and page counts in bytes lose
 * their twelve zero bits. Bits are taken where no scale is exact (-0, NaN, infinities, denormals, full mantissas) or where integers would be
 * larger than plain doubles: 120 random values of [0, 1000) take 7 bytes each, values that once were 32-bit floats 3.5.
 *
 * The kernel has the same encoder (domain/kernel/assembly/chunk/chunk-column.ts), which gives the same bytes.
 */

import { bitLength, PACKED_BITS_MAX, packBits, packedBytes, packUint32s, unpackBits, unpackUint32s } from "./bit-packing.ts";
import type { ByteCursor } from "./varint.ts";
import { readVarint, unzigzag, writeVarint, zigzag } from "./varint.ts";

/** Most samples in one column. */
export const COLUMN_SAMPLES_MAX = 255;
/** Most bytes that `encodeColumn` touches behind its start: doubles as they are, or integers not yet given up for them. */
export const COLUMN_BYTES_MAX = 48 + 8 * COLUMN_SAMPLES_MAX;

const BITS = 3;
const SCALE_SHIFT = 2;
const STEP = 32;
const MODE_MAX = 63;
const SCALE_MAX = 6;
const POWERS = Float64Array.of(1, 10, 100, 1e3, 1e4, 1e5, 1e6);
/** Integers are smaller than this, so that first differences stay within 2^52 and every sum below is exact. */
export const INTEGER_END = 2 ** 51;
/** Second differences are tried only where they stay within 2^52. */
const DIFFERENCE_MAX = 2 ** 50;
/** Bits that one more difference costs in its header varint: about three bytes. */
const ORDER_BITS = 24;
/** Mode, width, smallest word and shift of a column of bits; of one of plain doubles the first two. */
const BITS_HEADER_BYTES = 11;
const DOUBLES_HEADER_BYTES = 2;

// Scratch of the thread's only encoder and decoder: a column is encoded from start to end without a break.
const integers = new Float64Array(COLUMN_SAMPLES_MAX);
const differences = new Float64Array(COLUMN_SAMPLES_MAX);
const secondDifferences = new Float64Array(COLUMN_SAMPLES_MAX);
const spans = [newSpan(), newSpan(), newSpan()] as const;
/** Pairs (low, high) of 64-bit words. */
const halves = new Uint32Array(2 * COLUMN_SAMPLES_MAX);

interface Span {
  min: number;
  max: number;
}

/** Encodes `values[0..count)` at `at` of `out`, which has COLUMN_BYTES_MAX bytes of room, and returns the place behind the column. */
export function encodeColumn(values: Float64Array, count: number, out: Uint8Array, at: number): number {
  const scale = scaleToIntegers(values, count);
  if (scale < 0) return encodeBits(values, count, out, at);
  const end = encodeIntegers(count, scale, out, at);
  return end - at <= DOUBLES_HEADER_BYTES + 8 * count ? end : encodeBits(values, count, out, at);
}

/** Decodes a column of `count` doubles into `values` and moves the cursor behind it; false when the bytes are no column. */
export function decodeColumn(cursor: ByteCursor, values: Float64Array, count: number): boolean {
  if (cursor.end - cursor.at < 2) return false;
  const mode = cursor.bytes[cursor.at++]!;
  const width = cursor.bytes[cursor.at++]!;
  if (mode === BITS) return width === 64 ? decodeDoubles(cursor, values, count) : decodeBits(cursor, values, count, width);
  const scale = (mode & (STEP - 1)) >>> SCALE_SHIFT;
  const order = mode & 3;
  if (mode > MODE_MAX || order === BITS || scale > SCALE_MAX || order > count || width > PACKED_BITS_MAX) return false;
  if (!decodeIntegers(cursor, values, count, { order, width, hasStep: (mode & STEP) !== 0 })) return false;
  if (scale === 0) return true;
  const power = POWERS[scale]!;
  for (let index = 0; index < count; index++) values[index] = values[index]! / power;
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
  const exact = integer / power === value && Math.abs(integer) < INTEGER_END && (value !== 0 || 1 / value > 0);
  return exact ? integer : Number.NaN;
}

function encodeIntegers(count: number, scale: number, out: Uint8Array, at: number): number {
  const order = chooseOrder(count);
  const residuals = order === 0 ? integers : order === 1 ? differences : secondDifferences;
  const { min, max } = spans[order]!;
  const step = max > min ? commonStep(residuals, order, count, min) : 1;
  const width = bitLength((max - min) / step);
  let next = at;
  out[next++] = order | (scale << SCALE_SHIFT) | (step > 1 ? STEP : 0);
  out[next++] = width;
  if (order > 0) next = writeVarint(zigzag(integers[0]!), out, next);
  if (order > 1) next = writeVarint(zigzag(differences[1]!), out, next);
  next = writeVarint(zigzag(min), out, next);
  if (step > 1) next = writeVarint(step, out, next);
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

interface IntegerForm {
  readonly order: number;
  readonly width: number;
  readonly hasStep: boolean;
}

function decodeIntegers(cursor: ByteCursor, values: Float64Array, count: number, { order, width, hasStep }: IntegerForm): boolean {
  const first = order > 0 ? readVarint(cursor) : 0;
  const second = order > 1 ? readVarint(cursor) : 0;
  const min = readVarint(cursor);
  const step = hasStep ? readVarint(cursor) : 1;
  const end = cursor.at + packedBytes(count - order, width);
  if (first < 0 || second < 0 || min < 0 || step < 1 || end > cursor.end) return false;
  unpackBits(cursor.bytes, cursor.at, width, values, order, count);
  cursor.at = end;
  const base = unzigzag(min);
  if (step !== 1 || base !== 0) for (let index = order; index < count; index++) values[index] = values[index]! * step + base;
  integrate(values, count, order, unzigzag(first), unzigzag(second));
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

function encodeBits(values: Float64Array, count: number, out: Uint8Array, at: number): number {
  const doubles = new Uint32Array(values.buffer, values.byteOffset, 2 * count); // integers, so that NaN payloads stay as they are
  for (let index = 0; index < 2 * count; index += 2) {
    const low = doubles[index]!;
    const high = doubles[index + 1]!;
    halves[index] = (low << 1) | (high >>> 31);
    halves[index + 1] = (high << 1) | (low >>> 31);
  }
  const smallest = smallestWord(count);
  const minLow = halves[smallest]!;
  const minHigh = halves[smallest + 1]!;
  const shift = commonZeros(count, minLow, minHigh);
  const width = subtractAndShift(count, minLow, minHigh, shift);
  out[at] = BITS;
  if (BITS_HEADER_BYTES - (width === 0 ? 1 : 0) + packedBytes(count, width) >= DOUBLES_HEADER_BYTES + 8 * count) {
    out[at + 1] = 64;
    out.set(new Uint8Array(values.buffer, values.byteOffset, 8 * count), at + DOUBLES_HEADER_BYTES);
    return at + DOUBLES_HEADER_BYTES + 8 * count;
  }
  out[at + 1] = width;
  let next = at + 2;
  for (let byte = 0; byte < 8; byte++) out[next++] = (byte < 4 ? minLow : minHigh) >>> (8 * (byte & 3));
  if (width > 0) out[next++] = shift;
  return packUint32s(halves, count, width, out, next);
}

/** Index of the smallest of the pairs. */
function smallestWord(count: number): number {
  let smallest = 0;
  for (let index = 2; index < 2 * count; index += 2) {
    const high = halves[index + 1]!;
    const minHigh = halves[smallest + 1]!;
    if (high < minHigh || (high === minHigh && halves[index]! < halves[smallest]!)) smallest = index;
  }
  return smallest;
}

/** Number of low bits in which no word differs from the smallest; 0 when all are equal. */
function commonZeros(count: number, minLow: number, minHigh: number): number {
  let low = 0;
  let high = 0;
  for (let index = 0; index < 2 * count; index += 2) {
    low |= halves[index]! ^ minLow;
    high |= halves[index + 1]! ^ minHigh;
  }
  if (low !== 0) return 31 - Math.clz32(low & -low);
  return high === 0 ? 0 : 63 - Math.clz32(high & -high);
}

/** Turns the words into residuals and returns the bits of the largest. */
function subtractAndShift(count: number, minLow: number, minHigh: number, shift: number): number {
  let low = 0;
  let high = 0;
  for (let index = 0; index < 2 * count; index += 2) {
    const borrow = halves[index]! < minLow ? 1 : 0;
    const lowRest = (halves[index]! - minLow) >>> 0;
    const highRest = (halves[index + 1]! - minHigh - borrow) >>> 0;
    halves[index] = shift >= 32 ? highRest >>> (shift - 32) : shift === 0 ? lowRest : (lowRest >>> shift) | (highRest << (32 - shift));
    halves[index + 1] = shift >= 32 ? 0 : highRest >>> shift;
    low |= halves[index]!;
    high |= halves[index + 1]!;
  }
  return high === 0 ? 32 - Math.clz32(low) : 64 - Math.clz32(high);
}

function decodeDoubles(cursor: ByteCursor, values: Float64Array, count: number): boolean {
  const end = cursor.at + 8 * count;
  if (end > cursor.end) return false;
  new Uint8Array(values.buffer, values.byteOffset, 8 * count).set(cursor.bytes.subarray(cursor.at, end));
  cursor.at = end;
  return true;
}

function decodeBits(cursor: ByteCursor, values: Float64Array, count: number, width: number): boolean {
  const at = cursor.at + (width === 0 ? 8 : 9);
  const end = at + packedBytes(count, width);
  if (width > 64 || end > cursor.end) return false;
  const { bytes } = cursor;
  const minLow = wordAt(bytes, cursor.at);
  const minHigh = wordAt(bytes, cursor.at + 4);
  const shift = width === 0 ? 0 : bytes[at - 1]! & 63;
  unpackUint32s(bytes, at, width, halves, count);
  cursor.at = end;
  addSmallest(new Uint32Array(values.buffer, values.byteOffset, 2 * count), shift, minLow, minHigh);
  return true;
}

/** Fills `doubles` with the residuals times 2^shift and the smallest word, rotated back. All in 32-bit integers: sums of more would be doubles. */
function addSmallest(doubles: Uint32Array, shift: number, minLow: number, minHigh: number): void {
  const [leastLow, leastHigh, within] = [minLow | 0, minHigh | 0, shift & 31];
  const isWide = shift < 32;
  for (let index = 0; index < doubles.length; index += 2) {
    const low = isWide ? halves[index]! | 0 : 0;
    const high = isWide ? halves[index + 1]! | 0 : halves[index]! | 0;
    const lowWord = ((low << within) + leastLow) | 0;
    const carry = lowWord >>> 0 < leastLow >>> 0 ? 1 : 0;
    const highWord = (((high << within) | ((low >>> 1) >>> (31 - within))) + leastHigh + carry) | 0;
    doubles[index] = (lowWord >>> 1) | (highWord << 31);
    doubles[index + 1] = (highWord >>> 1) | (lowWord << 31);
  }
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

function newSpan(): Span {
  return { min: 0, max: 0 };
}
