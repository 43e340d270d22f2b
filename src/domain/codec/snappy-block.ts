// A snappy block (google/snappy, format_description.txt), for bodies that are too few and too small to be worth the kernel: 100 MB a second.

const TAG_LITERAL = 0;
const LITERAL_LENGTH_INLINE = 60;
const LENGTH_BYTES_MAX = 5;

/** The content of a block; undefined where the bytes are none, or their content is longer than `bytesMax`. */
export function readSnappyBlock(block: Uint8Array, bytesMax: number): Uint8Array | undefined {
  const header = contentLength(block);
  if (header === undefined || header.length > bytesMax) return undefined;
  const out = new Uint8Array(header.length);
  let [at, filled] = [header.end, 0];
  while (at < block.length) {
    const tag = block[at++] as number;
    const bytes = (tag & 3) === TAG_LITERAL ? literalLength(block, at, tag >>> 2) : copyOf(block, at, tag);
    if (bytes === undefined || bytes.length > out.length - filled) return undefined;
    at = bytes.from;
    if (bytes.distance === 0) {
      if (bytes.length > block.length - at) return undefined;
      out.set(block.subarray(at, at + bytes.length), filled);
      at += bytes.length;
    } else {
      if (bytes.distance > filled) return undefined;
      // A copy may reach into what it writes.
      for (let copied = 0; copied < bytes.length; copied++) out[filled + copied] = out[filled + copied - bytes.distance] as number;
    }
    filled += bytes.length;
  }
  return filled === out.length ? out : undefined;
}

/** Bytes of the content: a literal, whose distance is 0, behind `from`, or those so far before. */
interface Piece {
  readonly from: number;
  readonly length: number;
  readonly distance: number;
}

function contentLength(block: Uint8Array): { readonly length: number; readonly end: number } | undefined {
  let length = 0;
  for (let at = 0; at < LENGTH_BYTES_MAX && at < block.length; at++) {
    const byte = block[at] as number;
    length += (byte & 127) * 2 ** (7 * at);
    if (byte < 128) return { length, end: at + 1 };
  }
  return undefined;
}

function literalLength(block: Uint8Array, at: number, inline: number): Piece | undefined {
  if (inline < LITERAL_LENGTH_INLINE) return { from: at, length: inline + 1, distance: 0 };
  const bytes = inline - LITERAL_LENGTH_INLINE + 1;
  if (at + bytes > block.length) return undefined;
  return { from: at + bytes, length: littleEndian(block, at, bytes) + 1, distance: 0 };
}

/** Copies have one, two or four bytes of distance; a distance of nothing is none. */
function copyOf(block: Uint8Array, at: number, tag: number): Piece | undefined {
  const bytes = [0, 1, 2, 4][tag & 3] as number;
  if (at + bytes > block.length) return undefined;
  const distance = littleEndian(block, at, bytes) + (bytes === 1 ? (tag >>> 5) * 256 : 0);
  if (distance === 0) return undefined;
  return { from: at + bytes, length: bytes === 1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1, distance };
}

function littleEndian(block: Uint8Array, at: number, bytes: number): number {
  let number = 0;
  for (let byte = bytes - 1; byte >= 0; byte--) number = number * 256 + (block[at + byte] as number);
  return number;
}
