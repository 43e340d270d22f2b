import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitParabola, valueAt } from "../../../../src/domain/saturation/least-squares.ts";
import { medianInPlace, senSlope, TREND_POINTS_MAX, trendTest, varianceInflation } from "../../../../src/domain/saturation/trend.ts";
import { generator } from "../../../support/generator.ts";

interface LineCase {
  readonly name: string;
  readonly t_minutes: readonly number[];
  readonly y: readonly number[];
  readonly theil_sen_slope: number;
}

const golden = JSON.parse(readFileSync(new URL("../../../golden/ols_slope.json", import.meta.url), "utf8")) as { cases: LineCase[] };
const lines = golden.cases.filter((one) => one.t_minutes !== undefined);

function near(actual: number | null, expected: number, relative = 1e-9): void {
  expect(Math.abs((actual ?? Number.NaN) - expected), `${actual} instead of ${expected}`).toBeLessThanOrEqual(
    relative * Math.abs(expected),
  );
}

/** All slopes, sorted by the library's own sort. */
function slopesOf(t: readonly number[], y: readonly number[]): number[] {
  const slopes: number[] = [];
  for (let i = 0; i < t.length; i++) {
    for (let j = i + 1; j < t.length; j++)
      if (t[j] !== t[i]) slopes.push(((y[j] as number) - (y[i] as number)) / ((t[j] as number) - (t[i] as number)));
  }
  return slopes.sort((a, b) => a - b);
}

function naiveMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

describe("least squares", () => {
  it("of a parabola gives back any parabola", () => {
    const coefficient = fc.double({ min: -5, max: 5, noNaN: true });
    fc.assert(
      fc.property(coefficient, coefficient, coefficient, (c0, c1, c2) => {
        const t = Float64Array.from({ length: 40 }, (_, i) => -i * 3);
        const fit = fitParabola(
          t,
          t.map((at) => valueAt({ c0, c1, c2 }, at)),
        );
        expect(fit?.c0).toBeCloseTo(c0, 6);
        expect(fit?.c1).toBeCloseTo(c1, 6);
        expect(fit?.c2).toBeCloseTo(c2, 6);
      }),
    );
    expect(fitParabola(new Float64Array([1, 1, 2]), new Float64Array([1, 2, 3]))).toBeNull();
  });
});

