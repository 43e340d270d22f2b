import { inflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { pngFile } from "../../../../src/adapters/picture/png-file.ts";
import { Raster } from "../../../../src/domain/picture/raster.ts";

describe("a PNG file", () => {
  it("holds size, colours and dots in chunks whose sums are right", async () => {
    const raster = new Raster(3, 2);
    raster.dot(1, 1, 1);
    const file = await pngFile(raster, [
      [255, 255, 255],
      [1, 2, 3],
    ]);
    expect(file.subarray(1, 4).toString("latin1")).toBe("PNG");
    expect([file.readUInt32BE(16), file.readUInt32BE(20), file[24], file[25]]).toEqual([3, 2, 8, 3]);
    const at = file.indexOf("IDAT");
    const rows = inflateSync(file.subarray(at + 4, at + 4 + file.readUInt32BE(at - 4)));
    expect([...rows]).toEqual([0, 0, 0, 0, 0, 0, 1, 0]);
    const colours = file.indexOf("PLTE");
    expect([...file.subarray(colours + 4, colours + 10)]).toEqual([255, 255, 255, 1, 2, 3]);
    // The end of every PNG there is.
    expect(file.subarray(-12).toString("hex")).toBe("0000000049454e44ae426082");
  });
});
