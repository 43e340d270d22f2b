// Selection by rank against sorting.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { selectIndex } from "../../../../src/core/collections/selection.ts";

const values = fc.array(fc.oneof(fc.double({ noNaN: true }), fc.integer({ min: 0, max: 3 })), { minLength: 1, maxLength: 200 });

describe("selection", () => {
  it("finds what sorting would put there, with nothing larger before it and nothing smaller behind", () => {
    fc.assert(
      fc.property(values, fc.nat(), fc.nat({ max: 5 }), (numbers, where, others) => {
        const place = where % numbers.length;
        const own = Float64Array.from([...numbers, ...new Array<number>(others).fill(-7)]);
        const found = selectIndex(own, numbers.length, place);
        const sorted = numbers.toSorted((a, b) => a - b);
        expect(found === sorted[place]).toBe(true); // -0 and 0 are one
        const reordered = [...own.subarray(0, numbers.length)];
        expect(reordered.toSorted((a, b) => a - b).every((value, at) => value === sorted[at])).toBe(true);
        expect(reordered.slice(0, place).every((value) => value <= found)).toBe(true);
        expect(reordered.slice(place).every((value) => value >= found)).toBe(true);
        expect([...own.subarray(numbers.length)]).toEqual(new Array<number>(others).fill(-7));
      }),
    );
  });
});
