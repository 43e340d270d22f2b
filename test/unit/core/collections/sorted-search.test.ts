import fc from "fast-check";
import { expect, it } from "vitest";
import { firstIndex, lowerBound } from "../../../../src/core/collections/sorted-search.ts";

const ascending = fc.array(fc.integer({ min: -20, max: 20 }), { maxLength: 40 }).map((values) => values.sort((a, b) => a - b));

it("finds the first value that is not below another, as a search through all does", () => {
  fc.assert(
    fc.property(ascending, fc.integer({ min: -25, max: 25 }), (values, least) => {
      const found = values.findIndex((value) => value >= least);
      expect(lowerBound(Float64Array.from(values), least)).toBe(found < 0 ? values.length : found);
    }),
  );
});

it("looks at a part alone", () => {
  fc.assert(
    fc.property(ascending, fc.nat(40), fc.integer({ min: -25, max: 25 }), (values, first, least) => {
      const from = Math.min(first, values.length);
      const places = values.map((_, place) => place).filter((place) => place >= from && (values[place] as number) >= least);
      expect(firstIndex(from, values.length, (place) => (values[place] as number) < least)).toBe(places[0] ?? values.length);
    }),
  );
});
