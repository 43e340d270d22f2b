// Pages of long baselines: places are used again, a page comes back from the store as it went, and other layouts are left out.
import { describe, expect, it } from "vitest";
import { LONG_BASELINE_PAGE_PAIRS } from "../../../../src/core/config/limits.ts";
import { unpackNonZero } from "../../../../src/domain/codec/non-zero-packing.ts";
import { hashNumber, PAIR_BYTES, PairArena, type StoredPage } from "../../../../src/domain/detection/pair/pair-arena.ts";
import { PairDetector } from "../../../../src/domain/detection/pair/pair-detector.ts";
import { FORMER_PAIR_STATES_BYTES, PAIR_STATE_BYTES } from "../../../../src/domain/detection/pair/pair-state.ts";

const PARTITION = 7;
const hashOf = (stream: number) => Uint32Array.of(stream, stream + 1, stream + 2, stream + 3);

function filled(pairs: number): { arena: PairArena; detector: PairDetector; numbers: number[] } {
  const detector = new PairDetector();
  const arena = new PairArena(detector.state);
  const numbers = Array.from({ length: pairs }, (_, stream) => {
    const pair = arena.take(PARTITION, hashOf(stream), 0);
    arena.load(pair);
    for (let i = 0; i <= stream; i++) detector.observe(1000 * (i + 1), stream);
    arena.save(pair, 1000 * (stream + 1), detector.count);
    return pair;
  });
  return { arena, detector, numbers };
}

function storedPages(arena: PairArena): StoredPage[] {
  const taken = Array.from({ length: arena.pages }, (_, index) => {
    const page = arena.takePage(index);
    return page && { ...page, bytes: page.bytes.slice() };
  });
  expect(arena.dirtyPages).toBe(0);
  return taken.filter((page) => page !== undefined);
}

