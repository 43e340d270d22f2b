/**
 * A distribution as bytes of a message and of a checkpoint:
 *
 *   head       version u8 = 1; u8: kind (2 bits), FLAG_*
 *   times      varint of the time in ms; varint of how long before it counting began plus one, 0 = unknown
 *   count      a number: a varint when all counts are whole (FLAG_WHOLE), else a double
 *   sum, min, max   doubles, where the flags say so
 *   explicit   buckets varint, bounds (one fewer) as doubles, counts as numbers
 *   exponential   scale zigzag, zero count, width of the zero bucket double, twice {offset zigzag, buckets varint, counts}
 *   summary    quantiles varint, {quantile, value} doubles
 *
 * Ten buckets of an explicit histogram take about 110 bytes.
 */
import { ByteWriter } from "../codec/byte-writer.ts";
import type { ByteCursor } from "../codec/varint.ts";
import { readVarint, unzigzag, zigzag } from "../codec/varint.ts";
import { BUCKETS_MAX, type Distribution, EMPTY_DISTRIBUTION, type ExponentialBuckets, QUANTILES_MAX } from "./distribution.ts";

const VERSION = 1;
const KINDS = ["explicit", "exponential", "summary", "explicit"] as const;
/** The number of an explicit one that is a native histogram of Prometheus. */
const KIND_NATIVE = 3;
const KIND_MASK = 3;
const FLAG_CUMULATIVE = 4;
const FLAG_SUM = 8;
const FLAG_MIN = 16;
const FLAG_MAX = 32;
const FLAG_STALE = 64;
const FLAG_WHOLE = 128;
/** Counts beyond are written as doubles: a varint holds 53 bits. */
const WHOLE_MOST = 2 ** 53 - 1;
/** A time beyond, 10000 years off, is none. */
const TIME_MOST = 2 ** 48;

/** Appends a distribution that `distributionProblem` finds nothing wrong with. A sum, minimum or maximum that is not finite is left out. */
export function writeDistribution(writer: ByteWriter, point: Distribution): void {
  const whole = areWhole(point);
  const sum = finite(point.sum);
  const min = finite(point.min);
  const max = finite(point.max);
  writer.reserve(2);
  writer.bytes[writer.at++] = VERSION;
  writer.bytes[writer.at++] =
    kindNumber(point) |
    (point.temporality === "cumulative" ? FLAG_CUMULATIVE : 0) |
    (sum === null ? 0 : FLAG_SUM) |
    (min === null ? 0 : FLAG_MIN) |
    (max === null ? 0 : FLAG_MAX) |
    (point.isStale ? FLAG_STALE : 0) |
    (whole ? FLAG_WHOLE : 0);
  writer.varint(point.timeMs);
  writer.varint(point.startMs > 0 && point.startMs <= point.timeMs ? point.timeMs - point.startMs + 1 : 0);
  writeNumber(writer, point.count, whole);
  for (const value of [sum, min, max]) if (value !== null) writer.double(value);
  if (point.kind === "explicit") writeExplicit(writer, point, whole);
  else if (point.kind === "exponential") writeExponential(writer, point, whole);
  else writeQuantiles(writer, point);
}

function kindNumber({ kind, isNative = false }: Distribution): number {
  return kind === "explicit" && isNative ? KIND_NATIVE : KINDS.indexOf(kind);
}

function finite(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null;
}

function areWhole({ count, zeroCount, bucketCounts, positive, negative }: Distribution): boolean {
  const isWhole = (value: number) => Number.isInteger(value) && value >= 0 && value <= WHOLE_MOST && !Object.is(value, -0);
  return isWhole(count) && isWhole(zeroCount) && [bucketCounts, positive.counts, negative.counts].every((counts) => counts.every(isWhole));
}

function writeNumber(writer: ByteWriter, value: number, whole: boolean): void {
  if (whole) writer.varint(value);
  else writer.double(value);
}

function writeExplicit(writer: ByteWriter, { bounds, bucketCounts }: Distribution, whole: boolean): void {
  writer.varint(bucketCounts.length);
  for (const bound of bounds) writer.double(bound);
  for (const count of bucketCounts) writeNumber(writer, count, whole);
}

function writeExponential(writer: ByteWriter, { scale, zeroCount, zeroThreshold, positive, negative }: Distribution, whole: boolean): void {
  writer.varint(zigzag(scale));
  writeNumber(writer, zeroCount, whole);
  writer.double(zeroThreshold);
  for (const { offset, counts } of [positive, negative]) {
    writer.varint(zigzag(offset));
    writer.varint(counts.length);
    for (const count of counts) writeNumber(writer, count, whole);
  }
}

function writeQuantiles(writer: ByteWriter, { quantiles }: Distribution): void {
  writer.varint(quantiles.length);
  for (const { quantile, value } of quantiles) {
    writer.double(quantile);
    writer.double(value);
  }
}

