// Varints and bit packing of chunk columns (domain/codec/varint.ts, bit-packing.ts). Writers may run up to 8 bytes over what they return.

/** Bits that a number needs; 0 for 0. */
// @ts-ignore
@inline
export function bitLength(value: u64): u32 {
  return 64 - <u32>clz(value);
}

/** Writes a LEB128 varint at `at` and returns the place behind it. */
export function writeVarint(value: u64, at: usize): usize {
  while (value >= 128) {
    store<u8>(at++, <u8>value | 128);
    value >>= 7;
  }
  store<u8>(at, <u8>value);
  return at + 1;
}

// @ts-ignore
@inline
export function zigzag(value: f64): u64 {
  const integer = <i64>value;
  return <u64>((integer << 1) ^ (integer >> 63));
}

/** Packs the `count` words at `from`, each of at most `width` (0 to 63) bits, without gaps, lowest bit first; returns the place behind them. */
export function packWords(from: usize, count: u32, width: u32, at: usize): usize {
  if (width == 0) return at;
  const end = from + (<usize>count << 3);
  const wide = <u64>width;
  let pending: u64 = 0, bits: u64 = 0;
  for (; from < end; from += 8) {
    const word = load<u64>(from);
    pending |= word << bits;
    bits += wide;
    if (bits >= 64) {
      store<u64>(at, pending);
      at += 8;
      bits -= 64;
      pending = word >> (wide - bits);
    }
  }
  store<u64>(at, pending);
  return at + <usize>((bits + 7) >> 3);
}
