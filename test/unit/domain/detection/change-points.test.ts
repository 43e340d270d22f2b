import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bestSplit } from "../../../../src/domain/detection/change-points.ts";

interface ChangeCase {
  readonly name: string;
  readonly x: readonly number[];
  readonly single_split_min_sse: number;
  readonly sse_gain: number;
}

const { cases } = JSON.parse(readFileSync(new URL("../../../golden/change_point.json", import.meta.url), "utf8")) as {
  cases: ChangeCase[];
};

function near(actual: number, expected: number): void {
  expect(Math.abs(actual - expected), `${actual} instead of ${expected}`).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(expected)));
}

describe("change points, by the reference values", () => {
  it.each(cases.map((one) => [one.name, one] as const))("%s", (_, one) => {
    const split = bestSplit(one.x);
    expect(split.index).toBe(one.single_split_min_sse);
    near(split.gain, one.sse_gain);
  });
});

describe("change points", () => {
  const squaresOf = (values: readonly number[]): number => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  };
  const values = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 1, maxLength: 9 });
  it("the split leaves the fewest squares of all", () => {
    fc.assert(
      fc.property(values, (list) => {
        const all = list.slice(1).map((_, i) => squaresOf(list.slice(0, i + 1)) + squaresOf(list.slice(i + 1)));
        expect(bestSplit(list).squares).toBeCloseTo(Math.min(squaresOf(list), ...all), 6);
      }),
    );
  });
  it("one value has none", () => {
    expect(bestSplit([5])).toMatchObject({ index: 0, gain: 0 });
  });
});
