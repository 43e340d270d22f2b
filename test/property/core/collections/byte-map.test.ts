import fc from "fast-check";
import { expect, it } from "vitest";
import { ByteMap } from "../../../../src/core/collections/byte-map.ts";
import { IdSet } from "../../../../src/core/collections/id-set.ts";
import { WordPool } from "../../../../src/core/collections/word-pool.ts";

const ENTRIES_MAX = 40;

it("finds values by bytes wherever these lie, and forgets them all where there are too many", () => {
  const keys = fc.array(fc.uint8Array({ maxLength: 9, max: 3 }), { maxLength: 120 });
  fc.assert(
    fc.property(keys, fc.integer({ min: 0, max: 7 }), (all, offset) => {
      const map = new ByteMap<number>(ENTRIES_MAX);
      const plain = new Map<string, number>();
      all.forEach((key, i) => {
        const bytes = new Uint8Array(offset + key.length + 1).fill(i);
        bytes.set(key, offset);
        const view = new DataView(bytes.buffer);
        const found = map.find(view, offset, key.length);
        expect(found).toBe(plain.get(key.join()));
        if (found !== undefined) return;
        if (plain.size >= ENTRIES_MAX) plain.clear();
        plain.set(key.join(), i);
        map.add(view, offset, key.length, i);
        expect(map.size).toBe(plain.size);
      });
    }),
  );
});

/** Keys of one hash: in a word whose top bit is turned, bits 31 and 16 of the next one make up for it. */
function keysOfOneHash(count: number): DataView[] {
  return Array.from({ length: count }, (_, i) => {
    const view = new DataView(new ArrayBuffer(8 * 12));
    for (let bit = 0; bit < 12; bit++) {
      if (((i >> bit) & 1) === 0) continue;
      view.setUint32(8 * bit, 0x80000000, true);
      view.setUint32(8 * bit + 4, 0x80010000, true);
    }
    return view;
  });
}

it("keeps no more than 128 keys that were made to meet, finds these, and others beside them", () => {
  const map = new ByteMap<number>(4_096);
  const keys = keysOfOneHash(2_000);
  const other = new DataView(new ArrayBuffer(5));
  const bytes = (view: DataView) => view.byteLength;
  keys.forEach((key, i) => map.find(key, 0, bytes(key)) ?? map.add(key, 0, bytes(key), i));
  map.add(other, 0, bytes(other), -1);
  expect(map.size).toBe(128 + 1);
  expect(keys.map((key) => map.find(key, 0, bytes(key)))).toEqual(keys.map((_, i) => (i < 128 ? i : undefined)));
  expect(map.find(other, 0, bytes(other))).toBe(-1);
});

it("remembers ids in memory that other sets have used", () => {
  const ids = fc.array(fc.tuple(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 0, max: 200 })), { maxLength: 300 });
  fc.assert(
    fc.property(fc.array(ids, { minLength: 2, maxLength: 5 }), (rounds) => {
      const pool = new WordPool(16 * 1024);
      for (const round of rounds) {
        const set = new IdSet(pool);
        const plain = new Set<string>();
        for (const [high, low] of round) {
          const id = `${high} ${(high | low) === 0 ? 1 : low}`;
          expect(set.add(high, low)).toBe(!plain.has(id));
          plain.add(id);
        }
        const listed = [...Array(set.size).keys()].map((i) => `${set.list()[2 * i]} ${set.list()[2 * i + 1]}`);
        expect(listed.sort()).toEqual([...plain].sort());
        set.release();
      }
    }),
    { numRuns: 50 },
  );
});
