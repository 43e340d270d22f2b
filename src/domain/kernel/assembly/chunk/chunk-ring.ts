// A ring's newest values as a record of a chunk (core/layout/chunk-record.ts, domain/codec/sample-chunk.ts): 0.3 to 0.6 us for 120 samples at a constant interval, 1.2 with gaps.
import { CR_CHUNK, CR_CHUNK_BYTES, CR_FIRST_TIME, CR_LAST_TIME, CR_STREAM } from "../../../../core/layout/chunk-record";
import { CHUNK_HAS_FORM, FORM_ANCHOR_INTEGER, FORM_COUNTED, GAP_ADDED, GAP_NONE, GAP_STEP } from "../../../../core/layout/chunk-form";
import {
  FLAG_COUNTER, SR_ANCHOR, SR_COUNT, SR_FLAGS, SR_HASH, SR_HEAD, SR_LAST_TIME, SR_UNCHUNKED, WINDOW_MAX,
} from "../../../../core/layout/stream-record";
import { writeVarint, zigzag } from "./chunk-bits";
import { encodeColumn, encodeProgression } from "./chunk-column";
import { intervalsOf, recordOf, valuesOf } from "../shard/shard-table";

/** Times from here on are no whole milliseconds that sums leave exact. */
const TIME_END: f64 = 2251799813685248; // 2^51

// The newest places of the ring in order of time, with room for what copies in pieces of 16 bytes write behind them.
const VALUES = memory.data(1024, 16);
const INTERVALS = memory.data(512, 16);
const TIMES = memory.data(1024, 16);

if (8 * (WINDOW_MAX + 2) > 1024 || 4 * (WINDOW_MAX + 4) > 512) unreachable();

/** Most bytes before the count: form, cumulative value and gap. */
const FORM_BYTES: u32 = 2 + 8 + 5;
const INTEGER_END: f64 = 2251799813685248; // 2^51

/** Bytes that may be written for a record. */
export const RECORD_BYTES_MAX: u32 = 36 + FORM_BYTES + 25 + 16 * (WINDOW_MAX + 1);

/**
 * Writes the newest SR_UNCHUNKED values of a stream's ring as the record of a chunk at `out`, a multiple of four with RECORD_BYTES_MAX bytes of room, and
 * returns the bytes of the chunk; 0 when there are none.
 */
export function pack(r: usize, out: usize): u32 {
  const ringCount = load<u32>(r, SR_COUNT);
  const count = min(load<u32>(r, SR_UNCHUNKED), ringCount);
  if (count == 0) return 0;
  const head = load<u32>(r, SR_HEAD);
  unroll(valuesOf(r, ringCount), 3, head, count, VALUES);
  unroll(intervalsOf(r, ringCount), 2, head, count, INTERVALS);
  v128.store(out, v128.load(r, SR_HASH), CR_STREAM);
  let at = out + CR_CHUNK;
  const gap = <f64>load<u32>(INTERVALS);
  const isCounted = (load<u32>(r, SR_FLAGS) & FLAG_COUNTER) != 0 && load<u64>(r, SR_ANCHOR) != 0, anchor = load<f64>(r, SR_ANCHOR);
  if (isCounted) at = encodeAnchor(anchor, count, at);
  store<u8>(at, <u8>count);
  const end = encodeColumn(VALUES, count, encodeTimes(load<f64>(r, SR_LAST_TIME), count, out, at + 1));
  if (isCounted && anchor == anchor) store<f64>(out, load<f64>(out, CR_FIRST_TIME) - gap, CR_FIRST_TIME);
  store<u32>(end, 0);
  const bytes = <u32>(end - out - CR_CHUNK);
  store<u32>(out, bytes, CR_CHUNK_BYTES);
  return bytes;
}

/**
 * Writes a slot's whole ring, oldest first, as two columns at `out`: values, intervals. Returns their bytes; 0 when the ring is empty. Twice
 * 64 + 8 x 120 bytes are touched at most.
 */
