// Snappy, raw block format: a varint with the decompressed size, then literals and copies out of what was already written.
// https://github.com/google/snappy/blob/main/format_description.txt
// Fast because it moves 16 or 64 bytes at a time and lets a move run over its end: up to 15 bytes behind the input are read (the body's padding) and up to
// 63 behind the output are written. Everything else is checked, so that hostile input ends in a status.
import { BODY_PADDING_BYTES } from "../../../../core/layout/memory-map";
import { STATUS_BAD_SNAPPY, STATUS_TOO_LARGE } from "../../../../core/layout/kernel-status";

/** Literals beyond this go to the engine's memory.copy, which costs more to call and less per byte. */
const LONG_LITERAL: u32 = 256;

/** Row n: which of the n bytes before the copy fills each of 16 places, for a copy whose offset n is under 16. */
const REPEAT_PATTERNS = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1,
  0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0,
  0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,
  0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0,
  0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3,
  0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6, 0, 1,
  0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4, 5, 6,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 1, 2, 3, 4,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 1, 2,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 0, 1,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0,
], 16);

let headerBytes: u32 = 0;

/** The decompressed size that the body states, or U64.MAX_VALUE; sets headerBytes. */
function statedSize(pointer: usize, bytes: u32): u64 {
  let size: u64 = 0;
  for (let i: u32 = 0; i < 5 && i < bytes; i++) {
    const byte = <u64>load<u8>(pointer + i);
    size |= (byte & 127) << (7 * i);
    if (byte < 128) {
      headerBytes = i + 1;
      return size <= <u64>U32.MAX_VALUE ? size : U64.MAX_VALUE;
    }
  }
  return U64.MAX_VALUE;
}

/** Moves whole 16-byte words; source and target must not overlap by less than 16 bytes. */
// @ts-ignore
@inline
function moveWords(target: usize, source: usize, length: u32): void {
  const end = target + length;
  do {
    v128.store(target, v128.load(source));
    target += 16;
    source += 16;
  } while (target < end);
}

/**
 * Moves 64 bytes, of which a copy takes 1 to 64: a loop of as many turns as its length needs would be guessed wrong each time the length is another. Source and
 * target must not overlap by less than 64 bytes.
 */
// @ts-ignore
@inline
function moveCopy(target: usize, source: usize): void {
  v128.store(target, v128.load(source));
  v128.store(target, v128.load(source, 16), 16);
  v128.store(target, v128.load(source, 32), 32);
  v128.store(target, v128.load(source, 48), 48);
}

/** Repeats the `offset` (1 to 15) bytes before `target`. */
function repeat(target: usize, offset: u32, length: u32): void {
  const end = target + length;
  const pattern = v128.swizzle(v128.load(target - offset), v128.load(REPEAT_PATTERNS + (<usize>offset << 4)));
  const step = <usize>(16 - 16 % offset);
  do {
    v128.store(target, pattern);
    target += step;
  } while (target < end);
}

/**
 * Decompresses `bytes` at `pointer` to `out` and answers the number of bytes written, STATUS_BAD_SNAPPY or STATUS_TOO_LARGE.
 * Both areas need BODY_PADDING_BYTES behind them; input and output must not overlap.
 */
export function snappyDecompress(pointer: usize, bytes: u32, out: usize, capacity: u32): i32 {
  const size = statedSize(pointer, bytes);
  if (size == U64.MAX_VALUE) return STATUS_BAD_SNAPPY;
  if (size > <u64>capacity) return STATUS_TOO_LARGE;
  const end = pointer + bytes;
  const limit = out + <usize>size;
  let p = pointer + headerBytes;
  let o = out;
  while (p < end) {
    const tag = <u32>load<u8>(p++);
    let length: u32 = (tag >> 2) + 1;
    if ((tag & 3) == 0) {
      if (length > 60) {
        const lengthBytes = length - 60;
        length = (load<u32>(p) & (U32.MAX_VALUE >> (32 - 8 * lengthBytes))) + 1;
        p += lengthBytes;
        if (p > end) return STATUS_BAD_SNAPPY;
      }
      // A length of 2^32 wraps to 0; minus one it is over every limit again.
      if (length - 1 >= <u32>(end - p) || length > <u32>(limit - o)) return STATUS_BAD_SNAPPY;
      if (length <= LONG_LITERAL) moveWords(o, p, length);
      else memory.copy(o, p, length);
      p += length;
      o += length;
      continue;
    }
    let offset: u32;
    if ((tag & 3) == 1) {
      length = ((tag >> 2) & 7) + 4;
      offset = ((tag >> 5) << 8) | <u32>load<u8>(p);
      p += 1;
    } else if ((tag & 3) == 2) {
      offset = <u32>load<u16>(p);
      p += 2;
    } else {
      offset = load<u32>(p);
      p += 4;
    }
    // An offset of 0 wraps and is refused by the same comparison as one before the output.
    if (p > end || offset - 1 >= <u32>(o - out) || length > <u32>(limit - o)) return STATUS_BAD_SNAPPY;
    if (offset >= 64) moveCopy(o, o - offset);
    else if (offset >= 16) moveWords(o, o - offset, length);
    else repeat(o, offset, length);
    o += length;
  }
  return o == limit ? <i32>size : STATUS_BAD_SNAPPY;
}

/** The most bytes that a move may run over an end; the body's padding must hold them. */
const OVERRUN_BYTES = 63;
if (OVERRUN_BYTES > BODY_PADDING_BYTES) ERROR("the padding is too small");
