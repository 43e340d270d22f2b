// A block of given chunks, as a partition would make it.
import { ChunkBlockBuilder, type PendingChunk } from "../../src/domain/codec/chunk-block-builder.ts";

export function chunkBlock(chunks: readonly PendingChunk[]): Uint8Array {
  const builder = new ChunkBlockBuilder();
  for (const { streamId, chunk, firstMs, lastMs } of chunks) builder.append(streamId, chunk, firstMs, lastMs);
  return builder.finish();
}
