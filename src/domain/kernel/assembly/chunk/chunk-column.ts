// Encodes one column of a sample chunk; format and reasons in domain/codec/sample-column.ts, whose encoder gives the same bytes. Two samples at
// a time in SIMD; a column of 120 takes 0.3 to 0.6 us. Numbers stay doubles up to the packing: all of them are integers below 2^53, so exact.
import { WINDOW_MAX } from "../../../../core/layout/stream-record";
import { bitLength, packWords, writeVarint, zigzag } from "./chunk-bits";

export const BITS: u8 = 3;
export const STEP: u32 = 32;
export const SCALE_MAX: u32 = 6;
const INTEGER_END: f64 = 2251799813685248; // 2^51
const DIFFERENCE_MAX: f64 = 1125899906842624; // 2^50
const ORDER_BITS: u32 = 24;
/** Added to an integer below it, it leaves the integer in the lower 52 bits of the sum. */
const TWO_52: f64 = 4503599627370496;
const MANTISSA: u64 = 0xfffffffffffff;
const NEGATIVE_ZERO: u64 = 0x8000000000000000;
/** Values by which the scale is guessed: all of them seldom end with a zero where others do not. */
const SCALE_SAMPLES: u32 = 4;

/** Values times their power of ten; there is room for what pairs reach before the first and behind the last. */
const INTEGERS = memory.data(1024, 16) + 16;
/** Residuals as words. */
const WORDS = memory.data(1024, 16);

if (16 + 8 * (WINDOW_MAX + 1) > 1024) unreachable();

let min0: f64 = 0, max0: f64 = 0, min1: f64 = 0, max1: f64 = 0, min2: f64 = 0, max2: f64 = 0;

/**
 * Encodes `count` (1 .. WINDOW_MAX) doubles that lie at `values` (with room for another 8 bytes behind them, which are overwritten) at `at` and
 * returns the place behind the column. Up to 64 + 8 x count bytes behind `at` are touched.
 */
export function encodeColumn(values: usize, count: u32, at: usize): usize {
  const scale = scaleToIntegers(values, count);
  if (scale < 0) return encodeBits(values, count, at);
  const end = encodeIntegers(count, <u32>scale, at);
  return end - at <= 2 + (<usize>count << 3) ? end : encodeBits(values, count, at);
}

/** Encodes integers first, first + step, ..., all smaller than 2^51, as `encodeColumn` does. */
export function encodeProgression(first: f64, step: f64, count: u32, at: usize): usize {
  const last = first + step * <f64>(count - 1);
  if (count < 2 || bitLength(<u64>abs(last - first)) * count <= ORDER_BITS) {
    for (let i: u32 = 0; i < count; i++) store<f64>(INTEGERS + (<usize>i << 3), first + step * <f64>i);
    return encodeIntegers(count, 0, at);
  }
  store<u16>(at, 1); // first order, width 0
  return writeVarint(zigzag(step), writeVarint(zigzag(first), at + 2));
}

// @ts-ignore
@inline
export function powerOf(scale: u32): f64 {
  let power: f64 = 1;
  for (let i: u32 = 0; i < scale; i++) power *= 10;
  return power;
}

/** Whether value x power is an integer that gives the value back; -0 is left to `multiply`. */
// @ts-ignore
@inline
function isExact(value: f64, power: f64): bool {
  const integer = nearest(value * power);
  return integer / power == value && abs(integer) < INTEGER_END;
}

/** The scale that values [from, to) need, `scale` at least; SCALE_MAX + 1 where none is enough. */
function scaleOf(values: usize, from: u32, to: u32, scale: u32): u32 {
  let power = powerOf(scale);
  for (let i = from; i < to; i++) {
    const value = load<f64>(values + (<usize>i << 3));
    while (!isExact(value, power)) {
      if (++scale > SCALE_MAX) return scale;
      power *= 10;
    }
  }
  return scale;
}

/** Fills INTEGERS and returns the decimal scale, or -1 when no power up to 10^6 is exact. */
function scaleToIntegers(values: usize, count: u32): i32 {
  store<f64>(values + (<usize>count << 3), load<f64>(values)); // pairs of an odd count end with a value that is judged anyway
  const first = min(count, SCALE_SAMPLES);
  let scale = scaleOf(values, 0, first, 0);
  if (scale > SCALE_MAX) return -1;
  if (multiply(values, count, powerOf(scale))) return <i32>scale;
  scale = scaleOf(values, first, count, scale);
  return scale <= SCALE_MAX && multiply(values, count, powerOf(scale)) ? <i32>scale : -1;
}

