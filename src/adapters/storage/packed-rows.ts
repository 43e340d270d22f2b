/**
 * Rows of a table that lie beside each other, as one value. Its key is that of its first row:
 *
 *   version u8 = 1, rows varint, bytes of the rows varint, bytes of the last key varint, last key, then deflated (RFC 1951), row by row:
 *   bytes in common with the key before varint, bytes of the rest varint, rest of the key, bytes of the value varint, value
 *
 * Little-endian. 64 KiB of the ledger, 290 rows, take 16 KiB, 0.4 ms to pack and 0.2 to read. Level 6 takes 2 % less, and half as much time again.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { ByteReader } from "../../domain/codec/byte-reader.ts";
import { ByteWriter } from "../../domain/codec/byte-writer.ts";
import { compareKeys } from "../../domain/codec/key.ts";
import type { StoreEntry } from "./key-value-store.ts";

const PACK_VERSION = 1;
const DEFLATION = { level: 4, memLevel: 9 };
const DAMAGE = "a pack of stored rows is damaged";
/** Lengths in front of a row. */
const ROW_OVERHEAD_BYTES = 4;

const body = new ByteWriter();
const head = new ByteWriter(4096);

/** What a pack says of itself without being unpacked. */
export interface PackHead {
  readonly rows: number;
  /** Bytes of its rows before they were packed. */
  readonly bytes: number;
  readonly last: Uint8Array;
}

/** Bytes that a row adds to those of a pack, at most. */
export function packedRowBytes({ key, value }: StoreEntry): number {
  return key.length + value.length + ROW_OVERHEAD_BYTES;
}

/** Packs rows in the order of their keys, one at least. */
export function packRows(rows: readonly StoreEntry[]): Uint8Array {
  body.at = 0;
  let before: Uint8Array = new Uint8Array(0);
  for (const { key, value } of rows) {
    const common = commonBytes(before, key);
    body.varint(common);
    writeBytes(body, key.subarray(common));
    writeBytes(body, value);
    before = key;
  }
  head.at = 0;
  head.u8(PACK_VERSION);
  head.varint(rows.length);
  head.varint(body.at);
  writeBytes(head, before);
  head.copy(deflateRawSync(body.bytes.subarray(0, body.at), DEFLATION));
  return head.bytes.slice(0, head.at);
}

/** Reads the head of a pack. Throws on another version. */
export function readPackHead(pack: Uint8Array): PackHead {
  return headOf(new ByteReader(pack, DAMAGE));
}

/** Reads the rows of a pack; they are views of one array of their own. Throws on another version. */
export function unpackRows(pack: Uint8Array): StoreEntry[] {
  const packed = new ByteReader(pack, DAMAGE);
  const { rows, bytes } = headOf(packed);
  const reader = new ByteReader(inflateRawSync(pack.subarray(packed.at), { maxOutputLength: bytes }), DAMAGE);
  let key: Uint8Array = new Uint8Array(0);
  return Array.from({ length: rows }, () => {
    const common = reader.varint();
    const rest = reader.view(bytes);
    const next = new Uint8Array(common + rest.length);
    next.set(key.subarray(0, common));
    next.set(rest, common);
    key = next;
    return { key, value: reader.view(bytes) };
  });
}

/** Index of the first row whose key is not below `key`. */
export function firstFrom(rows: readonly StoreEntry[], key: Uint8Array): number {
  let low = 0;
  for (let high = rows.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (compareKeys((rows[middle] as StoreEntry).key, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function headOf(reader: ByteReader): PackHead {
  const version = reader.u8();
  if (version !== PACK_VERSION) throw new Error(`a pack of stored rows has version ${version}: this program reads ${PACK_VERSION}`);
  const [rows, bytes] = [reader.varint(), reader.varint()];
  return { rows, bytes, last: reader.view(bytes) };
}

function writeBytes(to: ByteWriter, bytes: Uint8Array): void {
  to.varint(bytes.length);
  to.copy(bytes);
}

function commonBytes(a: Uint8Array, b: Uint8Array): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  return at;
}