/** Numbers of one distribution, one after another; NaN once they are cut off, which makes the whole of it none. */
class Numbers {
  readonly #cursor: ByteCursor;
  readonly #view: DataView;
  readonly #whole: boolean;
  isCut = false;

  constructor(cursor: ByteCursor, whole: boolean) {
    this.#cursor = cursor;
    this.#view = new DataView(cursor.bytes.buffer, cursor.bytes.byteOffset, cursor.bytes.byteLength);
    this.#whole = whole;
  }

  double(): number {
    const { at, end } = this.#cursor;
    if (at + 8 > end) return this.#cut();
    this.#cursor.at += 8;
    return this.#view.getFloat64(at, true);
  }

  varint(most: number): number {
    const value = readVarint(this.#cursor);
    return value >= 0 && value <= most ? value : this.#cut();
  }

  signed(): number {
    return unzigzag(this.varint(2 ** 52));
  }

  count(): number {
    return this.#whole ? this.varint(WHOLE_MOST) : this.double();
  }

  /** So many numbers; none once the bytes are cut off, so that a length that lies costs nothing. */
  list(length: number, next: () => number): number[] {
    const values: number[] = [];
    for (let i = 0; i < length && !this.isCut; i++) values.push(next());
    return values;
  }

  #cut(): number {
    this.isCut = true;
    return Number.NaN;
  }
}

/** Reads a distribution and moves the cursor behind it; undefined when the bytes are none. Its counts may still be no counts (`distributionProblem`). */
export function readDistribution(cursor: ByteCursor): Distribution | undefined {
  const { bytes, at, end } = cursor;
  const flags = bytes[at + 1] as number;
  const isNative = (flags & KIND_MASK) === KIND_NATIVE;
  const kind = KINDS[flags & KIND_MASK];
  if (at + 2 > end || bytes[at] !== VERSION || kind === undefined) return undefined;
  cursor.at += 2;
  const numbers = new Numbers(cursor, (flags & FLAG_WHOLE) !== 0);
  const timeMs = numbers.varint(TIME_MOST);
  const age = numbers.varint(timeMs + 1);
  const head = {
    ...EMPTY_DISTRIBUTION,
    kind,
    ...(isNative ? { isNative } : {}),
    temporality: (flags & FLAG_CUMULATIVE) !== 0 ? ("cumulative" as const) : ("delta" as const),
    isStale: (flags & FLAG_STALE) !== 0,
    timeMs,
    startMs: age > 0 ? timeMs - age + 1 : 0,
    count: numbers.count(),
    sum: (flags & FLAG_SUM) !== 0 ? numbers.double() : null,
    min: (flags & FLAG_MIN) !== 0 ? numbers.double() : null,
    max: (flags & FLAG_MAX) !== 0 ? numbers.double() : null,
  };
  const point = { ...head, ...readBody(kind, numbers) };
  return numbers.isCut ? undefined : point;
}

function readBody(kind: Distribution["kind"], numbers: Numbers): Partial<Distribution> {
  if (kind === "summary") {
    const quantiles = numbers.list(2 * numbers.varint(QUANTILES_MAX), () => numbers.double());
    return {
      quantiles: Array.from({ length: quantiles.length >>> 1 }, (_, i) => ({
        quantile: quantiles[2 * i] as number,
        value: quantiles[2 * i + 1] as number,
      })),
    };
  }
  if (kind === "explicit") {
    const buckets = numbers.varint(BUCKETS_MAX);
    const bounds = numbers.list(Math.max(0, buckets - 1), () => numbers.double());
    return { bounds, bucketCounts: numbers.list(buckets, () => numbers.count()) };
  }
  const scale = numbers.signed();
  const zeroCount = numbers.count();
  const zeroThreshold = numbers.double();
  const positive = readBuckets(numbers);
  return { scale, zeroCount, zeroThreshold, positive, negative: readBuckets(numbers) };
}

function readBuckets(numbers: Numbers): ExponentialBuckets {
  const offset = numbers.signed();
  return { offset, counts: numbers.list(numbers.varint(BUCKETS_MAX), () => numbers.count()) };
}

/** A distribution as text of one byte a character, which is the smallest form that the heap has for it. */
export function distributionText(point: Distribution): string {
  const text = new ByteWriter();
  writeDistribution(text, point);
  return Buffer.from(text.bytes.buffer, text.bytes.byteOffset, text.at).toString("latin1");
}

/** Reads one from such a text; throws where there is none. */
export function readDistributionText(text: string): Distribution {
  const bytes = Buffer.from(text, "latin1");
  const point = readDistribution({ bytes, at: 0, end: bytes.length });
  if (point === undefined) throw new Error("a kept point cannot be read");
  return point;
}
