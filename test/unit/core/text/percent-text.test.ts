import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { percentText } from "../../../../src/core/text/plain-number.ts";
import { percentText as pageText } from "../../../../src/web/view/number-text.ts";

describe("a share in percent", () => {
  it("is rounded, with more digits near both ends", () => {
    const shares = [0, 0.004, 0.00001, 0.5, 0.714, 0.996, 0.9996, 0.99999, 1];
    expect(shares.map((share) => percentText(share))).toEqual([
      "0 %",
      "0.4 %",
      "below 0.01 %",
      "50 %",
      "71 %",
      "99.6 %",
      "99.96 %",
      "above 99.99 %",
      "100 %",
    ]);
    expect([percentText(0.0004, 1), percentText(0.1234, 1), percentText(-0.031, 1)]).toEqual(["0.04 %", "12.3 %", "-3.1 %"]);
  });

  it("is the same on a page: .9996 is not 100 %, and what is more than nothing is not 0 %", () => {
    const shares = [0.9996, 0.99999, 1, 1.2, 0.99949, 0.00001, 0, 0.1234, null];
    expect(shares.map(pageText)).toEqual(["99.96 %", "above 99.99 %", "100 %", "120 %", "99.9 %", "below 0.01 %", "0 %", "12.3 %", "–"]);
  });

  it("never says all of what is less, nor nothing of what is more", () => {
    const share = fc.double({ min: Number.MIN_VALUE, max: 1 - Number.EPSILON, noNaN: true });
    fc.assert(
      fc.property(share, fc.nat(2), (of, digits) => {
        for (const text of [percentText(of, digits), pageText(of)]) {
          expect(text).not.toMatch(/^100(?:[.]0+)? %$/);
          expect(text).not.toMatch(/^0(?:[.]0+)? %$/);
        }
      }),
    );
  });
});