describe("Theil-Sen", () => {
  it.each(lines.filter(({ y }) => y.length <= TREND_POINTS_MAX).map((one) => [one.name, one] as const))("reference %s", (_, one) => {
    near(senSlope(Float64Array.from(one.t_minutes), Float64Array.from(one.y)).slope, one.theil_sen_slope, 1e-9);
  });
  it("of 12 hours by medians of five minutes is near the reference of all minutes", () => {
    const one = lines.find(({ name }) => name === "fill_12h") as LineCase;
    const y = Float64Array.from({ length: TREND_POINTS_MAX }, (_, slot) => naiveMedian(one.y.slice(5 * slot, 5 * slot + 5)));
    const t = Float64Array.from(y, (_, slot) => 5 * slot + 2);
    near(senSlope(t, y).slope, one.theil_sen_slope, 0.1);
  });
  it("is the naive median of all slopes, its interval the naive ranks", () => {
    const points = fc.array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.double({ min: -1e3, max: 1e3, noNaN: true })), {
      minLength: 2,
      maxLength: 40,
    });
    fc.assert(
      fc.property(points, (list) => {
        const t = list.map(([time]) => time).sort((a, b) => a - b);
        const y = list.map(([, value]) => value);
        const slopes = slopesOf(t, y);
        const sen = senSlope(Float64Array.from(t), Float64Array.from(y));
        if (slopes.length === 0) {
          expect(sen.slope).toBe(0);
          return;
        }
        expect(sen.slope).toBeCloseTo(naiveMedian(slopes), 9);
        expect(sen.intercept).toBeCloseTo(naiveMedian(y.map((value, i) => value - sen.slope * (t[i] as number))), 9);
        const n = t.length;
        const ties = [...new Set(y)].map((value) => y.filter((other) => other === value).length);
        const variance = (n * (n - 1) * (2 * n + 5) - ties.reduce((sum, k) => sum + k * (k - 1) * (2 * k + 5), 0)) / 18;
        const margin = 1.959963984540054 * Math.sqrt(variance);
        const clamp = (rank: number): number => Math.min(slopes.length - 1, Math.max(0, rank));
        expect(sen.lower).toBeCloseTo(slopes[clamp(Math.round((slopes.length - margin) / 2) - 1)] as number, 9);
        expect(sen.upper).toBeCloseTo(slopes[clamp(Math.round((slopes.length + margin) / 2))] as number, 9);
      }),
    );
  });
  it("does not move with a quarter of wild values", () => {
    const t = Float64Array.from({ length: 80 }, (_, i) => i);
    const y = t.map((at) => (at >= 62 ? 0 : 50 + at / 2));
    expect(senSlope(t, y).slope).toBeCloseTo(0.5, 1);
  });
  it("does not see a shift of time or value", () => {
    const random = generator(3);
    const t = Float64Array.from({ length: 60 }, (_, i) => i);
    const y = t.map((at) => at / 4 + random.normal());
    const there = senSlope(t, y);
    const elsewhere = senSlope(
      t.map((at) => at - 1000),
      y.map((value) => value + 7),
    );
    expect(elsewhere.slope).toBeCloseTo(there.slope, 9);
    expect(elsewhere.lower).toBeCloseTo(there.lower, 9);
  });
  it("refuses more points than its pairs have room for", () => {
    const many = new Float64Array(TREND_POINTS_MAX + 1);
    expect(() => senSlope(many, many)).toThrow(/at most 144/);
  });
});

describe("Mann-Kendall", () => {
  it("counts pairs", () => {
    expect(trendTest(new Float64Array([1, 2, 3, 4])).tau).toBe(1);
    expect(trendTest(new Float64Array([4, 3, 2, 1])).tau).toBe(-1);
    expect(trendTest(new Float64Array([1, 1, 1, 1]))).toEqual({ tau: 0, p: 1, inflation: 1 });
    // S = 4, variance 4 * 3 * 13 / 18 = 8.6667, z = 3 / sqrt(8.6667) = 1.0190; 1 2 4 3
    expect(trendTest(new Float64Array([1, 2, 4, 3])).p).toBeCloseTo(0.3082, 3);
  });
  it("finds a trend in pure noise in one of a hundred, in correlated noise not much oftener once corrected", () => {
    const random = generator(9);
    const counts = { white: 0, plain: 0, corrected: 0 };
    const rounds = 600;
    for (let round = 0; round < rounds; round++) {
      let state = 0;
      const white = Float64Array.from({ length: 90 }, () => random.normal());
      const correlated = Float64Array.from({ length: 90 }, () => {
        state = 0.7 * state + random.normal();
        return state;
      });
      if (trendTest(white, white).p <= 0.01) counts.white++;
      if (trendTest(correlated).p <= 0.01) counts.plain++;
      if (trendTest(correlated, correlated).p <= 0.01) counts.corrected++;
    }
    expect(counts.white / rounds).toBeLessThan(0.03);
    expect(counts.plain / rounds).toBeGreaterThan(0.15);
    expect(counts.corrected).toBeLessThan(counts.plain / 2);
  });
  it("never takes negative correlation for certainty", () => {
    expect(varianceInflation(Float64Array.from({ length: 60 }, (_, i) => i % 2))).toBe(1);
    expect(varianceInflation(new Float64Array(60))).toBe(1);
  });
});

describe("median by selection", () => {
  it("is the naive median", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -1e9, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 60 }), (values) => {
        expect(medianInPlace(Float64Array.from(values), values.length)).toBeCloseTo(naiveMedian(values), 6);
      }),
    );
    expect(medianInPlace(new Float64Array(), 0)).toBe(0);
  });
});
