import fc from "fast-check";
import { compressSync } from "snappy";
import { describe, expect, it } from "vitest";
import { readSnappyBlock } from "../../../../src/domain/codec/snappy-block.ts";

const repetitive = fc.array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 70 }), fc.integer({ min: 1, max: 40 })), { maxLength: 20 });

describe("a snappy block", () => {
  it("is read as it was compressed, repeated pieces and long literals among it", () => {
    fc.assert(
      fc.property(repetitive, (pieces) => {
        const content = Buffer.concat(pieces.flatMap(([piece, times]) => Array.from({ length: times }, () => piece)));
        expect(Buffer.from(readSnappyBlock(compressSync(content), content.length) ?? [1])).toEqual(content);
        if (content.length > 0) expect(readSnappyBlock(compressSync(content), content.length - 1)).toBeUndefined();
      }),
    );
    const long = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * 7_919) & 255));
    expect(Buffer.from(readSnappyBlock(compressSync(long), long.length) ?? [])).toEqual(long);
  });

  it("of any other bytes is none, and reads nothing behind them", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => (readSnappyBlock(bytes, 1_000)?.length ?? 0) <= 1_000));
    expect(readSnappyBlock(Uint8Array.of(4, 1, 9), 10)).toBeUndefined(); // a copy of what is not there
    expect(readSnappyBlock(Uint8Array.of(4, 12, 65), 10)).toBeUndefined(); // a literal that is cut
  });
});
