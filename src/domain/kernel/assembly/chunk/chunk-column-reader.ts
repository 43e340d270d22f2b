// Decodes one column of a sample chunk; format in domain/codec/sample-column.ts, whose decoder gives the same doubles and refuses the same
// bytes. A column of 120 takes 0.1 to 0.3 us. Up to 10 bytes behind the column are read.
import { WINDOW_MAX } from "../../../../core/layout/stream-record";
import { BITS, powerOf, SCALE_MAX, STEP } from "./chunk-column";
import { readVarint, varint } from "../wire/protobuf-wire";

const MODE_MAX: u32 = 63;
const DOUBLES: u32 = 64;
const PACKED_BITS_MAX: u32 = 54;
const VARINT_BYTES_MAX: usize = 8;
/** Beyond, doubles are even: no encoder writes such numbers, and the decoder in TypeScript has no others. */
const INTEGER_MAX: u64 = 1 << 53;
/** Widest word that eight bytes hold wherever it begins. */
const NARROW_BITS_MAX: u32 = 57;

/** Behind the varint that was read last; 0 where it was cut off or too long, or one before it. */
let behind: usize = 0;

/** Reads a varint behind the last one, before `end`. */
function nextVarint(end: usize): u64 {
  if (behind == 0) return 0;
  const at = readVarint(behind);
  behind = at <= end && at <= behind + VARINT_BYTES_MAX ? at : 0;
  return behind == 0 ? 0 : varint;
}

/** Reads a varint at `at`; the place behind it is varintEnd(). */
export function varintAt(at: usize, end: usize): u64 {
  behind = at;
  return nextVarint(end);
}

/** Behind the varint that was read last; 0 where that was none. */
// @ts-ignore
@inline
export function varintEnd(): usize {
  return behind;
}

// @ts-ignore
@inline
function unzigzag(value: u64): f64 {
  return value > INTEGER_MAX ? <f64>value / 2 : <f64>(<i64>(value >> 1) ^ -<i64>(value & 1));
}

// @ts-ignore
@inline
function packedBytes(count: u32, width: u32): usize {
  return <usize>((count * width + 7) >> 3);
}

// @ts-ignore
@inline
function maskOf(width: u32): u64 {
  return width == 0 ? 0 : U64.MAX_VALUE >> <u64>(64 - width);
}

/** Decodes the column of `count` (1 .. WINDOW_MAX) doubles at `at` into `values` and returns the place behind it; 0 when the bytes before `end` are none. */
export function decodeColumn(at: usize, end: usize, count: u32, values: usize): usize {
  if (at + 2 > end || count > <u32>WINDOW_MAX) return 0;
  const mode = <u32>load<u8>(at), width = <u32>load<u8>(at, 1);
  if (mode == BITS) return width == DOUBLES ? copyDoubles(at + 2, end, count, values) : decodeBits(at + 2, end, count, width, values);
  const scale = (mode & (STEP - 1)) >> 2, order = mode & 3;
  if (mode > MODE_MAX || order == BITS || scale > SCALE_MAX || order > count || width > PACKED_BITS_MAX) return 0;
  behind = at + 2;
  const first = order > 0 ? unzigzag(nextVarint(end)) : 0, second = order > 1 ? unzigzag(nextVarint(end)) : 0;
  const base = unzigzag(nextVarint(end)), step = (mode & STEP) != 0 ? nextVarint(end) : 1;
  const words = behind, columnEnd = words + packedBytes(count - order, width);
  if (words == 0 || step == 0 || columnEnd > end) return 0;
  const from = values + (<usize>order << 3), stop = values + (<usize>count << 3);
  if (width == 0) for (let to = from; to < stop; to += 8) store<f64>(to, base);
  else scaleWords(words, width, from, stop, <f64>step, base);
  if (order > 0) integrate(values, stop, order, first, second);
  if (scale > 0) divide(values, stop, scale);
  return columnEnd;
}

/** Words of 1 .. 54 bits times the step, from the base on. */
// @ts-ignore
@inline
function scaleWords(words: usize, width: u32, from: usize, stop: usize, step: f64, base: f64): void {
  const mask = maskOf(width);
  let bit: u32 = 0;
  for (let to = from; to < stop; to += 8, bit += width)
    store<f64>(to, <f64><i64>((load<u64>(words + <usize>(bit >> 3)) >> <u64>(bit & 7)) & mask) * step + base);
}

/** Sums of the differences, or of their differences, behind the first terms. */
// @ts-ignore
@inline
function integrate(values: usize, stop: usize, order: u32, first: f64, second: f64): void {
  let value = first, difference = second;
  store<f64>(values, value);
  let to = values + 8;
  if (order > 1 && to < stop) {
    value += difference;
    store<f64>(to, value);
    to += 8;
  }
  for (; to < stop; to += 8) {
    difference = order > 1 ? load<f64>(to) + difference : load<f64>(to);
    value += difference;
    store<f64>(to, value);
  }
}

// @ts-ignore
@inline
function divide(values: usize, stop: usize, scale: u32): void {
  const power = powerOf(scale);
  const powers = f64x2.splat(power), pairs = stop - ((stop - values) & 15);
  for (let at = values; at < pairs; at += 16) v128.store(at, f64x2.div(v128.load(at), powers));
  if (pairs < stop) store<f64>(pairs, load<f64>(pairs) / power);
}

// @ts-ignore
@inline
function copyDoubles(at: usize, end: usize, count: u32, values: usize): usize {
  const bytes = <usize>count << 3;
  if (at + bytes > end) return 0;
  memory.copy(values, at, bytes);
  return at + bytes;
}

/** Doubles by their bits: the smallest word and what the others add to it. */
function decodeBits(at: usize, end: usize, count: u32, width: u32, values: usize): usize {
  const words = at + (width == 0 ? 8 : 9), columnEnd = words + packedBytes(count, width);
  if (width > 64 || columnEnd > end) return 0;
  const smallest = load<u64>(at), mask = maskOf(width);
  const shift = width == 0 ? 0 : <u64>load<u8>(at, 8) & 63;
  const stop = values + (<usize>count << 3);
  let bit: u32 = 0;
  for (let to = values; to < stop; to += 8, bit += width) {
    const from = words + <usize>(bit >> 3), within = <u64>(bit & 7);
    let word = load<u64>(from) >> within;
    if (width > NARROW_BITS_MAX && within != 0) word |= <u64>load<u8>(from, 8) << (64 - within);
    store<u64>(to, rotr<u64>(((word & mask) << shift) + smallest, 1));
  }
  return columnEnd;
}
