/**
 * The vectors that a training has chosen, as they are kept for the next one: single precision, which is finer than any step that a model tells apart.
 *
 *   0  u32 x 4: version, vectors, metrics, 0      16  f64 x vectors: times, ms      then f32 x vectors x metrics      then u8 x vectors: breaks
 */
import type { TimedRows } from "./service-model.ts";

const VERSION = 1;
const HEADER_BYTES = 16;

/** Bytes of so many vectors. */
function trainingRowsBytes(rows: number, width: number): number {
  return HEADER_BYTES + rows * (8 + 4 * width + 1);
}

export function encodeTrainingRows({ times, values, width, breaks }: TimedRows): Uint8Array<ArrayBuffer> {
  const rows = times.length;
  const bytes = new Uint8Array(trainingRowsBytes(rows, width));
  new Uint32Array(bytes.buffer, 0, 4).set([VERSION, rows, width, 0]);
  new Float64Array(bytes.buffer, HEADER_BYTES, rows).set(times);
  new Float32Array(bytes.buffer, HEADER_BYTES + 8 * rows, rows * width).set(values);
  if (breaks !== undefined) bytes.set(breaks, HEADER_BYTES + rows * (8 + 4 * width));
  return bytes;
}

/** Undefined for bytes that are none, or of vectors of another width: the service then learns anew. */
export function decodeTrainingRows(bytes: Uint8Array, width: number): TimedRows | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const copy = new Uint8Array(bytes);
  const [version, rows = 0, stored] = new Uint32Array(copy.buffer, 0, 4);
  if (version !== VERSION || stored !== width || copy.length !== trainingRowsBytes(rows, width)) return undefined;
  const times = new Float64Array(copy.buffer, HEADER_BYTES, rows);
  const values = Float64Array.from(new Float32Array(copy.buffer, HEADER_BYTES + 8 * rows, rows * width));
  const isGood = isAscending(times) && values.every(Number.isFinite);
  return isGood ? { times, values, width, breaks: copy.subarray(HEADER_BYTES + rows * (8 + 4 * width)) } : undefined;
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
