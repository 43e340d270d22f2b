// Values of any finite size are judged by the long baseline, and told in the unit of their series.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PairDetector } from "../../../../src/domain/detection/pair/pair-detector.ts";
import { compressedValue, shownValue } from "../../../../src/domain/detection/pair/value-range.ts";
import { generator } from "../../../support/generator.ts";

const MINUTE_MS = 60_000;
const finite = () => fc.double({ noNaN: true, noDefaultInfinity: true });

describe("the range of values", () => {
  it("is within single precision, keeps the order of values, and is told as it was", () => {
    fc.assert(
      fc.property(finite(), finite(), (a, b) => {
        expect(Number.isFinite(Math.fround(compressedValue(a)))).toBe(true);
        expect(Math.sign(a - b) * Math.sign(compressedValue(a) - compressedValue(b))).toBeGreaterThanOrEqual(0);
        expect(Math.abs(shownValue(compressedValue(a)) - a)).toBeLessThanOrEqual(1e-12 * Math.abs(a));
      }),
    );
  });

  it.each([1e6, 1e18, 1e30, 1e39, 1e150, 1e300])("finds eight times as much as %d at once", (level) => {
    const random = generator(1);
    const detector = new PairDetector();
    const judge = (at: number, value: number) => detector.observe(at * MINUTE_MS, value);
    for (let at = 1; at <= 800; at++) expect(judge(at, level * (1 + 0.01 * random.normal())).opened).toBe(false);
    const { opened, departedValue, departedFrom } = judge(801, 8 * level);
    expect(opened).toBe(true);
    expect(shownValue(departedValue) / level).toBeCloseTo(8, 6);
    expect(shownValue(departedFrom) / level).toBeCloseTo(1, 1);
    expect(detector.bounds.upper / level).toBeLessThan(2);
    expect(detector.baseline.mean / level).toBeCloseTo(1, 1);
  });
});
