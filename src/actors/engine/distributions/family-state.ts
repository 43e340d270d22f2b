// What a checkpoint keeps of a family of buckets: {identity, dropped older times or not, buckets, {bound f64, waited for or not} each, times, {time, closed, new, count of each
// bucket} each}. A count is 0 for none, 1 and a double, or from 2 on what it rose since the time before, zigzag: mostly one byte.
import { POINTS_KEPT_MAX } from "../../../core/config/limits.ts";
import type { ByteSink } from "../../../domain/codec/byte-sink.ts";
import { type ByteCursor, unzigzag, zigzag } from "../../../domain/codec/varint.ts";
import type { BucketFamily, FamilyRow } from "./bucket-family.ts";
import { readBytes, readLength, writeBytes } from "./series-state.ts";

const NONE = 0;
const DOUBLE = 1;
const RISE = 2;
const TRIMMED = 1;
const CLOSED = 1;
const NEW = 2;
/** Counts from here on are written as doubles. */
const WHOLE_MOST = 2 ** 50;

/** Appends a family; of its times the newest POINTS_KEPT_MAX. */
export function writeFamily(sink: ByteSink, family: BucketFamily): void {
  const rows = family.rows.slice(-POINTS_KEPT_MAX);
  writeBytes(sink, Buffer.from(family.identity));
  sink.varint(family.isTrimmed || rows.length < family.rows.length ? TRIMMED : 0);
  sink.varint(family.bounds.length);
  family.bounds.forEach((bound, index) => {
    writeDouble(sink, bound);
    sink.varint(family.isActive(index) ? 1 : 0);
  });
  sink.varint(rows.length);
  const before = new Float64Array(family.bounds.length);
  for (const row of rows) {
    sink.varint(row.timeMs);
    sink.varint((row.isClosed ? CLOSED : 0) | (row.isNew ? NEW : 0));
    for (let index = 0; index < before.length; index++) writeCount(sink, row, index, before);
  }
}

function writeDouble(sink: ByteSink, value: number): void {
  sink.reserve(8);
  sink.view.setFloat64(sink.at, value, true);
  sink.at += 8;
}

function writeCount(sink: ByteSink, { values }: FamilyRow, index: number, before: Float64Array): void {
  const value = index < values.length ? (values[index] as number) : Number.NaN;
  if (Number.isNaN(value)) {
    sink.varint(NONE);
    return;
  }
  if (Number.isInteger(value) && value >= 0 && value < WHOLE_MOST) {
    sink.varint(zigzag(value - (before[index] as number)) + RISE);
    before[index] = value;
    return;
  }
  sink.varint(DOUBLE);
  writeDouble(sink, value);
}

/** Reads a family, which `make` makes by its identity, and moves the cursor behind it. Throws where the bytes end. */
export function readFamily(cursor: ByteCursor, make: (identity: string) => BucketFamily): BucketFamily {
  const family = make(Buffer.from(readBytes(cursor)).toString("utf8"));
  family.isTrimmed = readLength(cursor) === TRIMMED;
  const buckets = readLength(cursor);
  for (let index = 0; index < buckets; index++) family.restoreBucket(readDouble(cursor), readLength(cursor) === 1);
  const before = new Float64Array(buckets);
  for (let rows = readLength(cursor); rows > 0; rows--) {
    const timeMs = readLength(cursor);
    const flags = readLength(cursor);
    const values = new Float64Array(buckets);
    let seen = 0;
    for (let index = 0; index < buckets; index++) {
      values[index] = readCount(cursor, index, before);
      if (!Number.isNaN(values[index])) seen++;
    }
    family.rows.push({ timeMs, values, seen, isClosed: (flags & CLOSED) !== 0, isNew: (flags & NEW) !== 0 });
  }
  return family;
}

function readDouble(cursor: ByteCursor): number {
  if (cursor.at + 8 > cursor.end) throw new Error("a piece of a checkpoint is cut off");
  cursor.at += 8;
  return new DataView(cursor.bytes.buffer, cursor.bytes.byteOffset).getFloat64(cursor.at - 8, true);
}

function readCount(cursor: ByteCursor, index: number, before: Float64Array): number {
  const code = readLength(cursor);
  if (code === NONE) return Number.NaN;
  if (code === DOUBLE) return readDouble(cursor);
  before[index] = (before[index] as number) + unzigzag(code - RISE);
  return before[index] as number;
}
