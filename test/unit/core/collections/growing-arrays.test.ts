import { describe, expect, it } from "vitest";
import { longEnough } from "../../../../src/core/collections/growing-arrays.ts";

describe("typed arrays that grow", () => {
  it("stay the same where they are long enough", () => {
    const array = new Uint32Array(4);
    expect(longEnough(array, 3)).toBe(array);
  });

  it("keep their values and their kind, and double", () => {
    expect(longEnough(Float64Array.of(0.5, 1.5), 2)).toEqual(Float64Array.of(0.5, 1.5, 0, 0));
    expect(longEnough(Uint8Array.of(7), 9)).toHaveLength(10);
  });
});
