/**
 * CRC-32C (Castagnoli, reflected polynomial 0x82f63b78; RFC 3720 appendix B.4), slicing by eight: 8 tables of 256 words, 8 KiB.
 * Measured about 1 ns a byte, so 16 us a 16 KiB log block and 64 us a 64 KiB chunk block.
 */

const POLYNOMIAL = 0x82f63b78;
const TABLES = buildTables();

/**
 * Returns the CRC-32C of `bytes` as an unsigned 32-bit number. Pass the result for the bytes before as `previous` to
 * go on where they ended: `crc32c(b, crc32c(a))` is the checksum of a followed by b. Reads views on shared memory too.
 */
export function crc32c(bytes: Uint8Array, previous = 0): number {
  const tables = TABLES;
  const sliced = bytes.length - (bytes.length & 7);
  let crc = ~previous;
  let at = 0;
  for (; at < sliced; at += 8) {
    const low = crc ^ (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
    crc =
      tables[0x700 + (low & 0xff)]! ^
      tables[0x600 + ((low >>> 8) & 0xff)]! ^
      tables[0x500 + ((low >>> 16) & 0xff)]! ^
      tables[0x400 + (low >>> 24)]! ^
      tables[0x300 + bytes[at + 4]!]! ^
      tables[0x200 + bytes[at + 5]!]! ^
      tables[0x100 + bytes[at + 6]!]! ^
      tables[bytes[at + 7]!]!;
  }
  for (; at < bytes.length; at++) crc = tables[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

function buildTables(): Int32Array {
  const tables = new Int32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    tables[byte] = crc;
  }
  for (let at = 256; at < tables.length; at++) {
    const shorter = tables[at - 256] ?? 0;
    tables[at] = (tables[shorter & 0xff] ?? 0) ^ (shorter >>> 8);
  }
  return tables;
}
