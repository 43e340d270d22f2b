// Blocks of chunks that lie in the engine's memory, encoded there.
import { crc32 } from "../../core/hashing/crc32.ts";
import { CB_CHECKSUM_BYTES } from "../../core/layout/chunk-block.ts";
import { CHUNK_BLOCK, CHUNK_BLOCK_BYTES, CHUNK_PLACES, CHUNK_PLACES_MAX } from "../../core/layout/memory-map.ts";
import { type ChunkRecords, chunkBlockBytes, encodeChunkBlock } from "../codec/chunk-block.ts";

/** Zero bytes that the kernel may write behind a block. */
const SLACK_BYTES = 16;

/** Exports of assembly/chunk/chunk-block.ts. */
export interface ChunkBlockExports {
  /** Writes the block of records that begin so many words behind `records` as the u32 at `places` say; its bytes without the checksum. */
  encodeChunkBlock(records: number, places: number, count: number, block: number): number;
}

/** Encodes blocks of one engine. */
export class ChunkBlockKernel {
  readonly #kernel: ChunkBlockExports;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #places: Uint32Array;

  constructor(kernel: ChunkBlockExports, buffer: ArrayBufferLike) {
    this.#kernel = kernel;
    this.#bytes = new Uint8Array(buffer, CHUNK_BLOCK, CHUNK_BLOCK_BYTES);
    this.#view = new DataView(buffer, CHUNK_BLOCK, CHUNK_BLOCK_BYTES);
    this.#places = new Uint32Array(buffer, CHUNK_PLACES, CHUNK_PLACES_MAX);
  }

  /** A BlockEncoder (domain/codec/chunk-block.ts). Its block is valid until the next call where the records lie in the engine's memory and the block fits there. */
  encode(records: ChunkRecords, headBytes: number): Uint8Array {
    const { uint32s: slots, places, chunkBytes } = records;
    const most = headBytes + chunkBlockBytes(places.length, places.length, chunkBytes) + SLACK_BYTES;
    if (slots.buffer !== this.#bytes.buffer || most > CHUNK_BLOCK_BYTES || places.length > CHUNK_PLACES_MAX)
      return encodeChunkBlock(records, headBytes);
    this.#places.set(places);
    const end = headBytes + this.#kernel.encodeChunkBlock(slots.byteOffset, CHUNK_PLACES, places.length, CHUNK_BLOCK + headBytes);
    this.#view.setUint32(end, crc32(this.#bytes.subarray(headBytes, end)), true);
    return this.#bytes.subarray(0, end + CB_CHECKSUM_BYTES);
  }
}
