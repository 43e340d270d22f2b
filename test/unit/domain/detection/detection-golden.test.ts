// Reference values made with exact rational arithmetic, numpy and scipy (test/golden, each with its tolerance).
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PROFILE_ENVIRONMENT } from "../../../../src/core/layout/stream-record.ts";
import { median, robustStatistics } from "../../../../src/domain/detection/robust.ts";
import { windowStatistics } from "../../../../src/domain/detection/welford.ts";
import { robustZ } from "../../../support/recent-deviation.ts";
import { ShardRig } from "../../../support/shard-rig.ts";

interface WelfordCase {
  readonly name: string;
  readonly x: readonly number[];
  readonly mean: number;
  readonly m2: number;
  readonly var_sample: number | null;
  readonly window?: number;
  readonly first_index?: number;
  readonly mean_and_sample_var?: ReadonlyArray<readonly [number, number]>;
}

interface RobustCase {
  readonly name: string;
  readonly x: readonly number[];
  readonly median: number;
  readonly mad_raw: number;
  readonly queries: readonly number[];
  readonly z_sample_sd: readonly number[];
  readonly "robust_z_0.6745": ReadonlyArray<number | null>;
  readonly modified_fallback_meanAD: number;
}

function cases<Case>(name: string): readonly Case[] {
  return (JSON.parse(readFileSync(new URL(`../../../golden/${name}.json`, import.meta.url), "utf8")) as { cases: Case[] }).cases;
}

function near(actual: number, expected: number, relative: number): void {
  expect(Math.abs(actual - expected), `${actual} instead of ${expected}`).toBeLessThanOrEqual(relative * Math.abs(expected));
}

const welford = cases<WelfordCase>("welford");
const sliding = welford.find((one) => one.window !== undefined) as WelfordCase;

describe("mean and variance", () => {
  for (const one of welford.filter((other) => other.window === undefined)) {
    const tolerance = one.name === "offset_1e15_small" ? 1e-6 : 1e-9;
    it(`${one.name}, two-pass`, () => {
      const { mean, m2, variance } = windowStatistics(Float64Array.from(one.x));
      near(mean, one.mean, 1e-14);
      near(m2, one.m2, tolerance);
      if (one.var_sample === null) expect(variance).toBeNull();
      else near(variance as number, one.var_sample, tolerance);
    });
  }
  it("of a sliding window, two-pass", () => {
    const { window = 0, first_index: first = 0, mean_and_sample_var: expected = [] } = sliding;
    expected.forEach(([mean, variance], i) => {
      const statistics = windowStatistics(Float64Array.from(sliding.x.slice(first + i - window, first + i)));
      near(statistics.mean, mean, 1e-14);
      near(statistics.variance as number, variance, 1e-6);
    });
  });
  it("of a sliding window, by the kernel", () => {
    const { window = 0, first_index: first = 0, mean_and_sample_var: expected = [] } = sliding;
    const rig = new ShardRig({ window });
    // No threshold is reached, so that no value is masked.
    rig.exclude(PROFILE_ENVIRONMENT);
    const slot = rig.stream();
    sliding.x.forEach((value, i) => {
      if (i >= first) {
        const [mean, variance] = expected[i - first] as readonly [number, number];
        const statistics = rig.statistics(slot);
        near(statistics.mean, mean, 1e-14);
        near(statistics.m2 / (window - 1), variance, 1e-9);
      }
      rig.apply(slot, 1_700_000_000_000 + 60_000 * i, value);
    });
  });
});

describe("robust statistics", () => {
  it.each(cases<RobustCase>("robust_z").map((one) => [one.name, one] as const))("%s", (_, one) => {
    const statistics = robustStatistics(one.x);
    near(statistics.median, one.median, 1e-12);
    near(statistics.mad, one.mad_raw, 1e-12);
    near(statistics.meanDeviation, one.modified_fallback_meanAD, 1e-12);
    const { mean, variance } = windowStatistics(Float64Array.from(one.x));
    one.queries.forEach((query, i) => {
      near((query - mean) / Math.sqrt(variance as number), one.z_sample_sd[i] as number, 1e-12);
      const expected = one["robust_z_0.6745"][i];
      const z = robustZ(query, statistics);
      expect(Number.isFinite(z)).toBe(true);
      const fallback = Math.min(99, (query - one.median) / (1.253314 * one.modified_fallback_meanAD));
      if (expected === null || expected === undefined) expect(z).toBeCloseTo(fallback, 6);
      else near(z, expected, 1e-12);
    });
  });
  it("are finite whatever comes", () => {
    for (const values of [[], [0], [0, 0, 0], [1e308, -1e308, 1e308], [5, 5, 5]]) {
      for (const value of [0, 5, 1e308, -1e308]) expect(Math.abs(robustZ(value, robustStatistics(values)))).toBeLessThanOrEqual(99);
    }
    expect(median([3, 1, 2])).toBe(2);
    expect(median([])).toBe(0);
  });
});
