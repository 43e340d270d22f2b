import { describe, expect, it } from "vitest";
import { StoredSeriesStorage, selectorKey } from "../../../../src/actors/query/stored-series.ts";
import { CHUNK_BYTES_MAX, encodeChunkApart, encodeCountedChunk, encodeSampleChunk } from "../../../../src/domain/codec/sample-chunk.ts";
import { Labels } from "../../../../src/domain/promql/labels/labels.ts";
import { QueryBudget } from "../../../../src/domain/promql/query-budget.ts";
import { blockOperations } from "../../../../src/modules/series/block-rows.ts";
import { chunkBlock } from "../../../support/chunk-block.ts";
import { MemoryStore } from "../../../support/memory-store.ts";

const HOUR = 3_600_000;
const PARTITION = 5;
const streamId = new Uint8Array(16).fill(3);
const out = new Uint8Array(CHUNK_BYTES_MAX);

function block(number: number, chunk: Uint8Array, firstMs: number, lastMs: number) {
  const bytes = chunkBlock([{ streamId, chunk, firstMs, lastMs }]);
  const payload = new Uint8Array(8 + bytes.length);
  const view = new DataView(payload.buffer);
  view.setUint32(0, PARTITION, true);
  view.setUint32(4, number, true);
  payload.set(bytes, 8);
  return blockOperations(payload);
}

describe("stored series", () => {
  it("count anew where a counter's chunk did, however long before the range", async () => {
    const times = Float64Array.from({ length: 12 }, (_, hour) => (hour + 1) * HOUR);
    const deltas = new Float64Array(12).fill(10);
    const counted = out.slice(0, encodeCountedChunk({ anchor: 1_000, gapMs: HOUR }, times, deltas, 12, out, 0));
    const anew = out.slice(0, encodeChunkApart("sent", Float64Array.of(3 * HOUR), Float64Array.of(10), 1, out, 0));
    const reader = new MemoryStore({ tables: ["blocks", "block_spans", "rollups", "rollup_spans", "rollup_marks"] });
    await reader.commit([...block(0, anew, 3 * HOUR, 3 * HOUR), ...block(1, counted, HOUR, 12 * HOUR)]);
    const labels = Labels.of([["__name__", "x_total"]]);
    const stream = { labels, isCounter: true, firstTimeMs: null, lastTimeMs: 12 * HOUR, partition: PARTITION, streamId };
    const read = (waiting: readonly Uint8Array[]) => {
      const streams = new Map([[selectorKey([]), [{ ...stream, waiting }]]]);
      const notes = { summed: () => undefined, averaged: () => undefined };
      const storage = new StoredSeriesStorage({ reader, budget: new QueryBudget(() => 0), streams, ...notes });
      return [...storage.select([], 10.5 * HOUR, 12 * HOUR)].map((series) => [...(series?.values ?? [])]);
    };
    expect(read([])).toEqual([[90, 100]]);
    await reader.deleteRange("block_spans", block(1, counted, HOUR, 12 * HOUR)[1]?.key as Uint8Array, Uint8Array.of(255), 10);
    expect(read([counted])).toEqual([[90, 100]]);
  });

  it("of a counter that an older version stored are running sums, and are named for the warning", async () => {
    const times = Float64Array.from({ length: 4 }, (_, hour) => (hour + 1) * HOUR);
    const risen = out.slice(0, encodeSampleChunk(times, Float64Array.of(15, 15, 10, 15), 4, out, 0));
    const reader = new MemoryStore({ tables: ["blocks", "block_spans", "rollups", "rollup_spans", "rollup_marks"] });
    await reader.commit(block(0, risen, HOUR, 4 * HOUR));
    const read = (isCounter: boolean) => {
      const labels = Labels.of([["__name__", "x_total"]]);
      const stream = { labels, isCounter, firstTimeMs: null, lastTimeMs: 4 * HOUR, partition: PARTITION, streamId, waiting: [] };
      const named: string[] = [];
      const notes = { summed: (name: string) => void named.push(name), averaged: () => undefined };
      const streams = new Map([[selectorKey([]), [stream]]]);
      const storage = new StoredSeriesStorage({ reader, budget: new QueryBudget(() => 0), streams, ...notes });
      return { values: [...storage.select([], 0, 4 * HOUR)].map((series) => [...(series?.values ?? [])]), named };
    };
    expect(read(true)).toEqual({ values: [[15, 30, 40, 55]], named: ["x_total"] });
    expect(read(false)).toEqual({ values: [[15, 15, 10, 15]], named: [] });
  });
});
