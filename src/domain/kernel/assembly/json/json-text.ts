// The grammar of JSON (RFC 8259) over UTF-8 bytes. Each function takes the position at which something must begin and answers the position behind it,
// or 0 when it is not there. What is accepted here decodeJson() of domain/codec/json-body.ts accepts: JSON, and a bare NaN, Infinity or -Infinity for a value.
// A zero byte ends every text (BODY_PADDING_BYTES of them follow a body) and is refused everywhere, so that nothing is read beyond it but to be thrown away.
// Sketch: 1.5 ns a string of up to 16 bytes, 16 bytes a nanosecond of longer ones; one byte a nanosecond outside ASCII.

export const QUOTE: u32 = 0x22;
export const COMMA: u32 = 0x2c;
export const MINUS: u32 = 0x2d;
export const COLON: u32 = 0x3a;
const BACKSLASH: u32 = 0x5c;
export const ARRAY_OPEN: u32 = 0x5b;
export const ARRAY_CLOSE: u32 = 0x5d;
export const OBJECT_OPEN: u32 = 0x7b;
export const OBJECT_CLOSE: u32 = 0x7d;

/** Strings with a backslash, and runs of white space, that were passed so far: who compares them before and after a span knows whether it has any. */
export let escapedStrings: u32 = 0;
export let spaceRuns: u32 = 0;
/** Bare NaN, Infinity and -Infinity that were passed so far: what holds one is no JSON. */
export let nonFinites: u32 = 0;
/** Objects that are elements of an array and were passed so far. */
export let objectElements: u32 = 0;

let limit: usize = usize.MAX_VALUE;
/** Whether a value was given up because it goes on behind the limit. */
export let overran: bool = false;

/** From here on a value that has an array, an object or a long text going on behind `address` is given up: 0, and `overran`. */
export function setTextLimit(address: usize): void {
  limit = address;
  overran = false;
}

/** Whether something at p is behind the limit. */
// @ts-ignore
@inline
function overruns(p: usize): bool {
  if (p <= limit) return false;
  overran = true;
  return true;
}

/** Whether the byte is a decimal digit. */
// @ts-ignore
@inline
export function isDigit(byte: u32): bool {
  return byte - 0x30 <= 9;
}

/** The first byte at or behind p that is no white space. */
// @ts-ignore
@inline
export function afterSpace(p: usize): usize {
  return load<u8>(p) > 0x20 ? p : spaceEnd(p);
}

function spaceEnd(p: usize): usize {
  const start = p;
  for (let byte: u32 = load<u8>(p); byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09; byte = load<u8>(p)) {
    p++;
    if (p - start == LONG_SPACE) p = longSpaceEnd(p);
  }
  if (p != start) spaceRuns++;
  return p;
}

/** White space of this length is passed 16 bytes a step from there on. */
const LONG_SPACE: usize = 32;

/** The last position at or behind p before which there is white space alone, but for up to 15 bytes of it. */
function longSpaceEnd(p: usize): usize {
  while (true) {
    const bytes = v128.load(p);
    const spaces = v128.or(i8x16.eq(bytes, i8x16.splat(0x20)), i8x16.eq(bytes, i8x16.splat(0x0a)));
    const others = v128.or(i8x16.eq(bytes, i8x16.splat(0x0d)), i8x16.eq(bytes, i8x16.splat(0x09)));
    if (i8x16.bitmask(v128.or(spaces, others)) != 0xffff) return p;
    p += 16;
  }
}

/** The first quote, backslash, control character or byte outside ASCII at or behind p. */
// @ts-ignore
@inline
function plainEnd(p: usize): usize {
  while (true) {
    const bytes = v128.load(p);
    const quotes = v128.or(i8x16.eq(bytes, i8x16.splat(0x22)), i8x16.eq(bytes, i8x16.splat(0x5c)));
    const stops = i8x16.bitmask(v128.or(quotes, i8x16.lt_s(bytes, i8x16.splat(0x20)))); // signed: bytes outside ASCII are below zero
    if (stops != 0) return p + ctz(stops);
    p += 16;
  }
}

/** The closing quote of the string whose content begins at p. */
// @ts-ignore
@inline
export function closingQuote(p: usize): usize {
  const end = plainEnd(p);
  return <u32>load<u8>(end) == QUOTE ? end : closingQuoteBehind(end);
}

/** The same from the first byte that is not plain. */
function closingQuoteBehind(p: usize): usize {
  let escaped = false;
  while (p != 0) {
    const byte: u32 = load<u8>(p);
    if (byte == QUOTE) {
      if (escaped) escapedStrings++;
      return p;
    }
    if (overruns(p)) return 0;
    if (byte >= 0x80) {
      p = characterEnd(p, byte);
    } else if (byte == BACKSLASH) {
      escaped = true;
      p = escapeEnd(p + 1);
    } else if (byte < 0x20) {
      return 0;
    } else {
      p = plainEnd(p);
    }
  }
  return 0;
}

/** Behind the escape whose character after the backslash stands at p. */
function escapeEnd(p: usize): usize {
  const byte: u32 = load<u8>(p);
  if (byte == 0x75) return isHex(load<u8>(p, 1)) && isHex(load<u8>(p, 2)) && isHex(load<u8>(p, 3)) && isHex(load<u8>(p, 4)) ? p + 5 : 0;
  const isShort = byte == QUOTE || byte == BACKSLASH || byte == 0x2f || byte == 0x62 || byte == 0x66 || byte == 0x6e || byte == 0x72 || byte == 0x74;
  return isShort ? p + 1 : 0;
}

