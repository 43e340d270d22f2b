// What a series' own tail says of a departure.
import { describe, expect, it } from "vitest";
import { OWN_TAIL_WORDS, OwnTail } from "../../../../src/domain/detection/departure/own-tail.ts";
import { generator } from "../../../support/generator.ts";

function tailOf(sizes: Iterable<number>): OwnTail {
  const tail = new OwnTail(new Float64Array(OWN_TAIL_WORDS));
  for (const size of sizes) tail.add(size);
  return tail;
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
    const size = tail.passedWith(0.01);
    expect(tail.chanceOf(size)).toBeCloseTo(0.01, 6);
  });
});
