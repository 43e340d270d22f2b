import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundTexts, totalWith, valuesUpTo } from "../../../../src/domain/distribution/classic-buckets.ts";
import type { Distribution } from "../../../../src/domain/distribution/distribution.ts";
import { distributionText, readDistributionText } from "../../../../src/domain/distribution/distribution-coding.ts";
import { explicitPoint } from "../../../support/distribution-points.ts";

const bounds = fc
  .uniqueArray(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 12 })
  .map((list) => list.sort((a, b) => a - b));
const samples = fc.array(fc.integer({ min: -50, max: 50 }), { maxLength: 40 });

describe("a histogram as a classic one", () => {
  it("counts the values up to each bound, and all", () => {
    fc.assert(
      fc.property(samples, bounds, (values, own) => {
        const expected = [...own.map((bound) => values.filter((value) => value <= bound).length), values.length];
        expect(valuesUpTo(explicitPoint(values, own))).toEqual(expected);
      }),
    );
    expect(valuesUpTo({ bounds: [], bucketCounts: [], count: 7 })).toEqual([7]);
  });

  it("names each bound by a plain text that reads as the same number", () => {
    fc.assert(
      fc.property(bounds, (own) => {
        const texts = boundTexts(own);
        expect(texts.pop()).toBe("+Inf");
        expect(texts.map(Number)).toEqual(own);
        for (const text of texts) expect(text).toMatch(/^-?\d+(\.\d+)?$/);
      }),
    );
    expect(boundTexts([0.005, 1, 2.5, 1e21, 1e-7])).toEqual(["0.005", "1", "2.5", "1000000000000000000000", "0.0000001", "+Inf"]);
  });

  it("of delta temporality has the points added up, of which one may come again or late, and goes on from its stored form", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(samples, fc.boolean(), fc.boolean()), { minLength: 1, maxLength: 12 }), (intervals) => {
        const own = [-10, 0, 2.5, 30];
        let total: Distribution | undefined;
        const all: number[] = [];
        for (const [index, [values, isRepeated, isStored]] of intervals.entries()) {
          const point = { ...explicitPoint(values, own), timeMs: 1000 * (index + 1), startMs: 1000 * index };
          all.push(...values);
          total = totalWith(total, point) as Distribution;
          if (isRepeated) expect(totalWith(total, point)).toBeUndefined();
          expect(totalWith(total, { ...point, timeMs: point.timeMs - 1 })).toBeUndefined();
          if (isStored) total = readDistributionText(distributionText(total));
          const { count, sum, bucketCounts } = explicitPoint(all, own);
          expect(total).toMatchObject({ count, sum, bucketCounts, timeMs: point.timeMs, temporality: "delta" });
        }
      }),
    );
  });

  it("of other bounds begins anew, and has no sum once a point had none", () => {
    const first = { ...explicitPoint([1, 2], [1]), timeMs: 1 };
    const second = { ...explicitPoint([3], [2]), timeMs: 2 };
    expect(totalWith(first, second)).toEqual(second);
    const withoutSum = totalWith(first, { ...first, timeMs: 2, sum: null }) as Distribution;
    expect([withoutSum.count, withoutSum.sum, totalWith(withoutSum, { ...first, timeMs: 3 })?.sum]).toEqual([4, null, null]);
  });
});
