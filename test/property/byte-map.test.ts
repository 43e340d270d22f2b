import fc from "fast-check";
import { expect, it } from "vitest";
import { ByteMap } from "../../src/core/base/byte-map.ts";
import { IdSet } from "../../src/core/base/id-set.ts";
import { WordPool } from "../../src/core/base/word-pool.ts";

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
