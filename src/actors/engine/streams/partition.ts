// What a shard keeps of one partition besides the stream records: its slots, the refs of this epoch, the chunks that wait for a block.
// All of it goes into the partition's checkpoint (partition-state.ts).
import { Uint32List } from "../../../core/collections/uint32-list.ts";
import { WC_BLOCK_BYTES } from "../../../core/layout/waiting-chunks.ts";
import type { BlockEncoder } from "../../../domain/codec/chunk-block.ts";
import { ChunkBlockBuilder, type WaitingPosition } from "../../../domain/codec/chunk-block-builder.ts";

/** Header of a block in its frame. */
const BLOCK_FRAME_HEAD_BYTES = 8;

/** One of the 256 partitions, as its owning shard holds it. */
export class Partition {
  readonly number: number;
  slots = new Uint32List();
  /** Pairs (ref, slot) bound in this epoch; slots from COLD_SLOTS on stand for streams that are not in memory. */
  readonly refs = new Uint32List();
  /** Numbers (cold/cold-streams.ts) of the streams that are in the store instead of here, and of those that have come back since the last checkpoint. */
  cold = new Uint32List();
  returned = new Uint32List();
  /** The number that the next stream to go gets in the store. */
  nextSerial = 0;
  chunks: ChunkBlockBuilder;
  nextBlock = 0;
  /** Generation of the checkpoint that was written last, and the bytes of its state. */
  generation = 0;
  stateBytes = 0;
  /** Whether anything but rows, which the kernel notes, has come to it since the state of its last checkpoint was begun. */
  isTouched = true;
  readonly #blockBytes: number;
  readonly #position: WaitingPosition | undefined;

  /** Chunks wait at `place` for as long as they fit there. */
  constructor(number: number, blockBytes: number, position?: WaitingPosition) {
    this.number = number;
    this.#blockBytes = blockBytes;
    this.#position = position;
    if (position !== undefined) position.state[WC_BLOCK_BYTES / 4] = blockBytes;
    this.chunks = new ChunkBlockBuilder(position);
  }

  /** Takes over the chunks that waited when a checkpoint was written; false when the bytes are no such state. */
  restoreChunks(state: Uint8Array): boolean {
    const chunks = ChunkBlockBuilder.restore(state, this.#position);
    if (chunks !== undefined) this.chunks = chunks;
    return chunks !== undefined;
  }

  /** Notes that rows with this ref belong to the slot. */
  bind(ref: number, slot: number): void {
    this.isTouched = true;
    this.refs.push(ref);
    this.refs.push(slot);
  }

  /** Whether a chunk of so many bytes has to wait for the next block: one of BLOCK_BYTES fills its pages, one byte more takes another. */
  blockIsFull(chunkBytes: number): boolean {
    return this.chunks.count > 0 && !this.chunks.hasCapacity(chunkBytes, this.#blockBytes);
  }

  /** Ends the waiting block: {partition u32, block number u32} and the block, as `encode` gives it. */
  takeBlock(encode: BlockEncoder): Uint8Array {
    const frame = this.chunks.finish(BLOCK_FRAME_HEAD_BYTES, encode);
    const view = new DataView(frame.buffer, frame.byteOffset);
    view.setUint32(0, this.number, true);
    view.setUint32(4, this.nextBlock, true);
    this.nextBlock++;
    return frame;
  }
}
