import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decompose, seasonalStrength } from "../../../../src/domain/detection/seasonal/classical-decomposition.ts";

interface SeasonCase {
  readonly y: readonly number[];
  readonly period: number;
  readonly trend: ReadonlyArray<number | null>;
  readonly seasonal: readonly number[];
  readonly resid: ReadonlyArray<number | null>;
}

const { cases: golden } = JSON.parse(readFileSync(new URL("../../../golden/seasonal_decompose.json", import.meta.url), "utf8")) as {
  cases: SeasonCase;
};

function expectEqual(actual: Float64Array, expected: ReadonlyArray<number | null>): void {
  expect(actual).toHaveLength(expected.length);
  expected.forEach((value, i) => {
    const found = actual[i] as number;
    if (value === null) expect(found, `value ${i}`).toBeNaN();
    else
      expect(Math.abs(found - value), `value ${i}: ${found} instead of ${value}`).toBeLessThanOrEqual(1e-10 * Math.max(1, Math.abs(value)));
  });
}

describe("classical decomposition", () => {
  it("gives the reference's trend, season and rest", () => {
    const { trend, season, rest } = decompose(golden.y, golden.period);
    expectEqual(trend, golden.trend);
    expectEqual(season, golden.seasonal);
    expectEqual(rest, golden.resid);
  });

  it("finds a line and a season of an odd period again, to rounding", () => {
    const season = [5, -1, 0, -7, 3];
    const values = Array.from({ length: 40 }, (_, i) => 100 + 0.5 * i + (season[i % 5] as number));
    const found = decompose(values, 5);
    season.forEach((value, phase) => expect(found.season[phase]).toBeCloseTo(value, 9));
    for (let i = 2; i < 38; i++) expect(found.trend[i]).toBeCloseTo(100 + 0.5 * i, 9);
    expect(seasonalStrength(values, found)).toBeCloseTo(1, 9);
  });

  it("puts every value together again from its parts", () => {
    const arbitrary = fc
      .integer({ min: 2, max: 12 })
      .chain((period) =>
        fc.tuple(fc.constant(period), fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 2 * period, maxLength: 80 })),
      );
    fc.assert(
      fc.property(arbitrary, ([period, values]) => {
        const { trend, season, rest } = decompose(values, period);
        values.forEach((value, i) => {
          const sum = (trend[i] as number) + (season[i % period] as number) + (rest[i] as number);
          if (!Number.isNaN(sum)) expect(sum).toBeCloseTo(value, 6);
        });
        expect(season.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 5);
      }),
    );
  });

  it("gives a season no weight where there is none: a constant, and a line", () => {
    const constant = Array.from({ length: 30 }, () => 4);
    expect(seasonalStrength(constant, decompose(constant, 6))).toBe(0);
    expect(() => decompose([1, 2, 3], 2)).toThrow("3 values are less than two periods of 2");
    expect(() => decompose(constant, 1)).toThrow("at least 2, got 1");
  });
});
