// The value of a JSON number, bit for bit that of JSON.parse: one product or quotient of exact doubles where that is exact (W. D. Clinger, How to Read
// Floating Point Numbers Accurately, 1990), else the product with a 128-bit power of five (D. Lemire, Number Parsing at a Gigabyte per Second, 2021;
// that it needs no third step: N. Mushtak and D. Lemire, Fast Number Parsing Without Fallback, 2022). What is left (more than 19 significant digits,
// results that are subnormal or infinite, powers beyond the table) is for JSON.parse.
// Sketch: 6 ns for 17 digits.
import { POWER_OF_FIVE_BYTES, POWER_OF_FIVE_FIRST, POWER_OF_FIVE_LAST, POWERS_OF_FIVE } from "../../../../core/layout/memory-map";
import { isDigit, MINUS } from "./json-text";

/** Powers of ten that a double holds exactly. */
const EXACT_POWERS: StaticArray<f64> = [
  1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];
const EXACT_POWER_LAST: i32 = 22;
const EXACT_INTEGER_MAX: u64 = 1 << 53;
/** Digits that every u64 below 10^19 has room for. */
const DIGITS_MAX: i32 = 19;
/** An exponent this large stays beyond the table whatever the number of digits before it, of which a body holds fewer. */
const EXPONENT_MAX: i32 = 100_000_000;

/** The number that was read last, and whether that is its value. */
export let numberValue: f64 = 0;
export let numberIsExact: bool = false;

/** 10^n for n digits of a step. */
const STEP_POWERS: StaticArray<u64> = [
  1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000, 1_000_000_000_000,
  10_000_000_000_000, 100_000_000_000_000, 1_000_000_000_000_000, 10_000_000_000_000_000,
];
const STEP_DIGITS: u32 = 16;

let mantissa: u64 = 0;

/** Takes the digits at p into the mantissa (which may overflow), up to 16 a step, and answers the position behind them. */
// @ts-ignore
@inline
function takeDigits(p: usize): usize {
  let m = mantissa;
  let digits: u32;
  do {
    const values = i8x16.sub(v128.load(p), i8x16.splat(0x30));
    digits = ctz(i8x16.bitmask(i8x16.gt_u(values, i8x16.splat(9))) | (1 << STEP_DIGITS));
    // Moves the digits to the end, behind zeros: places below zero are beyond the vector, which swizzle reads as zero.
    const indices = i8x16.sub(i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), i8x16.splat(<i8>(STEP_DIGITS - digits)));
    const aligned = i8x16.swizzle(values, indices);
    const step = eightDigits(i64x2.extract_lane(aligned, 0)) * 100_000_000 + eightDigits(i64x2.extract_lane(aligned, 1));
    m = m * unchecked(STEP_POWERS[digits]) + step;
    p += digits;
  } while (digits == STEP_DIGITS);
  mantissa = m;
  return p;
}

