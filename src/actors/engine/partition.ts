// What a shard keeps of one partition besides the stream records: its slots, the refs of this epoch, the chunks that wait for a block.
// All of it goes into the partition's checkpoint (partition-state.ts).
import { Uint32List } from "../../core/base/uint32-list.ts";
import { ChunkBlockBuilder } from "../../domain/codec/chunk-block-builder.ts";

/** One of the 256 partitions, as its owning shard holds it. */
export class Partition {
  readonly number: number;
  readonly slots = new Uint32List();
  /** Pairs (ref, slot) bound in this epoch. */
  readonly refs = new Uint32List();
  chunks = new ChunkBlockBuilder();
  nextBlock = 0;
  /** Of the checkpoint that was written last, and the bytes of its state. */
  generation = 0;
  stateBytes = 0;
  readonly #blockBytes: number;

  constructor(number: number, blockBytes: number) {
    this.number = number;
    this.#blockBytes = blockBytes;
  }

  /** Notes that rows with this ref belong to the slot. */
  bind(ref: number, slot: number): void {
    this.refs.push(ref);
    this.refs.push(slot);
  }

  /** Whether a chunk of so many bytes has to wait for the next block: one of BLOCK_BYTES fills its pages, one byte more takes another. */
  blockIsFull(chunkBytes: number): boolean {
    return this.chunks.count > 0 && !this.chunks.hasRoom(chunkBytes, this.#blockBytes);
  }

  /** Ends the waiting block: {partition u32, block number u32} and the block. */
  takeBlock(): Uint8Array {
    const frame = this.chunks.finish(8);
    const view = new DataView(frame.buffer);
    view.setUint32(0, this.number, true);
    view.setUint32(4, this.nextBlock, true);
    this.nextBlock++;
    return frame;
  }
}
