// Frames are those of libzstd 1.5 by Node 24.21: `zlib.zstdCompressSync`, and a stream that was flushed twice.
import { describe, expect, it } from "vitest";
import { zstdFrameBytes } from "../../../../src/domain/codec/zstd-frame.ts";

const BLOCKS_MAX = 1_000;
const frames: Array<[what: string, base64: string]> = [
  ["nothing", "KLUv/SAAAQAA"],
  ["a text", "KLUv/SATbQAAOGhlbGxvLCABAOKKEQ=="],
  ["a text with a checksum", "KLUv/SQFKQAAaGVsbG+jbZ+I"],
  ["400,000 equal bytes, in blocks of one byte", "KLUv/aSAGgYAVAAAEGFhAQD7/znAAgIAEGECABBhA9QAYcVgNOM="],
  ["three blocks of a stream, without the content's size", "KLUv/QBYIAAAb25lICAAAHR3byApAAB0aHJlZQ=="],
];

describe("a frame of zstd", () => {
  it.each(frames)("of %s ends where it ends, whatever follows, and is none where it is cut", (_what, base64) => {
    const frame = Buffer.from(base64, "base64");
    expect(zstdFrameBytes(frame, BLOCKS_MAX)).toBe(frame.byteLength);
    expect(zstdFrameBytes(Buffer.concat([frame, frame]), BLOCKS_MAX)).toBe(frame.byteLength);
    for (let bytes = 0; bytes < frame.byteLength; bytes++) expect(zstdFrameBytes(frame.subarray(0, bytes), BLOCKS_MAX)).toBeUndefined();
  });

  it("has so many blocks at most", () => {
    const flushed = Buffer.from(frames[4]?.[1] as string, "base64");
    expect([zstdFrameBytes(flushed, 2), zstdFrameBytes(flushed, 3)]).toEqual([undefined, flushed.byteLength]);
  });

  it("is no gzip, and no frame that is to be skipped", () => {
    for (const hex of ["1f8b0800000000000003", "502a4d1804000000abcdabcd"])
      expect(zstdFrameBytes(Buffer.from(hex, "hex"), BLOCKS_MAX)).toBeUndefined();
  });
});
