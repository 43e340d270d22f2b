// Packs the chunks of a slot behind those that wait for a block of its partition, as ChunkBlockBuilder (domain/codec/chunk-block-builder.ts) appends them.
import { CB_CHECKSUM_BYTES, CB_HEADER_BYTES, CB_LENGTH_BYTES, CB_STREAM_BYTES } from "../../../../core/layout/chunk-block";
import { CR_CHUNK } from "../../../../core/layout/chunk-record";
import { WAITING_CHUNKS, WAITING_CHUNKS_BYTES, WAITING_STATES } from "../../../../core/layout/memory-map";
import { SR_BLOCK, SR_CHUNK_AT, SR_PARTITION, SR_UNCHUNKED, WINDOW_MAX } from "../../../../core/layout/stream-record";
import { WC_BLOCK, WC_BLOCK_BYTES, WC_CHUNK_BYTES, WC_COUNT, WC_END, WC_CAPACITY, WC_STATE_BYTES, WC_STREAMS } from "../../../../core/layout/waiting-chunks";
import { pack, RECORD_BYTES_MAX } from "./chunk-ring";
import { recordOf } from "../shard/shard-table";

/** Chunks, and their bytes. */
export let chunksPacked: f64 = 0;
export let chunkBytesPacked: f64 = 0;

function countChunk(bytes: u32): void {
  if (bytes == 0) return;
  chunksPacked++;
  chunkBytesPacked += <f64>bytes;
}

/** Writes the values of a slot that are in no chunk yet as a record to `out`, see pack(). */
export function packChunk(slot: u32, out: usize): u32 {
  const bytes = pack(recordOf(slot), out);
  countChunk(bytes);
  return bytes;
}

/** Writes the same to `out`, of a slot that goes on as it was. */
export function openChunk(slot: u32, out: usize): u32 {
  return pack(recordOf(slot), out);
}

/** The caller has encoded the newest SR_UNCHUNKED values; from now on a chunk is a full turn of the ring. */
export function chunkTaken(slot: u32): void {
  taken(recordOf(slot));
}

// @ts-ignore
@inline
function taken(r: usize): void {
  store<u32>(r, 0, SR_UNCHUNKED);
  store<u8>(r, WINDOW_MAX, SR_CHUNK_AT);
}

/** Whether one more chunk leaves the block within its bytes, also when it is the first of its stream; a first one always does. */
// @ts-ignore
@inline
function fits(state: usize, bytes: u32): bool {
  const count = load<u32>(state, WC_COUNT);
  if (count == 0) return true;
  const block = <u32>CB_HEADER_BYTES + CB_STREAM_BYTES * (load<u32>(state, WC_STREAMS) + 1) + CB_LENGTH_BYTES * (count + 1) + CB_CHECKSUM_BYTES;
  return <u32>(block + load<u32>(state, WC_CHUNK_BYTES) + bytes) <= load<u32>(state, WC_BLOCK_BYTES);
}

/**
 * Has the values of a slot that are in no chunk yet wait in one for their block. False, and nothing is done, when there is no room: the block is
 * full, or its records stand elsewhere.
 */
export function takeChunk(slot: u32): bool {
  const r = recordOf(slot);
  const partition = <usize>load<u32>(r, SR_PARTITION);
  const state = <usize>WAITING_STATES + partition * WC_STATE_BYTES;
  const end = load<u32>(state, WC_END);
  if (end + RECORD_BYTES_MAX > load<u32>(state, WC_CAPACITY)) return false;
  const bytes = pack(r, <usize>WAITING_CHUNKS + partition * WAITING_CHUNKS_BYTES + end);
  if (bytes != 0) {
    if (!fits(state, bytes)) return false;
    countChunk(bytes);
    store<u32>(state, end + ((CR_CHUNK + bytes + 3) & ~3), WC_END);
    store<u32>(state, load<u32>(state, WC_COUNT) + 1, WC_COUNT);
    store<u32>(state, load<u32>(state, WC_CHUNK_BYTES) + bytes, WC_CHUNK_BYTES);
    const block = load<u32>(state, WC_BLOCK);
    if (load<u32>(r, SR_BLOCK) != block) {
      store<u32>(r, block, SR_BLOCK);
      store<u32>(state, load<u32>(state, WC_STREAMS) + 1, WC_STREAMS);
    }
  }
  taken(r);
  return true;
}
