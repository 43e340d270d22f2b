// One NumberDataPoint in JSON, in a body that otlp-json-index.ts checked. A point written in a way that is not read here is odd: TypeScript decodes its bytes.
// Sketch: 120 ns for 430 bytes.
import { numberIsExact, numberValue, readNumber } from "../json/json-number";
import { afterSpace, ARRAY_OPEN, closingQuote, COMMA, escapedStrings, isDigit, MINUS, OBJECT_CLOSE, OBJECT_OPEN, QUOTE, valueEnd } from "../json/json-text";

const DEPTH: i32 = 40;
/** Digits of a number of nanoseconds that a u64 has room for whatever they are; the least has a millisecond. */
const DIGITS_MAX: usize = 19;
const DIGITS_MIN: usize = 7;
/** Digits of an integer that a double holds whatever they are. */
const INTEGER_DIGITS_MAX: usize = 15;

// The point that was read last. Times are nanoseconds since 1970, 0 where absent.
export let pointIsOdd: bool = false;
export let pointTimeNs: u64 = 0;
export let pointStartNs: u64 = 0;
export let pointValue: f64 = 0;
export let pointIsValued: bool = false;
export let pointFlags: u64 = 0;
/** Its attributes as they are written. */
export let pointSpan: usize = 0;
export let pointSpanBytes: u32 = 0;

const SEEN_ATTRIBUTES: u32 = 1;
const SEEN_START: u32 = 2;
const SEEN_TIME: u32 = 4;
const SEEN_VALUE: u32 = 8;
const SEEN_FLAGS: u32 = 16;

let digits: u64 = 0;

/** Reads the point at p and answers the position behind it. */
export function readJsonPoint(p: usize): usize {
  pointIsOdd = false;
  pointTimeNs = pointStartNs = pointFlags = 0;
  pointIsValued = false;
  pointSpan = p;
  pointSpanBytes = 0;
  if (<u32>load<u8>(p) != OBJECT_OPEN) {
    pointIsOdd = true;
    return valueEnd(p, DEPTH);
  }
  const escaped = escapedStrings;
  let seen: u32 = 0, escapesRead: u32 = 0;
  p = afterSpace(p + 1);
  while (<u32>load<u8>(p) != OBJECT_CLOSE) {
    const name = p + 1;
    const quote = closingQuote(name);
    const bytes = quote - name;
    p = afterSpace(afterSpace(quote + 1) + 1); // behind the colon
    const field = fieldOf(name, bytes);
    if ((seen & field) != 0) pointIsOdd = true;
    seen |= field;
    const value = p;
    if (field == 0) {
      const before = escapedStrings;
      p = valueEnd(p, DEPTH);
      escapesRead += escapedStrings - before;
    } else if (field == SEEN_ATTRIBUTES) {
      const before = escapedStrings;
      p = valueEnd(p, DEPTH);
      escapesRead += escapedStrings - before;
      pointSpan = value;
      pointSpanBytes = <u32>(p - value);
      if (<u32>load<u8>(value) != ARRAY_OPEN) pointIsOdd = true;
    } else if (field == SEEN_VALUE) {
      p = readValue(p, bytes == 5);
      pointIsValued = true;
    } else if (field == SEEN_FLAGS) {
      p = isDigit(load<u8>(p)) ? readNumber(p) : oddEnd(p);
      if (!pointIsOdd) pointFlags = <u64>numberValue;
      if (!numberIsExact || numberValue > 4294967295) pointIsOdd = true;
    } else {
      p = readTime(p);
      if (field == SEEN_START) pointStartNs = digits;
      else pointTimeNs = digits;
    }
    p = afterSpace(p);
    if (<u32>load<u8>(p) == COMMA) p = afterSpace(p + 1);
  }
  if (escapedStrings - escaped != escapesRead) pointIsOdd = true; // in a name
  return p + 1;
}

/** Behind a value that is not read here. */
function oddEnd(p: usize): usize {
  pointIsOdd = true;
  return valueEnd(p, DEPTH);
}

/** asDouble, or asInt as number or as text. */
function readValue(p: usize, isInteger: bool): usize {
  const byte: u32 = load<u8>(p);
  if (byte == MINUS || isDigit(byte)) {
    const end = readNumber(p);
    pointValue = numberValue;
    if (!numberIsExact) pointIsOdd = true;
    return end == 0 ? oddEnd(p) : end; // -Infinity
  }
  if (!isInteger || byte != QUOTE) return oddEnd(p);
  const isNegative = <u32>load<u8>(p, 1) == MINUS;
  const first = p + 1 + <usize>isNegative;
  const end = takeDigits(first);
  if (end == first || end - first > INTEGER_DIGITS_MAX || <u32>load<u8>(end) != QUOTE) return oddEnd(p);
  pointValue = isNegative ? -<f64>digits : <f64>digits;
  return end + 1;
}

/** Nanoseconds as a string of digits. */
function readTime(p: usize): usize {
  digits = 0;
  if (<u32>load<u8>(p) != QUOTE) return oddEnd(p);
  const end = takeDigits(p + 1);
  const count = end - p - 1;
  if (<u32>load<u8>(end) != QUOTE || count > DIGITS_MAX || (count < DIGITS_MIN && !(count == 1 && digits == 0))) return oddEnd(p);
  return end + 1;
}

/** Reads digits (more than 19 overflow) and answers the position behind them. */
// @ts-ignore
@inline
function takeDigits(p: usize): usize {
  let value: u64 = 0;
  for (let digit = <u32>load<u8>(p) - 0x30; digit <= 9; digit = <u32>load<u8>(p) - 0x30) {
    value = value * 10 + digit;
    p++;
  }
  digits = value;
  return p;
}

/** Which field a name is; 0 for one that is not read. */
// @ts-ignore
@inline
function fieldOf(name: usize, bytes: usize): u32 {
  const head = load<u64>(name);
  if (bytes == 10 && head == 0x7475626972747461 && load<u16>(name, 8) == 0x7365) return SEEN_ATTRIBUTES; // attributes
  if (bytes == 12 && head == 0x78696e55656d6974 && load<u32>(name, 8) == 0x6f6e614e) return SEEN_TIME; // timeUnixNano
  if (bytes == 17 && head == 0x6d69547472617473 && load<u64>(name, 8) == 0x6e614e78696e5565 && load<u8>(name, 16) == 0x6f) return SEEN_START; // startTimeUnixNano
  if (bytes == 8 && head == 0x656c62756f447361) return SEEN_VALUE; // asDouble
  if (bytes == 5 && (head & 0xffffffffff) == 0x746e497361) return SEEN_VALUE; // asInt
  return bytes == 5 && (head & 0xffffffffff) == 0x7367616c66 ? SEEN_FLAGS : 0; // flags
}
