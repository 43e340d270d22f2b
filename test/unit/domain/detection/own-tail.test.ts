// What a series' own tail says of a departure.
import { describe, expect, it } from "vitest";
import { OWN_TAIL_LENGTH, OwnTail } from "../../../../src/domain/detection/departure/own-tail.ts";
import { pagesPerValue, shareOfOne } from "../../../../src/domain/detection/departure/page-budget.ts";
import { generator } from "../../../support/generator.ts";

function tailOf(sizes: Iterable<number>): OwnTail {
  const tail = new OwnTail(new Float64Array(OWN_TAIL_LENGTH));
  for (const size of sizes) tail.add(size);
  return tail;
}

/** Probability that noise with Student's tail of five degrees of freedom, of unit variance, is larger. */
function studentTail(size: number): number {
  const angle = Math.atan((size * Math.sqrt(5 / 3)) / Math.sqrt(5));
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  return 1 / 2 - (angle + sin * cos * (1 + (2 / 3) * cos ** 2)) / Math.PI;
}

describe("the probability of a departure by its own tail", () => {
  it("is no less than its values can show", () => {
    expect(tailOf([]).chanceOf(50)).toBe(1);
    expect(tailOf([1, 2]).chanceOf(50)).toBe(1 / 3);
    const { normal } = generator(3);
    const tail = tailOf(Array.from({ length: 999 }, () => Math.max(0, normal())));
    expect(tail.chanceOf(1e9)).toBe(1 / 1000);
    expect(tail.chanceOf(2.5)).toBeGreaterThan(1 / 1000);
  });
  it("is the inverse of what is passed with it", () => {
    const { uniform } = generator(4);
    const tail = tailOf(Array.from({ length: 500 }, () => (1 - uniform()) ** -0.5));
    const size = tail.exceededWith(0.01);
    expect(tail.chanceOf(size)).toBeCloseTo(0.01, 6);
  });
});

describe("what a series of a service may page by chance", () => {
  it.each([1, 4])("is no more than its share where noise has Student's tails (%i series)", (series) => {
    const share = pagesPerValue(60_000) * shareOfOne(series);
    let passed = 0;
    const seeds = 200;
    for (let seed = 1; seed <= seeds; seed++) {
      const { normal } = generator(seed);
      const student = () => {
        let squares = 0;
        for (let i = 0; i < 5; i++) squares += normal() ** 2;
        return normal() / Math.sqrt(squares / 3);
      };
      const tail = tailOf(Array.from({ length: 2_000 }, () => Math.max(0, student())));
      passed += studentTail(tail.exceededWith(share, series)) / seeds;
    }
    expect(passed).toBeLessThan(share);
  });
});