export function packRing(slot: u32, out: usize): u32 {
  const r = recordOf(slot);
  const count = load<u32>(r, SR_COUNT), head = load<u32>(r, SR_HEAD);
  if (count == 0) return 0;
  unroll(valuesOf(r, count), 3, head, count, VALUES);
  unroll(intervalsOf(r, count), 2, head, count, INTERVALS);
  for (let i: u32 = 0; i < count; i++) store<f64>(TIMES + (<usize>i << 3), <f64>load<u32>(INTERVALS + (<usize>i << 2)));
  return <u32>(encodeColumn(TIMES, count, encodeColumn(VALUES, count, out)) - out);
}

/** Copies the newest `count` of a ring's places of 2^shift bytes, oldest first. */
// @ts-ignore
@inline
function unroll(ring: usize, shift: usize, head: u32, count: u32, into: usize): void {
  if (head < count) {
    const older = count - head;
    copy(ring + (<usize>(WINDOW_MAX - older) << shift), <usize>older << shift, into);
    copy(ring, <usize>head << shift, into + (<usize>older << shift));
  } else copy(ring + (<usize>(head - count) << shift), <usize>count << shift, into);
}

// @ts-ignore
@inline
function copy(from: usize, bytes: usize, into: usize): void {
  for (let at: usize = 0; at < bytes; at += 16) v128.store(into + at, v128.load(from + at));
}

/** Writes what the first of `count` deltas was measured from, and when that was sent. Returns the address behind it. */
function encodeAnchor(raw: f64, count: u32, at: usize): usize {
  const began = raw != raw, anchor = began ? 0 : raw, isInteger = floor(anchor) == anchor && abs(anchor) < INTEGER_END;
  store<u8>(at, CHUNK_HAS_FORM);
  store<u8>(at, isInteger ? FORM_COUNTED | FORM_ANCHOR_INTEGER : FORM_COUNTED, 1);
  if (!isInteger) store<f64>(at, anchor, 2);
  return writeVarint(<u64>gapOf(began, count), isInteger ? writeVarint(zigzag(anchor), at + 2) : at + 10);
}

// @ts-ignore
@inline
function gapOf(began: bool, count: u32): f64 {
  const gap = load<u32>(INTERVALS);
  if (began || gap == 0) return <f64>GAP_NONE;
  return count > 1 && load<u32>(INTERVALS, 4) == gap ? <f64>GAP_STEP : <f64>gap + <f64>GAP_ADDED;
}

/** Encodes the column of times at `at`, and the first and last of them into the record at `out`. Returns the place behind the column. */
// @ts-ignore
@inline
function encodeTimes(last: f64, count: u32, out: usize, at: usize): usize {
  const interval = load<u32>(INTERVALS + (<usize>(count - 1) << 2));
  store<f64>(out, last, CR_LAST_TIME);
  if (last > 0 && last < TIME_END && floor(last) == last && isConstant(count, interval)) {
    const first = last - <f64>(count - 1) * <f64>interval;
    store<f64>(out, first, CR_FIRST_TIME);
    return encodeProgression(first, interval, count, at);
  }
  let time = last;
  for (let i = <i32>count - 1; i >= 0; i--) {
    store<f64>(TIMES + (<usize>i << 3), time);
    time -= <f64>load<u32>(INTERVALS + (<usize>i << 2));
  }
  store<f64>(out, load<f64>(TIMES), CR_FIRST_TIME);
  return encodeColumn(TIMES, count, at);
}

/** Whether all intervals but the first, which lies before the first time, are the same. */
// @ts-ignore
@inline
function isConstant(count: u32, interval: u32): bool {
  const end = INTERVALS + (<usize>count << 2), intervals = i32x4.splat(interval);
  store<u32>(INTERVALS, interval);
  v128.store(end, intervals);
  let differing = i32x4.splat(0);
  for (let at: usize = INTERVALS; at < end; at += 16) differing = v128.or(differing, v128.xor(v128.load(at), intervals));
  return !v128.any_true(differing);
}
