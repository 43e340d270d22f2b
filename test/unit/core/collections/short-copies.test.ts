import { describe, expect, it } from "vitest";
import { ShortCopies } from "../../../../src/core/collections/short-copies.ts";

describe("short copies", () => {
  it("stand beside one another, and nobody else writes there", () => {
    const copies = new ShortCopies();
    const bytes = new Uint8Array(1000);
    const made = Array.from({ length: 100 }, (_, i) => copies.copy(bytes.fill(i), i * 10));
    for (const [i, copy] of made.entries()) expect([copy.length, copy.every((byte) => byte === i)]).toEqual([i * 10, true]);
    expect(new Set(made.map(({ buffer }) => buffer)).size).toBe(2);
  });

  it("that are long have memory of their own", () => {
    const copies = new ShortCopies();
    const long = copies.copy(new Uint8Array(5000).fill(7));
    expect([long.length, long.buffer.byteLength, long[4999]]).toEqual([5000, 5000, 7]);
    expect(copies.copy(Uint8Array.of(1, 2, 3), 2)).toEqual(Uint8Array.of(1, 2));
  });
});
