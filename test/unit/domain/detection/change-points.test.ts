import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bestSplit, cusum, optimalPartition } from "../../../../src/domain/detection/change-points.ts";

interface ChangeCase {
  readonly name: string;
  readonly x: readonly number[];
  readonly target_mean: number;
  readonly k: number;
  readonly h: number;
  readonly cusum_plus: readonly number[];
  readonly cusum_minus: readonly number[];
  readonly first_alarm_index: number;
  readonly single_split_min_sse: number;
  readonly sse_gain: number;
  readonly optimal_partition_l2: { readonly penalty: number; readonly changepoints: readonly number[]; readonly cost: number };
}

const { cases } = JSON.parse(readFileSync(new URL("../../../golden/change_point.json", import.meta.url), "utf8")) as {
  cases: ChangeCase[];
};

function near(actual: number, expected: number): void {
  expect(Math.abs(actual - expected), `${actual} instead of ${expected}`).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(expected)));
}

describe("change points, by the reference values", () => {
  it.each(cases.map((one) => [one.name, one] as const))("%s", (_, one) => {
    const sums = cusum(one.x, one.target_mean, one.k, one.h);
    one.cusum_plus.forEach((value, i) => near(sums.plus[i] as number, value));
    one.cusum_minus.forEach((value, i) => near(sums.minus[i] as number, value));
    expect(sums.firstAlarm).toBe(one.first_alarm_index);
    const split = bestSplit(one.x);
    expect(split.index).toBe(one.single_split_min_sse);
    near(split.gain, one.sse_gain);
    const partition = optimalPartition(one.x, one.optimal_partition_l2.penalty);
    expect(partition.changePoints).toEqual(one.optimal_partition_l2.changepoints);
    near(partition.cost, one.optimal_partition_l2.cost);
  });
});

describe("change points", () => {
  const squaresOf = (values: readonly number[]): number => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  };
  /** Every partition of up to nine values. */
  const leastCost = (values: readonly number[], penalty: number): number => {
    let least = Number.POSITIVE_INFINITY;
    for (let mask = 0; mask < 2 ** (values.length - 1); mask++) {
      let cost = 0;
      let from = 0;
      for (let i = 1; i <= values.length; i++) {
        if (i < values.length && (mask & (1 << (i - 1))) === 0) continue;
        cost += squaresOf(values.slice(from, i)) + (i < values.length ? penalty : 0);
        from = i;
      }
      least = Math.min(least, cost);
    }
    return least;
  };
  const values = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 1, maxLength: 9 });
  it("the partition costs the least of all", () => {
    fc.assert(
      fc.property(values, fc.double({ min: 0.1, max: 200, noNaN: true }), (list, penalty) => {
        expect(optimalPartition(list, penalty).cost).toBeCloseTo(leastCost(list, penalty), 6);
      }),
    );
  });
  it("the split leaves the fewest squares of all", () => {
    fc.assert(
      fc.property(values, (list) => {
        const all = list.slice(1).map((_, i) => squaresOf(list.slice(0, i + 1)) + squaresOf(list.slice(i + 1)));
        expect(bestSplit(list).squares).toBeCloseTo(Math.min(squaresOf(list), ...all), 6);
      }),
    );
  });
  it("nothing and one value have none; too many are refused", () => {
    expect(optimalPartition([], 1)).toEqual({ changePoints: [], cost: 0 });
    expect(bestSplit([5])).toMatchObject({ index: 0, gain: 0 });
    expect(cusum([], 0, 1, 1).firstAlarm).toBe(-1);
    expect(() => optimalPartition(new Float64Array(2001), 1)).toThrow(/at most 2000/);
  });
});
