import { describe, expect, it } from "vitest";
import { DistinctCount, hashOfValue } from "../../../../src/domain/series/distinct-count.ts";

function estimateOf(values: number, repeats = 1): number {
  const count = new DistinctCount();
  for (let repeat = 0; repeat < repeats; repeat++) for (let i = 0; i < values; i++) count.add(hashOfValue(`10.0.${i >> 8}.${i & 255}`));
  return count.estimate();
}

describe("different values", () => {
  it("is exact or nearly so where they are few", () => {
    expect([0, 1, 2, 5].map((values) => estimateOf(values))).toEqual([0, 1, 2, 5]);
    expect(Math.abs(estimateOf(100) - 100)).toBeLessThanOrEqual(3);
  });
  it("stays within three standard errors of 3.3 % where they are many", () => {
    for (const values of [1_000, 2_500, 3_000, 10_000, 60_000]) {
      expect(Math.abs(estimateOf(values) / values - 1)).toBeLessThan(0.1);
    }
  });
  it("counts a value that comes again once", () => {
    expect(estimateOf(500, 3)).toBe(estimateOf(500));
  });
});
