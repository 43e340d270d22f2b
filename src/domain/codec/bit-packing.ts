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
  if (width === 0) {
    values.fill(0, from, to);
    return;
  }
  const reader = width <= PIECE_BITS ? unpackNarrow : unpackWide;
  const fast = Math.min(to - from, readableAhead(bytes, at, width));
  reader(viewOf(bytes), 8 * at, width, values, from, from + fast);
  if (from + fast < to) reader(tailOf(bytes, at, fast * width), (fast * width) & 7, width, values, from + fast, to);
}

/** Integers of 1 to 24 bits from a bit on: four bytes hold one wherever it begins. */
function unpackNarrow(view: DataView, firstBit: number, width: number, values: Float64Array, from: number, to: number): void {
  const mask = (1 << width) - 1;
  let bit = firstBit;
  for (let index = from; index < to; index++, bit += width) values[index] = (view.getInt32(bit >>> 3, true) >>> (bit & 7)) & mask;
}

/** Integers of 25 to 54 bits. */
function unpackWide(view: DataView, firstBit: number, width: number, values: Float64Array, from: number, to: number): void {
  const [lowMask, highMask] = [maskOf(width), maskOf(width - 32)];
  let bit = firstBit;
  for (let index = from; index < to; index++, bit += width)
    values[index] = ((wordAt(view, bit) & lowMask) >>> 0) + ((wordAt(view, bit + 32) & highMask) >>> 0) * 2 ** 32;
}

/**
 * Packs the lowest `width` (0 to 64) bits of `count` words, given as pairs (low, high), at `at` of `out` as above, in pieces of 16 bits;
 * returns the place behind them.
 */
export function packUint32s(slots: Uint32Array, count: number, width: number, out: Uint8Array, at: number): number {
  let pending = 0;
  let pendingBits = 0;
  let next = at;
  for (let index = 0; index < count; index++) {
    for (let done = 0; done < width; done += 16) {
      pending |= ((slots[2 * index + (done >>> 5)]! >>> (done & 16)) & 0xffff) << pendingBits;
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
export function unpackUint32s(bytes: Uint8Array, at: number, width: number, slots: Uint32Array, count: number): void {
  const fast = Math.min(count, readableAhead(bytes, at, width));
  unpackPairs(viewOf(bytes), 8 * at, width, slots, 0, fast);
  if (fast < count) unpackPairs(tailOf(bytes, at, fast * width), (fast * width) & 7, width, slots, fast, count);
}

function unpackPairs(view: DataView, firstBit: number, width: number, slots: Uint32Array, from: number, to: number): void {
  const [lowMask, highMask] = [maskOf(width), maskOf(width - 32)];
  let bit = firstBit;
  for (let index = from; index < to; index++, bit += width) {
    slots[2 * index] = wordAt(view, bit) & lowMask;
    slots[2 * index + 1] = wordAt(view, bit + 32) & highMask;
  }
}

/** The 32 bits that begin at a bit, which five bytes hold. The second shift is one in two, because a shift by 32 is none. */
function wordAt(view: DataView, bit: number): number {
  const at = bit >>> 3;
  const shift = bit & 7;
  return (view.getInt32(at, true) >>> shift) | ((view.getUint8(at + 4) << 1) << (31 - shift));
}

/** A word whose lowest bits are set, of them at most 32; none where `bits` is below 1. */
function maskOf(bits: number): number {
  return bits >= 32 ? -1 : (1 << Math.max(0, bits)) - 1;
}

/** Bytes from where an integer begins that a reader may touch. */
const REACH_BYTES = 9;

/** Number of integers from `at` on that can be read without touching what is behind the bytes. */
function readableAhead(bytes: Uint8Array, at: number, width: number): number {
  const bits = 8 * (bytes.length - at - REACH_BYTES);
  return bits < 0 ? 0 : width === 0 ? Number.POSITIVE_INFINITY : Math.floor(bits / width) + 1;
}

const tail = new Uint8Array(8 * REACH_BYTES);
const tailView = new DataView(tail.buffer);

/** The last integers once more, with zeros behind them: from the byte in which the integer at `bit` of those at `at` begins. Valid until the next call. */
function tailOf(bytes: Uint8Array, at: number, bit: number): DataView {
  tail.fill(0);
  tail.set(bytes.subarray(at + (bit >>> 3), at + (bit >>> 3) + tail.length - REACH_BYTES));
  return tailView;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