/** Fills INTEGERS with the values times the power; false when one is not exact. */
function multiply(values: usize, count: u32, power: f64): bool {
  const powers = f64x2.splat(power), end = f64x2.splat(INTEGER_END), negativeZero = i64x2.splat(NEGATIVE_ZERO);
  const bytes = <usize>count << 3;
  let exact = i64x2.splat(-1);
  for (let at: usize = 0; at < bytes; at += 16) {
    const value = v128.load(values + at);
    const integer = f64x2.nearest(f64x2.mul(value, powers));
    const fits = v128.and(f64x2.eq(f64x2.div(integer, powers), value), f64x2.lt(f64x2.abs(integer), end));
    exact = v128.and(exact, v128.andnot(fits, i64x2.eq(value, negativeZero)));
    v128.store(INTEGERS + at, integer);
  }
  return i64x2.all_true(exact);
}

/** Encodes INTEGERS. */
function encodeIntegers(count: u32, scale: u32, at: usize): usize {
  measure(count);
  const order = chooseOrder(count);
  const low = order == 0 ? min0 : order == 1 ? min1 : min2;
  const range = <u64>((order == 0 ? max0 : order == 1 ? max1 : max2) - low);
  toResiduals(count, order, low, range);
  const residuals = WORDS + (<usize>order << 3), residualCount = count - order;
  const step = range > 1 ? commonStep(residuals, residualCount) : 1;
  const width = bitLength(step > 1 ? range / step : range);
  store<u8>(at, <u8>(order | (scale << 2) | (step > 1 ? STEP : 0)));
  store<u8>(at, <u8>width, 1);
  let next = at + 2;
  if (order > 0) next = writeVarint(zigzag(load<f64>(INTEGERS)), next);
  if (order > 1) next = writeVarint(zigzag(load<f64>(INTEGERS, 8) - load<f64>(INTEGERS)), next);
  next = writeVarint(zigzag(low), next);
  if (step > 1) {
    next = writeVarint(step, next);
    divide(residuals, residualCount, <f64>step, range);
  }
  return packWords(residuals, residualCount, width, next);
}

/** Extremes of the integers and of their first and second differences, as far as there are any. */
function measure(count: u32): void {
  const first = load<f64>(INTEGERS), second = load<f64>(INTEGERS, 8), third = load<f64>(INTEGERS, 16);
  min0 = max0 = first;
  if (count < 2) return;
  min0 = min(min0, second);
  max0 = max(max0, second);
  min1 = max1 = second - first;
  if (count < 3) return;
  min0 = min(min0, third);
  max0 = max(max0, third);
  min1 = min(min1, third - second);
  max1 = max(max1, third - second);
  min2 = max2 = (third - second) - (second - first);
  if (count > 3) measurePairs(count);
}

/** Pairs from the third integer on; where the count is odd, the last pair begins one place earlier. */
// @ts-ignore
@inline
function measurePairs(count: u32): void {
  let low0 = f64x2.splat(min0), low1 = f64x2.splat(min1), low2 = f64x2.splat(min2);
  let high0 = f64x2.splat(max0), high1 = f64x2.splat(max1), high2 = f64x2.splat(max2);
  const last = INTEGERS + (<usize>count << 3) - 16;
  for (let at = INTEGERS + 16; ; at = min(at + 16, last)) {
    const integer = v128.load(at), before = v128.load(at - 8);
    const difference = f64x2.sub(integer, before);
    const change = f64x2.sub(difference, f64x2.sub(before, v128.load(at - 16)));
    low0 = f64x2.pmin(low0, integer);
    high0 = f64x2.pmax(high0, integer);
    low1 = f64x2.pmin(low1, difference);
    high1 = f64x2.pmax(high1, difference);
    low2 = f64x2.pmin(low2, change);
    high2 = f64x2.pmax(high2, change);
    if (at == last) break;
  }
  min0 = smaller(low0);
  max0 = larger(high0);
  min1 = smaller(low1);
  max1 = larger(high1);
  min2 = smaller(low2);
  max2 = larger(high2);
}

// @ts-ignore
@inline
function smaller(pair: v128): f64 {
  return min(f64x2.extract_lane(pair, 0), f64x2.extract_lane(pair, 1));
}

// @ts-ignore
@inline
function larger(pair: v128): f64 {
  return max(f64x2.extract_lane(pair, 0), f64x2.extract_lane(pair, 1));
}

