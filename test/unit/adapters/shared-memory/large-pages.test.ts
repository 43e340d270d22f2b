import { describe, expect, it } from "vitest";
import { LARGE_PAGE_BYTES, pageCollapse } from "../../../../src/adapters/platform/huge-pages.ts";
import { createEngineMemory, EngineMemory } from "../../../../src/adapters/shared-memory/engine-memory.ts";
import { AGAIN_MS, LargePages } from "../../../../src/adapters/shared-memory/large-pages.ts";
import { STREAM_RECORDS, STREAM_RINGS } from "../../../../src/core/layout/memory-map.ts";
import { STREAM_RECORD_BYTES, STREAM_RING_BYTES } from "../../../../src/core/layout/stream-record.ts";

/** Streams that fill three large pages of records. */
const STREAMS = (3 * LARGE_PAGE_BYTES) / STREAM_RECORD_BYTES;

function pagesOf(collapse: (at: number) => boolean) {
  const memory = new EngineMemory(createEngineMemory());
  const tried: number[] = [];
  const world = { streams: 0, nowMs: 0 };
  const take = (page: Uint8Array<ArrayBufferLike>) => {
    world.nowMs += 3;
    tried.push(page.byteOffset);
    return Promise.resolve(collapse(page.byteOffset));
  };
  const pages = new LargePages([{ memory, streams: () => world.streams }], take, () => world.nowMs);
  const all = async () => {
    tried.length = 0;
    while ((await pages.step()) > 0) expect(tried.length).toBeLessThan(1_000);
    return { records: tried.filter((at) => at < STREAM_RINGS), rings: tried.filter((at) => at >= STREAM_RINGS) };
  };
  return { world, all };
}

describe("large pages", () => {
  it("follow the streams, each page once and none before it is filled", async () => {
    const { world, all } = pagesOf(() => true);
    expect(await all()).toEqual({ records: [], rings: [] });
    world.streams = STREAMS;
    const first = await all();
    expect(first.records).toEqual([STREAM_RECORDS, STREAM_RECORDS + LARGE_PAGE_BYTES]);
    expect(first.rings).toHaveLength(Math.floor((STREAMS * STREAM_RING_BYTES + 4096) / LARGE_PAGE_BYTES) - 1);
    expect(await all()).toEqual({ records: [], rings: [] });
    world.streams = (STREAMS / 3) * 4;
    expect((await all()).records).toEqual([STREAM_RECORDS + 2 * LARGE_PAGE_BYTES]);
  });

  it("are tried again where they stayed small, after a while", async () => {
    let isRefused = true;
    const { world, all } = pagesOf((at) => !(isRefused && at === STREAM_RECORDS));
    world.streams = STREAMS;
    await all();
    expect(await all()).toEqual({ records: [], rings: [] });
    isRefused = false;
    world.nowMs += AGAIN_MS;
    expect((await all()).records).toEqual([STREAM_RECORDS, STREAM_RECORDS + LARGE_PAGE_BYTES]);
    world.nowMs += AGAIN_MS;
    expect(await all()).toEqual({ records: [], rings: [] });
  });

  it("are tried again ever less often where the system has none", async () => {
    const { world, all } = pagesOf(() => false);
    world.streams = STREAMS;
    let tries = 0;
    for (; world.nowMs < 6 * 3_600_000; world.nowMs += AGAIN_MS) if ((await all()).records.length > 0) tries++;
    expect(tries).toBeGreaterThan(10);
    expect(tries).toBeLessThan(20);
  });

  it("hold what was in the small ones", async () => {
    expect(pageCollapse("6.0.9")).toBeUndefined();
    const collapse = pageCollapse();
    if (collapse === undefined) return; // no Linux of 6.1 or later, or no library
    const bytes = new Uint8Array(createEngineMemory().buffer, STREAM_RECORDS, 4 * LARGE_PAGE_BYTES);
    for (let at = 0; at < bytes.length; at += 4096) bytes[at] = at >> 12;
    await collapse(bytes);
    for (let at = 0; at < bytes.length; at += 4096) expect(bytes[at]).toBe((at >> 12) & 0xff);
  });
});
