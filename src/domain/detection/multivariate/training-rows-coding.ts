/**
 * The vectors that a training has chosen, as they are kept for the next one. A metric is kept in whole steps of a 64th of what it usually changes by from a vector to the next, a power of two:
 * an error of at most a 128th of that is finer than any step that a model tells apart, and whole numbers stay what they are where steps are at most 1. One whose changes are mostly
 * nothing is kept in steps of 1 where it is of whole numbers. What would take no less so is kept in single precision.
 *
 *   0  u32 x 4: version, vectors, metrics, 0      16  f64 x vectors: times, ms      then f64 x metrics: steps, 0 for single precision      then u8 x vectors: breaks
 *   then metric by metric: of steps the differences from the value before, zigzag varints, else f32 x vectors
 *
 * About 1.4 bytes a value. In version 1 all was of single precision: f32 x vectors x metrics behind the times, then the breaks.
 */
import { ByteWriter } from "../../codec/byte-writer.ts";
import { type ByteCursor, readVarint, unzigzag, zigzag } from "../../codec/varint.ts";
import { median } from "../robust.ts";
import type { TimedRows } from "./service-model.ts";

const VERSION = 2;
const VERSION_SINGLE = 1;
const HEADER_BYTES = 16;
const SINGLE_BYTES = 4;
/** Steps in what a metric usually changes by. */
const STEPS_A_CHANGE = 64;
/** Differences of fewer steps are exact. */
const STEPS_MAX = 2 ** 50;

const out = new ByteWriter();

export function encodeTrainingRows({ times, values, width, breaks }: TimedRows): Uint8Array<ArrayBuffer> {
  const rows = times.length;
  out.at = 0;
  for (const number of [VERSION, rows, width, 0]) out.u32(number);
  for (const timeMs of times) out.double(timeMs);
  const stepsAt = out.at;
  for (let metric = 0; metric < width; metric++) out.double(0);
  for (let row = 0; row < rows; row++) out.u8(breaks?.[row] ?? 0);
  const column = new Float64Array(rows);
  for (let metric = 0; metric < width; metric++) {
    for (let row = 0; row < rows; row++) column[row] = values[row * width + metric] as number;
    const step = stepOf(column);
    if (step > 0 && writeSteps(column, step)) out.view.setFloat64(stepsAt + 8 * metric, step, true);
    else writeSingle(column);
  }
  return out.bytes.slice(0, out.at);
}

/** Power of two that a metric's values are kept in multiples of; 0 where there is none. */
function stepOf(column: Float64Array): number {
  const changes = column.subarray(1).map((value, i) => Math.abs(value - (column[i] as number)));
  const change = median(changes);
  if (change > 0) return 2 ** Math.floor(Math.log2(change / STEPS_A_CHANGE));
  return column.every(Number.isInteger) ? 1 : 0;
}

/** Leaves nothing, and returns false, where single precision takes less. */
function writeSteps(column: Float64Array, step: number): boolean {
  const from = out.at;
  let before = 0;
  for (const value of column) {
    const steps = Math.round(value / step);
    if (!(Math.abs(steps) <= STEPS_MAX) || out.at - from > SINGLE_BYTES * column.length) {
      out.at = from;
      return false;
    }
    out.varint(zigzag(steps - before));
    before = steps;
  }
  return true;
}

function writeSingle(column: Float64Array): void {
  out.reserve(SINGLE_BYTES * column.length);
  for (const value of column) {
    out.view.setFloat32(out.at, value, true);
    out.at += SINGLE_BYTES;
  }
}

/** Undefined for bytes that are none, or of vectors of another width: the service then learns anew. */
export function decodeTrainingRows(bytes: Uint8Array, width: number): TimedRows | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const [version, rows, stored] = [0, 4, 8].map((at) => view.getUint32(at, true)) as [number, number, number];
  const leastBytes = HEADER_BYTES + 9 * rows;
  if (stored !== width || bytes.length < leastBytes) return undefined;
  const times = Float64Array.from({ length: rows }, (_, row) => view.getFloat64(HEADER_BYTES + 8 * row, true));
  const decoded =
    version === VERSION ? decodeSteps(view, rows, width) : version === VERSION_SINGLE ? decodeSingle(view, rows, width) : undefined;
  return decoded !== undefined && isAscending(times) && decoded.values.every(Number.isFinite) ? { times, width, ...decoded } : undefined;
}

type Decoded = Pick<TimedRows, "values" | "breaks">;

function decodeSingle(view: DataView, rows: number, width: number): Decoded | undefined {
  const from = HEADER_BYTES + 8 * rows;
  const breaksAt = from + SINGLE_BYTES * rows * width;
  if (view.byteLength !== breaksAt + rows) return undefined;
  const values = Float64Array.from({ length: rows * width }, (_, i) => view.getFloat32(from + SINGLE_BYTES * i, true));
  return { values, breaks: bytesOf(view, breaksAt, rows) };
}

function decodeSteps(view: DataView, rows: number, width: number): Decoded | undefined {
  const stepsAt = HEADER_BYTES + 8 * rows;
  const breaksAt = stepsAt + 8 * width;
  // A value takes a byte at least.
  if (view.byteLength < breaksAt + rows + rows * width) return undefined;
  const cursor = { bytes: bytesOf(view, 0, view.byteLength), end: view.byteLength, at: breaksAt + rows };
  const values = new Float64Array(rows * width);
  for (let metric = 0; metric < width; metric++) {
    const step = view.getFloat64(stepsAt + 8 * metric, true);
    const isRead = step === 0 ? readSingle(cursor, view, values, metric, width) : readSteps(cursor, step, values, metric, width);
    if (!isRead) return undefined;
  }
  return cursor.at === cursor.end ? { values, breaks: bytesOf(view, breaksAt, rows).slice() } : undefined;
}

/** Fills a metric's values; false where the bytes end before. */
function readSteps(cursor: ByteCursor, step: number, values: Float64Array, metric: number, width: number): boolean {
  let steps = 0;
  for (let i = metric; i < values.length; i += width) {
    const difference = readVarint(cursor);
    if (difference < 0) return false;
    steps += unzigzag(difference);
    values[i] = steps * step;
  }
  return true;
}

/** The same of single precision. */
function readSingle(cursor: ByteCursor, view: DataView, values: Float64Array, metric: number, width: number): boolean {
  for (let i = metric; i < values.length; i += width) {
    if (cursor.at + SINGLE_BYTES > cursor.end) return false;
    values[i] = view.getFloat32(cursor.at, true);
    cursor.at += SINGLE_BYTES;
  }
  return true;
}

function bytesOf({ buffer, byteOffset }: DataView, at: number, length: number): Uint8Array {
  return new Uint8Array(buffer, byteOffset + at, length);
}

/** Those of before a time, for who may not know what came later; undefined where there are none. */
export function trainingRowsBefore(bytes: Uint8Array, width: number, beforeMs: number): Uint8Array | undefined {
  const rows = decodeTrainingRows(bytes, width);
  const count = rows?.times.filter((timeMs) => timeMs < beforeMs).length ?? 0;
  if (rows === undefined || count === 0) return undefined;
  const { times, values, breaks = new Uint8Array(times.length) } = rows;
  return encodeTrainingRows({
    times: times.subarray(0, count),
    values: values.subarray(0, count * width),
    width,
    breaks: breaks.subarray(0, count),
  });
}

function isAscending(times: Float64Array): boolean {
  for (let i = 0; i < times.length; i++)
    if (!((times[i] as number) > (i === 0 ? Number.NEGATIVE_INFINITY : (times[i - 1] as number)))) return false;
  return true;
}