/** The order of the differences whose packed form is smallest. */
function chooseOrder(count: u32): u32 {
  let order: u32 = 0, cost = bitLength(<u64>(max0 - min0)) * count;
  if (count > 1) {
    const first = bitLength(<u64>(max1 - min1)) * (count - 1) + ORDER_BITS;
    if (first < cost) {
      cost = first;
      order = 1;
    }
  }
  if (count > 2 && max(max1, -min1) <= DIFFERENCE_MAX && bitLength(<u64>(max2 - min2)) * (count - 2) + 2 * ORDER_BITS < cost) order = 2;
  return order;
}

/** Fills WORDS from place `order` on with the differences less the smallest. */
function toResiduals(count: u32, order: u32, low: f64, range: u64): void {
  const lows = f64x2.splat(low), end = INTEGERS + (<usize>count << 3);
  const isWide = range > MANTISSA;
  const base = f64x2.splat(TWO_52), mantissa = i64x2.splat(MANTISSA);
  for (let at = INTEGERS; at < end; at += 16) {
    let term = v128.load(at);
    if (order > 0) {
      const before = v128.load(at - 8);
      term = f64x2.sub(term, before);
      if (order > 1) term = f64x2.sub(term, f64x2.sub(before, v128.load(at - 16)));
    }
    term = f64x2.sub(term, lows);
    const word = isWide
      ? i64x2(<i64>f64x2.extract_lane(term, 0), <i64>f64x2.extract_lane(term, 1))
      : v128.and(f64x2.add(term, base), mantissa);
    v128.store(WORDS + (at - INTEGERS), word);
  }
}

/** 32-bit division takes a third of the time of 64-bit division. */
// @ts-ignore
@inline
function remainderOf(value: u64, divisor: u64): u64 {
  return ((value | divisor) >> 32) == 0 ? <u64>(<u32>value % <u32>divisor) : value % divisor;
}

/** Greatest common divisor of the words; at least one of them is not zero. */
function commonStep(from: usize, count: u32): u64 {
  const end = from + (<usize>count << 3);
  let step: u64 = 0;
  for (; from < end && step != 1; from += 8) {
    let rest = load<u64>(from);
    if (rest == step || (step != 0 && remainderOf(rest, step) == 0)) continue;
    while (rest != 0) {
      const remainder = remainderOf(step, rest);
      step = rest;
      rest = remainder;
    }
  }
  return step;
}

/** Divides words up to `range`, which is below 2^53, by what divides all of them. */
function divide(from: usize, count: u32, step: f64, range: u64): void {
  const end = from + (<usize>count << 3);
  if (range > MANTISSA) {
    for (; from < end; from += 8) store<u64>(from, <u64>(<f64>load<i64>(from) / step));
    return;
  }
  const steps = f64x2.splat(step), base = f64x2.splat(TWO_52), mantissa = i64x2.splat(MANTISSA);
  for (; from < end; from += 16) {
    const quotient = f64x2.div(f64x2.sub(v128.or(v128.load(from), base), base), steps);
    v128.store(from, v128.and(f64x2.add(quotient, base), mantissa));
  }
}

/** Encodes doubles as their bits. */
function encodeBits(values: usize, count: u32, at: usize): usize {
  const bytes = <usize>count << 3;
  const first = rotl<u64>(load<u64>(values), 1);
  let low = first, high = first, differing: u64 = 0;
  for (let offset: usize = 0; offset < bytes; offset += 8) {
    const word = rotl<u64>(load<u64>(values + offset), 1);
    store<u64>(WORDS + offset, word);
    low = min(low, word);
    high = max(high, word);
    differing |= word ^ first;
  }
  const shift: u32 = differing == 0 ? 0 : <u32>ctz(differing);
  const width = bitLength((high - low) >> shift);
  store<u8>(at, BITS);
  if ((width == 0 ? 10 : 11) + ((count * width + 7) >> 3) >= 2 + 8 * count) {
    store<u8>(at, 64, 1);
    memory.copy(at + 2, values, bytes);
    return at + 2 + bytes;
  }
  store<u8>(at, <u8>width, 1);
  store<u64>(at, low, 2);
  if (width == 0) return at + 10;
  store<u8>(at, <u8>shift, 10);
  const lows = i64x2.splat(low);
  for (let offset: usize = 0; offset < bytes; offset += 16)
    v128.store(WORDS + offset, i64x2.shr_u(i64x2.sub(v128.load(WORDS + offset), lows), shift));
  return packWords(WORDS, count, width, at + 11);
}