/** The number that eight bytes below ten are the digits of, the first one in the lowest byte. */
// @ts-ignore
@inline
function eightDigits(word: u64): u64 {
  word = word * 10 + (word >> 8);
  return ((word & 0x000000ff000000ff) * 0x000f424000000064 + ((word >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >> 32;
}

/** Reads the number at p into numberValue and answers the position behind it, or 0 when there is none. */
export function readNumber(p: usize): usize {
  const isNegative = <u32>load<u8>(p) == MINUS;
  if (isNegative) p++;
  const first = p;
  mantissa = 0;
  if (!isDigit(load<u8>(p))) return 0;
  p = <u32>load<u8>(p) == 0x30 ? p + 1 : takeDigits(p);
  let digits = <i32>(p - first);
  let exponent: i32 = 0;
  if (<u32>load<u8>(p) == 0x2e) {
    const fraction = p + 1;
    p = takeDigits(fraction);
    if (p == fraction) return 0;
    exponent = -<i32>(p - fraction);
    digits -= exponent;
  }
  const digitsEnd = p;
  if ((<u32>load<u8>(p) | 0x20) == 0x65) {
    p = exponentEnd(p + 1);
    if (p == 0) return 0;
    exponent += writtenExponent;
  }
  if (digits > DIGITS_MAX) digits -= leadingZeros(first, digitsEnd);
  numberIsExact = digits <= DIGITS_MAX && setValue(mantissa, exponent);
  if (isNegative) numberValue = -numberValue;
  return p;
}

let writtenExponent: i32 = 0;

/** Behind the exponent whose sign or first digit stands at p; sets writtenExponent. */
function exponentEnd(p: usize): usize {
  const sign: u32 = load<u8>(p);
  if (sign == 0x2b || sign == MINUS) p++;
  if (!isDigit(load<u8>(p))) return 0;
  let exponent: i32 = 0;
  for (let digit = <u32>load<u8>(p) - 0x30; digit <= 9; digit = <u32>load<u8>(p) - 0x30) {
    if (exponent < EXPONENT_MAX) exponent = exponent * 10 + digit;
    p++;
  }
  writtenExponent = sign == MINUS ? -exponent : exponent;
  return p;
}

/** Zeros ahead of the first other digit. */
function leadingZeros(p: usize, end: usize): i32 {
  let zeros: i32 = 0;
  for (; p < end; p++) {
    const byte: u32 = load<u8>(p);
    if (byte == 0x30) zeros++;
    else if (byte != 0x2e) break;
  }
  return zeros;
}

/** Sets numberValue to the double nearest to m * 10^q; false when that takes more than is done here. */
// @ts-ignore
@inline
function setValue(m: u64, q: i32): bool {
  if (m <= EXACT_INTEGER_MAX && q >= -EXACT_POWER_LAST && q <= EXACT_POWER_LAST) {
    const value = <f64>m;
    numberValue = q < 0 ? value / unchecked(EXACT_POWERS[-q]) : value * unchecked(EXACT_POWERS[q]);
    return true;
  }
  return setProduct(m, q);
}

/** The high half of a 128-bit product. */
// @ts-ignore
@inline
function highProduct(a: u64, b: u64): u64 {
  const aLow = a & 0xffffffff, aHigh = a >> 32, bLow = b & 0xffffffff, bHigh = b >> 32;
  const low = aLow * bLow, crossA = aHigh * bLow, crossB = aLow * bHigh;
  const middle = (low >> 32) + (crossA & 0xffffffff) + (crossB & 0xffffffff);
  return aHigh * bHigh + (crossA >> 32) + (crossB >> 32) + (middle >> 32);
}

/** setValue by Lemire's algorithm 1; names as there. */
function setProduct(w: u64, q: i32): bool {
  numberValue = 0;
  if (w == 0) return true;
  if (q < POWER_OF_FIVE_FIRST || q > POWER_OF_FIVE_LAST) return false;
  const power = <usize>POWERS_OF_FIVE + <usize>(q - POWER_OF_FIVE_FIRST) * <usize>POWER_OF_FIVE_BYTES;
  const powerHigh = load<u64>(power, 8);
  if (powerHigh == 0) return false; // nobody has filled the table
  const zeros = clz(w);
  w <<= zeros;
  let low = w * powerHigh;
  let high = highProduct(w, powerHigh);
  if ((high & 0x1ff) == 0x1ff) {
    const more = highProduct(w, load<u64>(power));
    low += more;
    if (low < more) high++;
  }
  const upper = high >> 63;
  const shift = upper + 64 - 52 - 3;
  let m = high >> shift;
  // floor(log2(10^q)) by a fixed-point product, then the exponent's bias.
  let exponent = ((217_706 * q) >> 16) + 63 + <i32>upper - <i32>zeros + 1023;
  if (exponent <= 0) return false; // subnormal
  // Exactly between two doubles, which only these powers can be: to the even one.
  if (low <= 1 && q >= -4 && q <= 23 && (m & 3) == 1 && m << shift == high) m &= ~(<u64>1);
  m = (m + (m & 1)) >> 1;
  if (m >= <u64>1 << 53) {
    m = <u64>1 << 52;
    exponent++;
  }
  if (exponent >= 0x7ff) return false; // infinite
  numberValue = reinterpret<f64>((m & ~(<u64>1 << 52)) | (<u64>exponent << 52));
  return true;
}
