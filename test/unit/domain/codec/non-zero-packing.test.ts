import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packedSizeMax, packNonZero, unpackNonZero } from "../../../../src/domain/codec/non-zero-packing.ts";

const anyWords = fc
  .array(fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.nat(0xffffffff)), { maxLength: 200 })
  .map((list) => Uint32Array.from(list));

/** Bytes of words that are packed behind `headWords` others, with those. */
function packedBehind(words: Uint32Array, headWords: number): Uint8Array<ArrayBuffer> {
  const packed = new Uint32Array(headWords + packedSizeMax(words.length));
  return Uint8Array.from(new Uint8Array(packed.buffer, 0, 4 * packNonZero(words, packed, headWords)));
}

describe("words without the zeros", () => {
  it("come back, whatever they are, behind a head of any length", () => {
    fc.assert(
      fc.property(anyWords, fc.nat(3), (words, headWords) => {
        const packed = packedBehind(words, headWords);
        const filled = words.filter((word) => word !== 0).length;
        expect(packed.length).toBe(4 * (headWords + Math.ceil(words.length / 32) + filled));
        expect(packed.subarray(0, 4 * headWords).every((byte) => byte === 0)).toBe(true);
        const unpacked = new Uint32Array(words.length);
        expect(unpackNonZero(Uint8Array.from(packed.subarray(4 * headWords)), unpacked)).toBe(true);
        expect(unpacked).toEqual(words);
      }),
      { numRuns: 500 },
    );
  });

  it("are refused where bytes are missing, too many, or belong to more words", () => {
    const words = Uint32Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? i + 1 : 0));
    const packed = packedBehind(words, 0);
    const longer = new Uint8Array(packed.length + 4);
    longer.set(packed);
    for (const bytes of [packed.slice(0, -4), packed.slice(0, -1), longer, packed.slice(0, 4), new Uint8Array(0)])
      expect(unpackNonZero(bytes, new Uint32Array(40))).toBe(false);
    expect(unpackNonZero(packed, new Uint32Array(39))).toBe(false);
    expect(unpackNonZero(packed, new Uint32Array(40))).toBe(true);
  });
});
