// CRC-32 (IEEE 802.3, reflected polynomial 0xedb88320) of log and chunk blocks: zlib's own, about 0.2 ns a byte, four times faster than tables in
// JavaScript. A pure function, which is why the floors below may have it.
import * as zlib from "node:zlib";

/** Checksum of bytes, which may lie on shared memory; `crc32(b, crc32(a))` is that of a followed by b. An unsigned 32-bit number. */
export function crc32(bytes: Uint8Array, previous = 0): number {
  return zlib.crc32(bytes, previous);
}
