// How deep JSON is nested: the largest number of [ and { that are open at once, strings apart. Used to refuse a body before JSON.parse sees it.
// 64 bytes a step; the treatment of backslashes is simdjson's (https://github.com/simdjson/simdjson, json_escape_scanner.h).
// For text that is no JSON the answer holds up to its first error, where JSON.parse stops.

const EVERY_ODD_BIT: u64 = 0xaaaaaaaaaaaaaaaa;

/** Bit i: byte i of the 64 at p equals the byte that `wanted` repeats. */
// @ts-ignore
@inline
function bytesEqual(p: usize, wanted: v128): u64 {
  return <u64>i8x16.bitmask(i8x16.eq(v128.load(p), wanted))
    | (<u64>i8x16.bitmask(i8x16.eq(v128.load(p, 16), wanted)) << 16)
    | (<u64>i8x16.bitmask(i8x16.eq(v128.load(p, 32), wanted)) << 32)
    | (<u64>i8x16.bitmask(i8x16.eq(v128.load(p, 48), wanted)) << 48);
}

/** Bit i: byte i, after bit 5 was set, equals the byte that `wanted` repeats; so [ and { are one, ] and } another. */
// @ts-ignore
@inline
function bracketsEqual(p: usize, wanted: v128): u64 {
  const fold = i8x16.splat(0x20);
  return <u64>i8x16.bitmask(i8x16.eq(v128.or(v128.load(p), fold), wanted))
    | (<u64>i8x16.bitmask(i8x16.eq(v128.or(v128.load(p, 16), fold), wanted)) << 16)
    | (<u64>i8x16.bitmask(i8x16.eq(v128.or(v128.load(p, 32), fold), wanted)) << 32)
    | (<u64>i8x16.bitmask(i8x16.eq(v128.or(v128.load(p, 48), fold), wanted)) << 48);
}

/** Bit i of the result is the exclusive or of bits 0..i. */
// @ts-ignore
@inline
function prefixXor(bits: u64): u64 {
  bits ^= bits << 1;
  bits ^= bits << 2;
  bits ^= bits << 4;
  bits ^= bits << 8;
  bits ^= bits << 16;
  return bits ^ (bits << 32);
}

/** The deepest nesting of arrays and objects in the text; BODY_PADDING_BYTES must follow it. */
export function jsonDepth(pointer: usize, bytes: u32): i32 {
  let depth: i32 = 0;
  let deepest: i32 = 0;
  let insideString: u64 = 0; // all ones when the block begins inside a string
  let firstEscaped: u64 = 0; // 1 when the block's first byte follows an escaping backslash
  for (let done: u32 = 0; done < bytes; done += 64) {
    const p = pointer + done;
    const left = bytes - done;
    const valid = left >= 64 ? U64.MAX_VALUE : (<u64>1 << <u64>left) - 1;
    const backslashes = bytesEqual(p, i8x16.splat(0x5c)) & valid;
    let escaped = firstEscaped;
    if (backslashes != 0) {
      const escaping = backslashes & ~firstEscaped;
      const codes = (((escaping << 1) | EVERY_ODD_BIT) - escaping) ^ EVERY_ODD_BIT;
      escaped = codes ^ (backslashes | firstEscaped);
      firstEscaped = (codes & backslashes) >> 63;
    } else {
      firstEscaped = 0;
    }
    const quotes = bytesEqual(p, i8x16.splat(0x22)) & valid & ~escaped;
    const strings = prefixXor(quotes) ^ insideString;
    insideString = <u64>(<i64>strings >> 63);
    const opening = bracketsEqual(p, i8x16.splat(0x7b)) & valid & ~strings;
    const closing = bracketsEqual(p, i8x16.splat(0x7d)) & valid & ~strings;
    const openings = <i32>popcnt(opening);
    if (depth + openings > deepest) deepest = max(deepest, deepestInBlock(depth, opening, closing));
    depth += openings - <i32>popcnt(closing);
  }
  return deepest;
}

/** Follows the brackets of one block, one by one. */
function deepestInBlock(depth: i32, opening: u64, closing: u64): i32 {
  let deepest = depth;
  for (let brackets = opening | closing; brackets != 0; brackets &= brackets - 1) {
    if ((opening & brackets & (0 - brackets)) != 0) {
      depth++;
      deepest = max(deepest, depth);
    } else {
      depth--;
    }
  }
  return deepest;
}
