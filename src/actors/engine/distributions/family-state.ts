// What a checkpoint keeps of a family of buckets: {identity, dropped older times or not, buckets, {bound f64, waited for or not} each, times, {time, closed, new, count of each
// bucket} each}. A count is 0 for none, 1 and a double, or from 2 on what it rose since the time before, zigzag: mostly one byte.
import { IDENTITY_BYTES_MAX, POINTS_RETAINED_MAX } from "../../../core/config/limits.ts";
import type { ByteReader } from "../../../domain/codec/byte-reader.ts";
import type { ByteWriter } from "../../../domain/codec/byte-writer.ts";
import { unzigzag, zigzag } from "../../../domain/codec/varint.ts";
import type { BucketFamily, FamilyRow } from "./bucket-family.ts";

const NONE = 0;
const DOUBLE = 1;
const RISE = 2;
const TRIMMED = 1;
const CLOSED = 1;
const NEW = 2;
const BEGAN = 4;
/** Counts from here on are written as doubles. */
const WHOLE_MOST = 2 ** 50;

/** Appends a family; of its times the newest POINTS_RETAINED_MAX. */
export function writeFamily(writer: ByteWriter, family: BucketFamily): void {
  const rows = family.rows.slice(-POINTS_RETAINED_MAX);
  writer.text(family.identity);
  writer.varint(family.isTrimmed || rows.length < family.rows.length ? TRIMMED : 0);
  writer.varint(family.bounds.length);
  family.bounds.forEach((bound, index) => {
    writer.double(bound);
    writer.varint(family.isActive(index) ? 1 : 0);
  });
  writer.varint(rows.length);
  const before = new Float64Array(family.bounds.length);
  for (const row of rows) {
    writer.varint(row.timeMs);
    writer.varint((row.isClosed ? CLOSED : 0) | (row.isNew ? NEW : 0) | (row.began ? BEGAN : 0));
    for (let index = 0; index < before.length; index++) writeCount(writer, row, index, before);
  }
}

function writeCount(writer: ByteWriter, { values }: FamilyRow, index: number, before: Float64Array): void {
  const value = index < values.length ? (values[index] as number) : Number.NaN;
  if (Number.isNaN(value)) {
    writer.varint(NONE);
    return;
  }
  if (Number.isInteger(value) && value >= 0 && value < WHOLE_MOST) {
    writer.varint(zigzag(value - (before[index] as number)) + RISE);
    before[index] = value;
    return;
  }
  writer.varint(DOUBLE);
  writer.double(value);
}

/** Reads a family, which `make` makes by its identity. Throws where the bytes end. */
export function readFamily(reader: ByteReader, make: (identity: string) => BucketFamily): BucketFamily {
  const family = make(reader.text(IDENTITY_BYTES_MAX));
  family.isTrimmed = reader.varint() === TRIMMED;
  const buckets = reader.varint();
  for (let index = 0; index < buckets; index++) family.restoreBucket(reader.double(), reader.varint() === 1);
  const before = new Float64Array(buckets);
  for (let rows = reader.varint(); rows > 0; rows--) {
    const timeMs = reader.varint();
    const flags = reader.varint();
    const values = new Float64Array(buckets);
    let seen = 0;
    for (let index = 0; index < buckets; index++) {
      values[index] = readCount(reader, index, before);
      if (!Number.isNaN(values[index])) seen++;
    }
    const [isClosed, isNew, began] = [CLOSED, NEW, BEGAN].map((flag) => (flags & flag) !== 0) as [boolean, boolean, boolean];
    family.rows.push({ timeMs, values, seen, isClosed, isNew, began });
  }
  return family;
}

function readCount(reader: ByteReader, index: number, before: Float64Array): number {
  const code = reader.varint();
  if (code === NONE) return Number.NaN;
  if (code === DOUBLE) return reader.double();
  before[index] = (before[index] as number) + unzigzag(code - RISE);
  return before[index] as number;
}
