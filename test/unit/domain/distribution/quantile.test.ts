// Quantiles where a histogram says less, or more, than numbers can hold: an estimate is a number or none.
import { describe, expect, it } from "vitest";
import { type Distribution, distributionProblem, EMPTY_DISTRIBUTION } from "../../../../src/domain/distribution/distribution.ts";
import { classicQuantile, quantileOf, widthOf } from "../../../../src/domain/distribution/quantile.ts";

const explicit = (point: Partial<Distribution>): Distribution => ({ ...EMPTY_DISTRIBUTION, kind: "explicit", ...point });
const FAR = 1.5e308;

describe("quantiles at the limits of numbers", () => {
  it("take a largest value that is no finite number for unknown", () => {
    const counts = { bounds: [1], bucketCounts: [0, 19] };
    for (const max of [Number.POSITIVE_INFINITY, Number.NaN, null]) {
      expect(quantileOf(explicit({ ...counts, max }), 0.95)).toBe(1);
      expect(widthOf(explicit({ ...counts, max }), 1)).toBe(1);
    }
    expect(quantileOf(explicit({ ...counts, max: 11 }), 0.95)).toBeCloseTo(10.5, 12);
  });

  it("take a smallest value that is no finite number for unknown", () => {
    const point = explicit({ bounds: [10, 20], bucketCounts: [4, 0, 0], min: Number.NEGATIVE_INFINITY });
    expect(quantileOf(point, 0.5)).toBe(5);
    expect(widthOf(point, 5)).toBe(10);
  });

  it("lie within a bucket that is wider than the largest number", () => {
    expect(quantileOf(explicit({ bounds: [-FAR, FAR], bucketCounts: [0, 4, 0] }), 0.5)).toBe(0);
    expect(classicQuantile(0.75, [-FAR, FAR, Number.POSITIVE_INFINITY], [0, 4, 4], 3)).toBeCloseTo(FAR / 2, -300);
  });

  it("are not made of counts that no sender can have counted", () => {
    const problem = (count: number) => distributionProblem(explicit({ count, bounds: [1], bucketCounts: [count, 0] }));
    expect(problem(2 ** 64)).toBeUndefined();
    expect(problem(1e300)?.reason).toBe("invalid_value");
  });
});
