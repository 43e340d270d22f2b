// A rate of few against a rate of few.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countZ, countZOf } from "../../../../src/domain/detection/gates/count-test.ts";

const zeros = (length: number) => Array.from({ length }, () => 0);

describe("countZ", () => {
  it("is the exact conditional test of two rates", () => {
    // One event of one, in the 13th of 13 intervals: P = 1/13, two-sided 2/13.
    expect(countZ(1, 1, 0, 12)).toBeCloseTo(1.426, 2);
    // Two of two in the newest of 121: (1/121)^2.
    expect(countZ(2, 1, 0, 120)).toBeCloseTo(3.812, 2);
    // None where 600 came in 120: (120/121)^600 = 0.00688.
    expect(countZ(0, 1, 600, 120)).toBeCloseTo(-2.46, 2);
    expect(countZ(5, 1, 600, 120)).toBeCloseTo(0, 6);
  });
  it("grows with the events, and is the smaller the less is known", () => {
    fc.assert(
      fc.property(fc.nat(30), fc.nat(200), fc.integer({ min: 2, max: 120 }), (events, base, intervals) => {
        const z = countZ(events, 1, base, intervals);
        expect(Number.isFinite(z)).toBe(true);
        expect(countZ(events + 1, 1, base, intervals)).toBeGreaterThanOrEqual(z);
      }),
    );
    expect(countZ(3, 1, 0, 120)).toBeGreaterThan(countZ(3, 1, 0, 12));
  });
});

describe("countZOf", () => {
  it("one failure where there were none is no news, some are, and so are a few in a row", () => {
    expect(countZOf(1, zeros(12), true)).toBeLessThan(3);
    expect(countZOf(1, zeros(120), true)).toBeLessThan(3);
    expect(countZOf(6, zeros(120), true)).toBeGreaterThan(6);
    expect(countZOf(1, [...zeros(117), 1, 1, 1], true)).toBeGreaterThan(4.5);
  });
  it("leaves alone what is no count, what is many, and a level that hardly strays", () => {
    expect(countZOf(1.5, zeros(12), true)).toBeUndefined();
    expect(countZOf(2, [0.5, 1, 2], true)).toBeUndefined();
    expect(countZOf(900, Array(60).fill(400), true)).toBeUndefined();
    expect(countZOf(1e9, zeros(12), true)).toBeUndefined();
    expect(countZOf(2, Array(60).fill(3), false)).toBeUndefined();
    expect(countZOf(1, zeros(60), false)).toBeUndefined();
  });
  it("of what counts exactly as many each time, more must be more than chance, and fewer are news at once", () => {
    expect(countZOf(2, Array(60).fill(1), true)).toBeLessThan(3);
    expect(countZOf(40, Array(60).fill(10), true)).toBeGreaterThan(5);
    expect(countZOf(0, Array(60).fill(10), true)).toBeUndefined();
  });
});
