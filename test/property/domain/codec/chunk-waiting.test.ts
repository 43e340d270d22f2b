// Chunks that the kernel packs where they wait, and the blocks that it makes of them, against the builder in TypeScript: byte for byte the same.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SCRATCH, WAITING_CHUNKS, WAITING_CHUNKS_BYTES, WAITING_STATES } from "../../../../src/core/layout/memory-map.ts";
import { WINDOW_MAX } from "../../../../src/core/layout/stream-record.ts";
import { WC_BLOCK_BYTES, WC_CAPACITY, WC_STATE_BYTES } from "../../../../src/core/layout/waiting-chunks.ts";
import { ChunkBlock } from "../../../../src/domain/codec/chunk-block.ts";
import { ChunkBlockBuilder, type WaitingPosition } from "../../../../src/domain/codec/chunk-block-builder.ts";
import { ShardRig } from "../../../support/shard-rig.ts";

const START_MS = 1_795_000_000_000;
const STREAM_ID_BYTES = 16;

/** Partition 0 of a rig, where its streams are. */
function placeOf(rig: ShardRig, blockBytes: number): WaitingPosition {
  const { buffer } = rig.view;
  const place = {
    buffer: new Uint32Array(buffer, WAITING_CHUNKS, WAITING_CHUNKS_BYTES / 4),
    state: new Uint32Array(buffer, WAITING_STATES, WC_STATE_BYTES / 4),
  };
  place.state[WC_BLOCK_BYTES / 4] = blockBytes;
  return place;
}

const encoderOf = (rig: ShardRig) => (records: Parameters<typeof rig.shard.blocks.encode>[0], headBytes: number) =>
  rig.shard.blocks.encode(records, headBytes);

/** Gives the stream values that are in no chunk yet. */
function feed(rig: ShardRig, slot: number, count: number, value: (i: number) => number): void {
  const last = Math.max(START_MS, rig.shard.records.lastTimeMs(slot));
  for (let i = 1; i <= count; i++) rig.apply(slot, last + 1000 * i, value(i));
}

describe("chunks that wait in the engine's memory", () => {
  it("are those of the builder in TypeScript, and so is their block", () => {
    const rig = new ShardRig({ window: WINDOW_MAX });
    const slots = Array.from({ length: 8 }, () => rig.stream());
    const words = new Uint32Array(rig.view.buffer);
    let blocks = 0;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat({ max: 7 }), fc.integer({ min: 1, max: 40 }), fc.boolean()), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 200, max: 4000 }),
        (chunks, blockBytes) => {
          const place = placeOf(rig, 0);
          const waiting = new ChunkBlockBuilder(place);
          place.state[WC_BLOCK_BYTES / 4] = blockBytes;
          const twin = new ChunkBlockBuilder();
          const seen = new Set<number>();
          for (const [at, count, isRandom] of chunks) {
            const slot = slots[at] as number;
            place.state[WC_CAPACITY / 4] = 0; // so that none is packed before this says so
            feed(rig, slot, count, (i) => (isRandom ? Math.sin(i * 1.1) : i % 3));
            place.state[WC_CAPACITY / 4] = WAITING_CHUNKS_BYTES;
            const bytes = rig.shard.packChunk(slot, SCRATCH);
            const hasCapacity = waiting.count === 0 || waiting.hasCapacity(bytes, blockBytes);
            expect(rig.shard.takeChunk(slot)).toBe(hasCapacity);
            if (!hasCapacity) {
              expectSameBlock(rig, waiting, twin);
              blocks++;
              seen.clear();
              expect(rig.shard.takeChunk(slot)).toBe(true);
            }
            twin.appendRecord(words, SCRATCH / 4, !seen.has(slot));
            seen.add(slot);
            expect(rig.shard.records.unchunked(slot)).toBe(0);
            expect(waiting.byteLength).toBe(twin.byteLength);
          }
          expect(waiting.serialise()).toEqual(twin.serialise());
          const pending = [...waiting.pending()];
          for (const { streamId } of pending.slice(0, 3)) {
            const own = pending.filter((other) => Buffer.compare(other.streamId, streamId) === 0);
            expect(waiting.chunksOf(streamId)).toEqual(own.map(({ chunk }) => new Uint8Array(chunk)));
          }
          expectSameBlock(rig, waiting, twin);
        },
      ),
      { numRuns: 150 },
    );
    expect(blocks).toBeGreaterThan(20);
  });

  function expectSameBlock(rig: ShardRig, waiting: ChunkBlockBuilder, twin: ChunkBlockBuilder): void {
    const { byteLength } = waiting;
    const block = new Uint8Array(waiting.finish(8, encoderOf(rig)).subarray(8));
    expect(block.length).toBe(byteLength);
    expect(block).toEqual(twin.finish());
    expect(ChunkBlock.open(block)).toBeDefined();
  }

  it("are packed as they fall due, without an event", () => {
    const rig = new ShardRig({ window: WINDOW_MAX });
    const slot = rig.stream();
    const waiting = new ChunkBlockBuilder(placeOf(rig, 65_536));
    feed(rig, slot, 3 * WINDOW_MAX, Math.sqrt);
    expect(rig.chunks).toEqual([]);
    expect(waiting.count).toBe(3);
    // The first is due earlier, so that streams that begin together do not fall due together.
    const times = [...waiting.pending()].map(({ firstMs, lastMs }) => [(firstMs - START_MS) / 1000, (lastMs - START_MS) / 1000]);
    const first = times[0]?.[1] as number;
    expect(first).toBeLessThanOrEqual(WINDOW_MAX);
    expect(times).toEqual([
      [1, first],
      [first + 1, first + WINDOW_MAX],
      [first + WINDOW_MAX + 1, first + 2 * WINDOW_MAX],
    ]);
    expect(rig.kernel.chunksPacked.value).toBe(3);
    placeOf(rig, 2000); // the block is full now
    feed(rig, slot, WINDOW_MAX, Math.sqrt);
    expect(rig.chunks.length).toBe(1);
    expect(waiting.count).toBe(3);
  });

  it("stand in an array of the builder's own once they do not fit there, and no longer behind the block", () => {
    const rig = new ShardRig({ window: WINDOW_MAX });
    const slot = rig.stream();
    const place = placeOf(rig, 2 ** 20);
    const waiting = new ChunkBlockBuilder(place);
    const twin = new ChunkBlockBuilder();
    const id = new Uint8Array(STREAM_ID_BYTES).fill(7);
    const large = new Uint8Array(32_000).fill(3);
    for (let i = 0; i < 5; i++) for (const builder of [waiting, twin]) builder.append(id, large, START_MS + i, START_MS + i, i === 0);
    feed(rig, slot, 5, Math.sqrt);
    expect(rig.shard.takeChunk(slot)).toBe(false);
    expect(rig.shard.records.unchunked(slot)).toBe(5);
    expect(waiting.serialise()).toEqual(twin.serialise());
    expect(waiting.finish(0, encoderOf(rig))).toEqual(twin.finish());
    expect(rig.shard.takeChunk(slot)).toBe(true);
    expect(waiting.count).toBe(1);
    const before = waiting.block;
    expect(rig.shard.records.enterBlock(slot, before)).toBe(false);
    const restored = ChunkBlockBuilder.restore(waiting.serialise(), place);
    expect(restored?.count).toBe(1);
    expect(restored?.block).not.toBe(before);
  });
});
