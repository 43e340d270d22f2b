// Where a frame of zstd ends (RFC 8878), found by the lengths of its blocks without inflating them. Node's decoder stops behind the first frame, and one of Node 22 takes a body that
// was cut for a whole one: what it would drop in silence is reported by the lengths.

const MAGIC = 0xfd2fb528;
const FRAME_HEAD_BYTES_MIN = 5;
const BLOCK_HEAD_BYTES = 3;
const CHECKSUM_BYTES = 4;
const RLE_BLOCK = 1;
/** Bytes of the identity of a dictionary, by the descriptor's lowest two bits. */
const DICTIONARY_BYTES = [0, 1, 2, 4] as const;
/** Bytes of the content's size, by the descriptor's highest two bits; without a window there is one at least. */
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;

/** Bytes of the frame that begins `bytes`; undefined where it is no frame, is cut, or has more than `blocksMax` blocks. A skippable frame is none. */
export function zstdFrameBytes(bytes: Uint8Array, blocksMax: number): number | undefined {
  if (bytes.byteLength < FRAME_HEAD_BYTES_MIN) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== MAGIC) return undefined;
  const descriptor = view.getUint8(4);
  let at = FRAME_HEAD_BYTES_MIN + headBytes(descriptor);
  for (let block = 0; block < blocksMax; block++) {
    if (at + BLOCK_HEAD_BYTES > bytes.byteLength) return undefined;
    const head = view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
    at += BLOCK_HEAD_BYTES + (((head >> 1) & 3) === RLE_BLOCK ? 1 : head >>> 3);
    if ((head & 1) === 0) continue;
    const end = at + ((descriptor & 4) === 0 ? 0 : CHECKSUM_BYTES);
    return end <= bytes.byteLength ? end : undefined;
  }
  return undefined;
}

/** Bytes of the head behind its descriptor: window, dictionary, size of the content. */
function headBytes(descriptor: number): number {
  const isSingle = (descriptor & 0x20) !== 0;
  const size = CONTENT_SIZE_BYTES[(descriptor >> 6) as 0 | 1 | 2 | 3];
  return (isSingle ? Math.max(1, size) : size + 1) + DICTIONARY_BYTES[(descriptor & 3) as 0 | 1 | 2 | 3];
}
