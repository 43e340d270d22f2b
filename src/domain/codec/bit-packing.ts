/**
 * Packs non-negative integers of equal width (0 to 54 bits) without gaps, lowest bit first; the last byte is padded with zeros.
 * Wide integers go in pieces of 24 bits, so that piece and pending bits (at most 7) fit into the 32 bits of one JavaScript word.
 */

const PIECE_BITS = 24;
const PIECE = 2 ** PIECE_BITS;

/** Widest integer that is packed: a difference of two differences of 52-bit integers. */
export const PACKED_BITS_MAX = 54;

/** Returns how many bits a non-negative integer up to 2^54 needs; 0 for 0. */
export function bitLength(value: number): number {
  if (value < 0x1_0000_0000) return 32 - Math.clz32(value);
  return 64 - Math.clz32(Math.floor(value / 0x1_0000_0000));
}

/** Returns how many bytes `count` integers of `width` bits take. */
export function packedBytes(count: number, width: number): number {
  return (count * width + 7) >>> 3;
}

/** Packs `values[from..to)` at `at` of `out` and returns the place behind them. */
export function packBits(values: Float64Array, from: number, to: number, width: number, out: Uint8Array, at: number): number {
  let pending = 0;
  let pendingBits = 0;
  let next = at;
  for (let index = from; index < to; index++) {
    let rest = values[index]!;
    for (let bits = width; bits > 0; bits -= PIECE_BITS) {
      pending |= (rest % PIECE) << pendingBits;
      pendingBits += bits < PIECE_BITS ? bits : PIECE_BITS;
      rest = Math.floor(rest / PIECE);
      for (; pendingBits >= 8; pendingBits -= 8) {
        out[next++] = pending;
        pending >>>= 8;
      }
    }
  }
  if (pendingBits > 0) out[next++] = pending;
  return next;
}

/** Unpacks integers of `width` bits from `at` of `bytes` into `values[from..to)`; the caller has checked that the bytes are there. */
export function unpackBits(bytes: Uint8Array, at: number, width: number, values: Float64Array, from: number, to: number): void {
  if (width === 0) values.fill(0, from, to);
  else if (width <= PIECE_BITS) unpackPieces(bytes, at, width, values, from, to);
  else unpackWide(bytes, at, width, values, from, to);
}

/** Integers of 1 to 24 bits. */
function unpackPieces(bytes: Uint8Array, at: number, width: number, values: Float64Array, from: number, to: number): void {
  const mask = (1 << width) - 1;
  let pending = 0;
  let pendingBits = 0;
  let next = at;
  for (let index = from; index < to; index++) {
    for (; pendingBits < width; pendingBits += 8) pending |= bytes[next++]! << pendingBits;
    values[index] = pending & mask;
    pending >>>= width;
    pendingBits -= width;
  }
}

function unpackWide(bytes: Uint8Array, at: number, width: number, values: Float64Array, from: number, to: number): void {
  let pending = 0;
  let pendingBits = 0;
  let next = at;
  for (let index = from; index < to; index++) {
    let value = 0;
    let weight = 1;
    for (let bits = width; bits > 0; bits -= PIECE_BITS) {
      const piece = bits < PIECE_BITS ? bits : PIECE_BITS;
      for (; pendingBits < piece; pendingBits += 8) pending |= bytes[next++]! << pendingBits;
      value += (pending & ((1 << piece) - 1)) * weight;
      pending >>>= piece;
      pendingBits -= piece;
      weight *= PIECE;
    }
    values[index] = value;
  }
}

/**
 * Packs the lowest `width` (0 to 64) bits of `count` words, given as pairs (low, high), at `at` of `out` as above, in pieces of 16 bits;
 * returns the place behind them.
 */
export function packWords(words: Uint32Array, count: number, width: number, out: Uint8Array, at: number): number {
  let pending = 0;
  let pendingBits = 0;
  let next = at;
  for (let index = 0; index < count; index++) {
    for (let done = 0; done < width; done += 16) {
      pending |= ((words[2 * index + (done >>> 5)]! >>> (done & 16)) & 0xffff) << pendingBits;
      pendingBits += Math.min(16, width - done);
      for (; pendingBits >= 8; pendingBits -= 8) {
        out[next++] = pending;
        pending >>>= 8;
      }
    }
  }
  if (pendingBits > 0) out[next++] = pending;
  return next;
}

/** Unpacks `count` words of `width` bits (0 to 64) into pairs (low, high); the caller has checked that the bytes are there. */
export function unpackWords(bytes: Uint8Array, at: number, width: number, words: Uint32Array, count: number): void {
  let pending = 0;
  let pendingBits = 0;
  let next = at;
  words.fill(0, 0, 2 * count);
  for (let index = 0; index < count; index++) {
    for (let done = 0; done < width; done += 16) {
      const piece = Math.min(16, width - done);
      for (; pendingBits < piece; pendingBits += 8) pending |= bytes[next++]! << pendingBits;
      const place = 2 * index + (done >>> 5);
      words[place] = words[place]! | ((pending & ((1 << piece) - 1)) << (done & 16));
      pending >>>= piece;
      pendingBits -= piece;
    }
  }
}
