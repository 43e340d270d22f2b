// What a shard keeps of one partition besides the stream records: its slots, the refs of this epoch, the chunks that wait for a block.
// All of it goes into the partition's checkpoint.
import { ChunkBlockBuilder } from "../../domain/codec/chunk-block-builder.ts";

const STATE_VERSION = 1;
const STATE_HEADER_BYTES = 12;

/** One stream in a checkpoint; the arrays are views on the checkpoint's bytes. */
export interface StreamState {
  readonly identity: Uint8Array;
  readonly snapshot: Uint8Array;
  readonly refs: readonly number[];
}

/** One of the 256 partitions, as its owning shard holds it. */
export class Partition {
  readonly number: number;
  readonly slots: number[] = [];
  /** Pairs (ref, slot) bound in this epoch. */
  readonly refs: number[] = [];
  chunks = new ChunkBlockBuilder();
  nextBlock = 0;
  readonly #blockBytes: number;

  constructor(number: number, blockBytes: number) {
    this.number = number;
    this.#blockBytes = blockBytes;
  }

  get blockIsDue(): boolean {
    return this.chunks.byteLength >= this.#blockBytes;
  }

  /** Ends the waiting block: {partition u32, block number u32} and the block. */
  takeBlock(): Uint8Array {
    const block = this.chunks.finish();
    const frame = new Uint8Array(8 + block.byteLength);
    const view = new DataView(frame.buffer);
    view.setUint32(0, this.number, true);
    view.setUint32(4, this.nextBlock, true);
    frame.set(block, 8);
    this.nextBlock++;
    return frame;
  }
}

/** The bytes of a partition's state: version, stream count, then streams, then the waiting chunks. */
export function encodePartitionState(streams: readonly StreamState[], chunks: Uint8Array): Uint8Array {
  const bytes = streams.reduce(
    (sum, stream) => sum + 12 + stream.identity.byteLength + stream.snapshot.byteLength + 4 * stream.refs.length,
    0,
  );
  const state = new Uint8Array(STATE_HEADER_BYTES + bytes + chunks.byteLength);
  const view = new DataView(state.buffer);
  view.setUint32(0, STATE_VERSION, true);
  view.setUint32(4, streams.length, true);
  view.setUint32(8, chunks.byteLength, true);
  let at = STATE_HEADER_BYTES;
  for (const stream of streams) {
    view.setUint32(at, stream.identity.byteLength, true);
    view.setUint32(at + 4, stream.snapshot.byteLength, true);
    view.setUint32(at + 8, stream.refs.length, true);
    state.set(stream.identity, at + 12);
    state.set(stream.snapshot, at + 12 + stream.identity.byteLength);
    at += 12 + stream.identity.byteLength + stream.snapshot.byteLength;
    for (const ref of stream.refs) {
      view.setUint32(at, ref, true);
      at += 4;
    }
  }
  state.set(chunks, at);
  return state;
}

/** Reads a partition's state back. Throws on another version: the store's own checksum guards against damage. */
export function decodePartitionState(state: Uint8Array): { streams: StreamState[]; chunks: Uint8Array } {
  const view = new DataView(state.buffer, state.byteOffset, state.byteLength);
  if (view.getUint32(0, true) !== STATE_VERSION)
    throw new Error(`checkpoint has version ${view.getUint32(0, true)}, this build reads ${STATE_VERSION}`);
  const count = view.getUint32(4, true);
  const streams: StreamState[] = [];
  let at = STATE_HEADER_BYTES;
  for (let i = 0; i < count; i++) {
    const identityEnd = at + 12 + view.getUint32(at, true);
    const snapshotEnd = identityEnd + view.getUint32(at + 4, true);
    const refCount = view.getUint32(at + 8, true);
    const refs = Array.from({ length: refCount }, (_, j) => view.getUint32(snapshotEnd + 4 * j, true));
    streams.push({ identity: state.subarray(at + 12, identityEnd), snapshot: state.subarray(identityEnd, snapshotEnd), refs });
    at = snapshotEnd + 4 * refCount;
  }
  return { streams, chunks: state.subarray(at, at + view.getUint32(8, true)) };
}
