import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sortedSteps } from "../../../../src/core/collections/sorted-search.ts";
import { finished } from "../../../../src/core/fairness/serial-work.ts";

interface Entry {
  readonly key: number;
  readonly place: number;
}

const byKey = (a: Entry, b: Entry) => a.key - b.key;

describe("a list sorted in steps", () => {
  it("is in the order of a sort that keeps equals as they came", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 1, max: 1_000_000 }), (length, factor) => {
        const list = Array.from({ length }, (_, place) => ({ key: (place * factor) % 997, place }));
        expect(finished(sortedSteps(list, byKey))).toEqual([...list].sort(byKey));
      }),
      { numRuns: 30 },
    );
  });

  it("takes a step for each thousand entries that are sorted or merged", () => {
    const list = Array.from({ length: 8_000 }, (_, place) => ({ key: -place, place }));
    expect([...sortedSteps(list, byKey)]).toHaveLength(8 + 3 * 8);
  });
});
