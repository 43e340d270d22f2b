// Blocks of chunks and their spans: {version u8 = 1, earliest time f64, latest time f64, bytes u32}, little-endian.
import type { StoreOperation, StoreReader } from "../../adapters/storage/key-value-store.ts";
import { ChunkBlock } from "../../domain/codec/chunk-block.ts";
import { KeyReader } from "../../domain/codec/key.ts";
import { scanNewest } from "../state/scan.ts";
import { blockKey, partitionKey } from "../state/tables.ts";

const VERSION = 1;
const SPAN_BYTES = 21;
/** Spans read at a time: one stands for 64 KiB of samples. */
const SPANS_PER_READ = 256;

/** Metadata of a block, known without reading it. */
export interface BlockSpan {
  readonly partition: number;
  readonly block: number;
  readonly minMs: number;
  readonly maxMs: number;
  readonly bytes: number;
}

/** The operations that store the payload of a block frame: {partition u32, block u32} and the block, in place. Throws when it is none. */
export function blockOperations(payload: Uint8Array): StoreOperation[] {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const key = blockKey(view.getUint32(0, true), view.getUint32(4, true));
  const bytes = payload.subarray(8);
  const block = ChunkBlock.openUnchecked(bytes);
  if (block === undefined) throw new Error("an engine sent a block that does not open");
  const span = new Uint8Array(SPAN_BYTES);
  const spanView = new DataView(span.buffer);
  span[0] = VERSION;
  spanView.setFloat64(1, block.minMs, true);
  spanView.setFloat64(9, block.maxMs, true);
  spanView.setUint32(17, bytes.length, true);
  return [
    { table: "blocks", key, value: bytes },
    { table: "block_spans", key, value: span },
  ];
}

/** Reads a span as it is stored. */
export function decodeSpan(key: Uint8Array, value: Uint8Array): BlockSpan {
  if (value[0] !== VERSION) throw new Error(`a stored span has version ${value[0]}, this program reads ${VERSION}`);
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  const reader = new KeyReader(key);
  const partition = reader.u16();
  return {
    partition,
    block: reader.u32(),
    minMs: view.getFloat64(1, true),
    maxMs: view.getFloat64(9, true),
    bytes: view.getUint32(17, true),
  };
}

/** Yields the spans of a partition's blocks from number `firstBlock` on, newest block first. */
export function* newestSpans(store: StoreReader, partition: number, firstBlock: number): Generator<BlockSpan> {
  const entries = scanNewest(store, "block_spans", blockKey(partition, firstBlock), partitionKey(partition + 1), SPANS_PER_READ);
  for (const { key, value } of entries) yield decodeSpan(key, value);
}
