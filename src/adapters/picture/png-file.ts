// Pictures as PNG (RFC 2083): indexed colours of eight bits, packed beside the thread.
import { promisify } from "node:util";
import { crc32, deflate } from "node:zlib";
import type { Raster } from "../../domain/picture/raster.ts";

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const INDEXED = { depth: 8, colours: 3 } as const;
const HEADER_BYTES = 13;
const packed = promisify(deflate);

/** The file of a picture; `colours` are red, green and blue of each. */
export async function pngFile({ width, height, dots }: Raster, colours: ReadonlyArray<readonly number[]>): Promise<Buffer> {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([INDEXED.depth, INDEXED.colours], 8);
  // Each row begins with its filter: none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) rows.set(dots.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  const chunks = [
    chunk("IHDR", header),
    chunk("PLTE", Uint8Array.from(colours.flat())),
    chunk("IDAT", await packed(rows)),
    chunk("IEND", new Uint8Array(0)),
  ];
  return Buffer.concat([SIGNATURE, ...chunks]);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, "latin1");
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}