// @ts-ignore
@inline
function isHex(byte: u32): bool {
  return isDigit(byte) || (byte | 0x20) - 0x61 <= 5;
}

// @ts-ignore
@inline
function isContinuation(byte: u32): bool {
  return (byte & 0xc0) == 0x80;
}

/** Behind the UTF-8 character at p, whose first byte is not ASCII (Unicode, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF). */
function characterEnd(p: usize, lead: u32): usize {
  const second: u32 = load<u8>(p, 1);
  if (!isContinuation(second) || lead < 0xc2 || lead > 0xf4) return 0;
  if (lead < 0xe0) return p + 2;
  if (!isContinuation(load<u8>(p, 2))) return 0;
  if (lead < 0xf0) return (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ? 0 : p + 3;
  if (!isContinuation(load<u8>(p, 3))) return 0;
  return (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f) ? 0 : p + 4;
}

/** Behind the digits at p, of which there must be one. */
// @ts-ignore
@inline
function digitsEnd(p: usize): usize {
  if (!isDigit(load<u8>(p))) return 0;
  do p++;
  while (isDigit(load<u8>(p)) && p <= limit);
  return isDigit(load<u8>(p)) && overruns(p) ? 0 : p;
}

/** Behind the number at p. */
function numberEnd(p: usize): usize {
  if (<u32>load<u8>(p) == MINUS) {
    p++;
    if (<u32>load<u8>(p) == 0x49) return infinityEnd(p);
  }
  p = <u32>load<u8>(p) == 0x30 ? p + 1 : digitsEnd(p);
  if (p != 0 && <u32>load<u8>(p) == 0x2e) p = digitsEnd(p + 1);
  if (p != 0 && (<u32>load<u8>(p) | 0x20) == 0x65) {
    const sign: u32 = load<u8>(p, 1);
    p = digitsEnd(sign == 0x2b || sign == MINUS ? p + 2 : p + 1);
  }
  return p;
}

/** Behind the word Infinity at p. */
function infinityEnd(p: usize): usize {
  if (load<u64>(p) != 0x7974696e69666e49) return 0;
  nonFinites++;
  return p + 8;
}

/** Behind the word NaN at p. */
function nanEnd(p: usize): usize {
  if ((load<u32>(p) & 0xffffff) != 0x4e614e) return 0;
  nonFinites++;
  return p + 3;
}

/** Whether the four bytes at p are "null". */
// @ts-ignore
@inline
export function isNull(p: usize): bool {
  return load<u32>(p) == 0x6c6c756e;
}

/** Behind the value at p, which may open `depth` brackets inside each other. */
export function valueEnd(p: usize, depth: i32): usize {
  const byte: u32 = load<u8>(p);
  if (byte == QUOTE) {
    const quote = closingQuote(p + 1);
    return quote == 0 ? 0 : quote + 1;
  }
  if (byte == MINUS || isDigit(byte)) return numberEnd(p);
  if (byte == OBJECT_OPEN) return depth > 0 ? objectEnd(p, depth - 1) : 0;
  if (byte == ARRAY_OPEN) return depth > 0 ? arrayEnd(p, depth - 1) : 0;
  if (isNull(p) || load<u32>(p) == 0x65757274) return p + 4; // true
  if (load<u32>(p) == 0x736c6166 && <u32>load<u8>(p, 4) == 0x65) return p + 5; // false
  return byte == 0x4e ? nanEnd(p) : byte == 0x49 ? infinityEnd(p) : 0;
}

/** Behind the object whose bracket stands at p; its members may open `depth` brackets inside each other. */
export function objectEnd(p: usize, depth: i32): usize {
  p = afterSpace(p + 1);
  if (<u32>load<u8>(p) == OBJECT_CLOSE) return p + 1;
  while (<u32>load<u8>(p) == QUOTE) {
    if (overruns(p)) return 0;
    p = closingQuote(p + 1);
    if (p == 0) return 0;
    p = afterSpace(p + 1);
    if (<u32>load<u8>(p) != COLON) return 0;
    p = afterSpace(p + 1);
    if (<u32>load<u8>(p) == QUOTE) {
      p = closingQuote(p + 1);
      if (p == 0) return 0;
      p++;
    } else {
      p = valueEnd(p, depth);
      if (p == 0) return 0;
    }
    p = afterSpace(p);
    const byte: u32 = load<u8>(p);
    if (byte == OBJECT_CLOSE) return p + 1;
    if (byte != COMMA) return 0;
    p = afterSpace(p + 1);
  }
  return 0;
}

function arrayEnd(p: usize, depth: i32): usize {
  p = afterSpace(p + 1);
  if (<u32>load<u8>(p) == ARRAY_CLOSE) return p + 1;
  while (true) {
    if (overruns(p)) return 0;
    if (<u32>load<u8>(p) == OBJECT_OPEN) objectElements++;
    p = valueEnd(p, depth);
    if (p == 0) return 0;
    p = afterSpace(p);
    const byte: u32 = load<u8>(p);
    if (byte == ARRAY_CLOSE) return p + 1;
    if (byte != COMMA) return 0;
    p = afterSpace(p + 1);
  }
}
