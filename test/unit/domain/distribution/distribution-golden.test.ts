// Reference values of test/golden/histogram_quantile.json: Prometheus' rules, computed apart from this code.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { EMPTY_DISTRIBUTION } from "../../../../src/domain/distribution/distribution.ts";
import { classicQuantile, explicitQuantile, quantileOf } from "../../../../src/domain/distribution/quantile.ts";

type Value = number | "NaN" | "+Inf" | "-Inf";

interface ClassicCase {
  readonly name: string;
  readonly le: readonly Value[];
  readonly cumulative: readonly number[];
  readonly q: readonly number[];
  readonly expected: readonly Value[];
}

interface ExplicitCase {
  readonly name: string;
  readonly explicit_bounds: readonly number[];
  readonly bucket_counts: readonly number[];
  readonly q: readonly number[];
  readonly expected: readonly Value[];
}

interface ExponentialCase {
  readonly name: string;
  readonly scale: number;
  readonly zero_count: number;
  readonly zero_threshold: number;
  readonly positive: { readonly offset: number; readonly bucket_counts: readonly number[] };
  readonly negative: { readonly offset: number; readonly bucket_counts: readonly number[] };
  readonly q: readonly number[];
  readonly expected_exponential_interpolation: readonly number[];
}

const { cases } = JSON.parse(readFileSync(new URL("../../../golden/histogram_quantile.json", import.meta.url), "utf8")) as {
  readonly cases: ReadonlyArray<ClassicCase | ExplicitCase | ExponentialCase>;
};

function numberOf(value: Value): number {
  return value === "+Inf" ? Number.POSITIVE_INFINITY : value === "-Inf" ? Number.NEGATIVE_INFINITY : Number(value);
}

function near(actual: number, expected: Value): void {
  const wanted = numberOf(expected);
  if (!Number.isFinite(wanted)) expect(actual).toBe(wanted);
  else expect(Math.abs(actual - wanted), `${actual} instead of ${wanted}`).toBeLessThanOrEqual(1e-12 * Math.abs(wanted));
}

describe("quantiles of classic and explicit buckets", () => {
  const classic = cases.filter((one): one is ClassicCase => "le" in one);
  it.each(classic.map((one) => [one.name, one] as const))("%s", (_, { le, cumulative, q, expected }) => {
    const rising = cumulative.map((_count, i) => Math.max(...cumulative.slice(0, i + 1)));
    const counts = rising.map((count, i) => count - (rising[i - 1] ?? 0));
    const bounds = le.map(numberOf);
    q.forEach((quantile, i) => {
      near(explicitQuantile(quantile, bounds.slice(0, -1), counts), expected[i] as Value);
      near(classicQuantile(quantile, bounds, rising, bounds.length), expected[i] as Value);
    });
  });

  const explicit = cases.filter((one): one is ExplicitCase => "explicit_bounds" in one);
  it.each(explicit.map((one) => [one.name, one] as const))("%s", (_, one) => {
    one.q.forEach((quantile, i) => {
      near(explicitQuantile(quantile, one.explicit_bounds, one.bucket_counts), one.expected[i] as Value);
    });
  });

  it("end at the smallest and the largest value, where they are known", () => {
    const [bounds, counts] = [
      [10, 20],
      [4, 2, 4],
    ];
    const extremes = { min: 6, max: 40 };
    expect([0, 0.4, 0.6, 0.8, 1].map((q) => explicitQuantile(q, bounds, counts, extremes))).toEqual([6, 10, 20, 30, 40]);
    expect(explicitQuantile(0.5, bounds, [0, 9, 0], { min: 12, max: 13 })).toBe(13);
    expect(explicitQuantile(0.99, bounds, [0, 9, 0], { min: 12, max: 13 })).toBe(13);
    expect(explicitQuantile(0.01, bounds, [0, 9, 0], { min: 12, max: 13 })).toBe(12);
  });
});

describe("quantiles of exponential buckets", () => {
  const exponential = cases.filter((one): one is ExponentialCase => "positive" in one);
  it.each(exponential.map((one) => [one.name, one] as const))("%s", (_, one) => {
    const point = {
      ...EMPTY_DISTRIBUTION,
      kind: "exponential" as const,
      scale: one.scale,
      zeroCount: one.zero_count,
      zeroThreshold: one.zero_threshold,
      positive: { offset: one.positive.offset, counts: one.positive.bucket_counts },
      negative: { offset: one.negative.offset, counts: one.negative.bucket_counts },
    };
    one.q.forEach((quantile, i) => {
      near(quantileOf(point, quantile), one.expected_exponential_interpolation[i] as number);
    });
  });

  it("stay finite at the coarsest scale, and are NaN for none", () => {
    const point = { ...EMPTY_DISTRIBUTION, kind: "exponential" as const, scale: -11, positive: { offset: 0, counts: [3] } };
    expect(quantileOf(point, 0.99)).toBeLessThan(Number.POSITIVE_INFINITY);
    expect(quantileOf({ ...point, positive: { offset: 0, counts: [] } }, 0.5)).toBeNaN();
    expect(quantileOf({ ...point, positive: { offset: 0, counts: [] }, zeroCount: 4, zeroThreshold: 2 }, 0.5)).toBe(0);
  });
});