describe("the arena of long baselines", () => {
  it("takes at most 4.5 KiB a pair", () => {
    expect(PAIR_BYTES).toBeGreaterThanOrEqual(PAIR_STATE_BYTES);
    expect(PAIR_BYTES + 4).toBeLessThanOrEqual(4608);
  });

  it("keeps pairs apart", () => {
    const { arena, detector, numbers } = filled(40);
    expect([arena.size, arena.pages]).toEqual([40, Math.ceil(40 / LONG_BASELINE_PAGE_PAIRS)]);
    numbers.forEach((pair, stream) => {
      arena.load(pair);
      expect([detector.count, detector.baseline.mean]).toEqual([stream + 1, stream]);
      expect([arena.count(pair), arena.lastTimeMs(pair)]).toEqual([stream + 1, 1000 * (stream + 1)]);
      expect([arena.isOf(pair, hashOf(stream), 0), arena.isOf(pair, hashOf(stream + 1), 0)]).toEqual([true, false]);
    });
  });

  it("gives freed places to the next pairs, empty", () => {
    const { arena, numbers } = filled(20);
    arena.setEpisode(numbers[4] as number, 5, -3);
    arena.free(numbers[4] as number);
    const pair = arena.take(PARTITION, hashOf(99), 0);
    expect([pair, arena.pages]).toEqual([numbers[4], 2]);
    expect([arena.count(pair), arena.lastTimeMs(pair), arena.openedMs(pair), arena.peak(pair)]).toEqual([0, 0, 0, 0]);
  });

  it("comes back from its stored pages, wherever they are read first", () => {
    const { arena, numbers } = filled(40);
    arena.setEpisode(numbers[33] as number, 5, -3);
    arena.free(numbers[10] as number);
    const detector = new PairDetector();
    const other = new PairArena(detector.state);
    const byHash = new Map<number, number>();
    for (const page of storedPages(arena).reverse()) expect(other.restore(page, (pair, hash) => byHash.set(hash, pair))).toBe(true);
    expect([other.size, byHash.size, byHash.has(hashNumber(hashOf(10), 0))]).toEqual([39, 39, false]);
    const pair = byHash.get(hashNumber(hashOf(33), 0)) as number;
    other.load(pair);
    expect([detector.count, detector.baseline.mean, other.openedMs(pair), other.peak(pair)]).toEqual([34, 33, 5, -3]);
    expect(other.hash(pair)).toBe(arena.hash(numbers[33] as number));
    // What has not changed is not stored again; a new pair takes the place that was free.
    expect(storedPages(other)).toEqual([]);
    other.take(PARTITION, hashOf(50), 0);
    expect(storedPages(other).map(({ number }) => number)).toEqual([0]);
  });

  it("stores a page of young pairs in a sixth of what it takes in memory", () => {
    const { arena } = filled(LONG_BASELINE_PAGE_PAIRS);
    expect(storedPages(arena)[0]?.bytes.length).toBeLessThan((LONG_BASELINE_PAGE_PAIRS * PAIR_BYTES) / 6);
  });

  it("reads pages as they were stored before they were packed", () => {
    const { arena, numbers } = filled(LONG_BASELINE_PAGE_PAIRS);
    const [page] = storedPages(arena) as [StoredPage];
    const plain = new Uint32Array((8 + LONG_BASELINE_PAGE_PAIRS * PAIR_BYTES) / 4);
    expect(unpackNonZero(Uint8Array.from(page.bytes.subarray(8)), plain.subarray(2))).toBe(true);
    plain.set([1, PAIR_BYTES]);
    const detector = new PairDetector();
    const other = new PairArena(detector.state);
    const found: number[] = [];
    expect(other.restore({ ...page, bytes: new Uint8Array(plain.buffer) }, (pair) => found.push(pair))).toBe(true);
    expect(found.sort((one, two) => one - two)).toEqual(numbers);
    numbers.forEach((pair, stream) => {
      other.load(pair);
      expect([detector.count, detector.baseline.mean, other.count(pair)]).toEqual([stream + 1, stream, stream + 1]);
    });
    other.setEpisode(numbers[0] as number, 0, 0); // what has changed is stored again, packed
    expect(storedPages(other)).toEqual([page]);
  });

  it.each(FORMER_PAIR_STATES_BYTES)(
    "reads pages of pairs whose state had %i bytes, and whose later parts know nothing then",
    (stateBytes) => {
      const { arena, detector, numbers } = filled(LONG_BASELINE_PAGE_PAIRS);
      const [page] = storedPages(arena) as [StoredPage];
      const pages = new Uint32Array((LONG_BASELINE_PAGE_PAIRS * PAIR_BYTES) / 4);
      unpackNonZero(Uint8Array.from(page.bytes.subarray(8)), pages);
      const formerBytes = PAIR_BYTES - (PAIR_STATE_BYTES - stateBytes);
      const plain = new Uint8Array(8 + LONG_BASELINE_PAGE_PAIRS * formerBytes);
      new Uint32Array(plain.buffer, 0, 2).set([1, formerBytes]);
      for (let i = 0; i < LONG_BASELINE_PAGE_PAIRS; i++)
        plain.set(new Uint8Array(pages.buffer, i * PAIR_BYTES, formerBytes), 8 + i * formerBytes);
      const other = new PairArena(detector.state);
      expect(other.restore({ ...page, bytes: plain }, () => undefined)).toBe(true);
      numbers.forEach((pair, stream) => {
        other.load(pair);
        expect([detector.count, detector.baseline.mean, other.count(pair)]).toEqual([stream + 1, stream, stream + 1]);
        expect(new Uint8Array(detector.state, stateBytes).every((byte) => byte === 0)).toBe(true);
      });
    },
  );

  it("stores a page without pairs as none", () => {
    const { arena, numbers } = filled(1);
    expect(storedPages(arena)[0]?.bytes.length).toBeGreaterThan(PAIR_BYTES / 16);
    arena.free(numbers[0] as number);
    expect(storedPages(arena)).toEqual([{ partition: PARTITION, number: 0, bytes: new Uint8Array(0) }]);
  });

  it("leaves pages of another layout out", () => {
    const { arena } = filled(1);
    const [page] = storedPages(arena) as [StoredPage];
    const other = new PairArena(new PairDetector().state);
    const altered = page.bytes.slice();
    altered[0] = 200;
    const otherPairs = page.bytes.slice();
    otherPairs[4]!++;
    const cut = page.bytes.subarray(0, page.bytes.length - 4);
    for (const bytes of [altered, otherPairs, cut, page.bytes.subarray(8), new Uint8Array(3)])
      expect(other.restore({ ...page, bytes }, () => undefined)).toBe(false);
    expect([other.size, other.pages]).toEqual([0, 0]);
  });
});
