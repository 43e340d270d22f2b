/**
 * The hours of one stream as bytes: 1 to 255 ascending hours, each with count, sum, least and greatest of its samples.
 *
 *   count u8, last sample as a varint of whole ms into the last hour, then columns (codec/sample-column.ts): hours since 1970, counts, and
 *   sums, least, greatest; where every hour holds one sample, these three are one column of values
 *
 * Seven hours of 3-decimal samples every ten seconds take about 90 bytes: 13 an hour, where the samples themselves took 520.
 */
import { HOUR_MS } from "../../core/time/durations.ts";
import { COLUMN_BYTES_MAX, COLUMN_SAMPLES_MAX, decodeColumn, encodeColumn } from "../codec/sample-column.ts";
import { type ByteCursor, readVarint, writeVarint } from "../codec/varint.ts";

/** Most hours of one piece; a stream with more has several. */
export const HOURS_MAX = COLUMN_SAMPLES_MAX;
/** Room that `encodeHours` needs: count, varint, five columns. */
export const HOURS_BYTES_MAX = 1 + 4 + 5 * COLUMN_BYTES_MAX;

/** Columns of some hours of one stream; the first `length` places count. Sums are of doubles, in no promised order. */
export class Hours {
  /** Hours since 1970-01-01T00:00Z, ascending. */
  readonly hours: Float64Array;
  readonly counts: Float64Array;
  readonly sums: Float64Array;
  readonly least: Float64Array;
  readonly greatest: Float64Array;
  length = 0;
  /** Time of the newest of their samples, ms rounded down. */
  lastMs = 0;

  constructor(capacity = HOURS_MAX) {
    this.hours = new Float64Array(capacity);
    this.counts = new Float64Array(capacity);
    this.sums = new Float64Array(capacity);
    this.least = new Float64Array(capacity);
    this.greatest = new Float64Array(capacity);
  }
}

/** Encodes hours (at least one) at `at` of `out`, which has HOURS_BYTES_MAX bytes of room, and returns the place behind them. */
export function encodeHours(from: Hours, out: Uint8Array, at: number): number {
  const { length, hours, counts, sums, least, greatest, lastMs } = from;
  if (!(length >= 1 && length <= HOURS_MAX)) throw new RangeError(`a piece holds 1 to ${HOURS_MAX} hours, not ${length}`);
  if (out.length - at < HOURS_BYTES_MAX) throw new RangeError(`hours need ${HOURS_BYTES_MAX} bytes of room`);
  out[at] = length;
  let next = writeVarint(Math.floor(lastMs) - (hours[length - 1] as number) * HOUR_MS, out, at + 1);
  next = encodeColumn(hours, length, out, next);
  next = encodeColumn(counts, length, out, next);
  next = encodeColumn(sums, length, out, next);
  if (isSingle(counts, length)) return next;
  return encodeColumn(greatest, length, out, encodeColumn(least, length, out, next));
}

/** Decodes a whole piece into `into` (capacity HOURS_MAX); false when the bytes are none. */
export function decodeHours(bytes: Uint8Array, into: Hours): boolean {
  const length = bytes[0] ?? 0;
  if (length === 0) return false;
  const cursor: ByteCursor = { bytes, at: 1, end: bytes.length };
  const lastOffsetMs = readVarint(cursor);
  into.length = length;
  const { hours, counts, sums, least, greatest } = into;
  const whole = lastOffsetMs >= 0 && [hours, counts, sums].every((column) => decodeColumn(cursor, column, length));
  if (!whole) return false;
  into.lastMs = (hours[length - 1] as number) * HOUR_MS + lastOffsetMs;
  if (!isSingle(counts, length)) {
    return decodeColumn(cursor, least, length) && decodeColumn(cursor, greatest, length) && cursor.at === cursor.end;
  }
  least.set(sums.subarray(0, length));
  greatest.set(sums.subarray(0, length));
  return cursor.at === cursor.end;
}

function isSingle(counts: Float64Array, length: number): boolean {
  for (let at = 0; at < length; at++) if (counts[at] !== 1) return false;
  return true;
}

const POWERS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6] as const;

/**
 * A sum of decimal values as the decimal it stands for, where one with at most six digits lies within the rounding of `count` additions of
 * magnitudes up to `most`; else as it is. It then takes three bytes in a column instead of eight.
 */
export function decimalSum(sum: number, count: number, most: number): number {
  const rounding = count * most * 2 ** -52;
  for (const power of POWERS) {
    const decimal = Math.round(sum * power) / power;
    if (Math.abs(decimal - sum) <= rounding) return decimal;
  }
  return sum;
}
