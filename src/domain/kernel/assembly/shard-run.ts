// Rows of one stream that follow each other, as senders that batch have them: its statistics stay in registers from the first to the last. Taken are rows
// to which nothing happens but that they enter the ring: a gauge or a counter without resets, a full window without clamped values, no episode open or near.
// The arithmetic is that of shard-statistics.ts, shard-episode.ts and shard-counter.ts, operation for operation: every bit is the same. A row alone
// takes two thirds of the general way, ten of one stream a third each.
import { ROW_BYTES, ROW_OFFSET, ROW_REF, ROW_VALUE } from "../../../core/layout/row-frame";
import {
  FLAG_BUCKET, FLAG_COUNTER, FLAG_ENDED, FLAG_HAS_PREVIOUS, FLAG_HAS_RAW, FLAG_START_MOVED, RING_INTERVALS, RING_VALUES, SR_CHUNK_AT, SR_COUNT,
  SR_FLAGS, SR_HEAD, SR_INTERVAL, SR_LAST_RAW, SR_LAST_TIME, SR_LAST_VALUE, SR_M2, SR_M2_SCALE, SR_MEAN, SR_PIVOT, SR_PREVIOUS_RAW, SR_PUSHES,
  SR_RESOLUTION, SR_RUN, SR_SAMPLES, SR_STATE, SR_UNCHUNKED, WINDOW_MAX,
} from "../../../core/layout/stream-record";
import { deltaOf, falls, isIrregular } from "./shard-counter";
import { floorSdOf, openLevel, quietFactor, SUSPECTS } from "./shard-episode";
import { countSamples } from "./shard-event";
import { INTERVAL_MAX, intervalIsDue } from "./shard-interval";
import { hasMask, hasLostDigits, limited, topBits, VALUE_LIMIT, windowInverse, windowValues } from "./shard-statistics";
import { ringOf } from "./shard-table";

const COUNTER_READY: u32 = FLAG_COUNTER | FLAG_HAS_RAW | FLAG_HAS_PREVIOUS;
/** Of a counter these are what matters; of a gauge none of them is set. */
const COUNTER_FLAGS: u32 = COUNTER_READY | FLAG_START_MOVED | FLAG_BUCKET;

// @ts-ignore
@inline
function isPlain(r: usize, flags: u32): bool {
  if ((load<u32>(r, SR_STATE) | (flags & (FLAG_ENDED | SUSPECTS))) != 0 || load<u32>(r, SR_COUNT) != WINDOW_MAX || hasMask(r)) return false;
  return (flags & FLAG_COUNTER) == 0 || (flags & COUNTER_FLAGS) == COUNTER_READY;
}

/** Applies rows from `row` on, before `end`, for as long as they are the stream's and ordinary; returns how many. The rest is for the general way. */
export function takeRun(r: usize, row: usize, end: usize, baseMs: f64): u32 {
  const flags = load<u32>(r, SR_FLAGS);
  if (!isPlain(r, flags)) return 0;
  const counts = (flags & FLAG_COUNTER) != 0;
  const ref = load<u32>(row, ROW_REF);
  const window = windowValues(), inverse = windowInverse;
  const pushes = <u32>load<u8>(r, SR_PUSHES);
  const last = load<f64>(r, SR_LAST_TIME);
  if (pushes >= window || !(last > 0) || floor(baseMs) != baseMs) return 0;
  let offset = load<u32>(row, ROW_OFFSET);
  let elapsed = baseMs + <f64>offset - last;
  if (!(elapsed > 0 && elapsed <= INTERVAL_MAX)) return 0;
  let interval = <u32>elapsed;
  const factor = quietFactor(openLevel(r, window));
  const k = <f64>(window - 1), n = <f64>window;
  const ring = ringOf(r);
  const pivot = load<f64>(r, SR_PIVOT), usual = load<f64>(r, SR_INTERVAL);
  const samples = load<f64>(r, SR_SAMPLES);
  const number = <u32>(<u64>samples), unchunked = load<u32>(r, SR_UNCHUNKED);
  // The rows up to here end before a chunk is due, the ring is full, or the statistics are taken anew.
  const chunkAt = load<u32>(r, SR_CHUNK_AT);
  const room = min(chunkAt > unchunked ? chunkAt - unchunked - 1 : <u32>WINDOW_MAX, min(<u32>WINDOW_MAX - unchunked, window - 1 - pushes));
  const stop = min(end, row + <usize>room * ROW_BYTES);
  let head = load<u32>(r, SR_HEAD), run = <u32>load<u8>(r, SR_RUN), scale = <u32>load<u16>(r, SR_M2_SCALE);
  let mean = load<f64>(r, SR_MEAN), m2 = load<f64>(r, SR_M2), resolution = load<f64>(r, SR_RESOLUTION);
  let newest = load<f64>(r, SR_LAST_VALUE), raw = load<f64>(r, SR_LAST_RAW), rawBefore: f64 = 0;
  let newestLimited = limited(newest), newestOffset: u32 = 0;
  let taken: u32 = 0;
  while (row < stop) {
    const sent = load<f64>(row, ROW_VALUE);
    if (sent - sent != 0 || m2 == 0 || intervalIsDue(number + taken + 1)) break;
    let value = sent;
    if (counts) {
      if (falls(sent, raw) || isIrregular(elapsed, usual)) break;
      value = deltaOf(sent, raw);
    }
    if (abs(value) > VALUE_LIMIT) break;
    const d = value - pivot, distance = d - mean;
    const squared = distance * distance * k;
    if (!(squared < factor * m2)) {
      const floor = floorSdOf(pivot + mean, resolution);
      if (!(squared < factor * (floor * floor * k))) break;
    }
    let runNow: u32 = 1;
    if (value == newestLimited) {
      runNow = min(run + 1, <u32>WINDOW_MAX);
      if (runNow >= window) break;
    }
    const place = head >= window ? head - window : head + WINDOW_MAX - window;
    let old = load<f64>(ring + (<usize>place << 3), RING_VALUES);
    if (abs(old) > VALUE_LIMIT) old = limited(old);
    old -= pivot;
    const step = d - old;
    const meanNow = mean + step * inverse;
    const m2Now = m2 + step * ((d - meanNow) + (old - mean));
    const top = m2Now > 0 ? topBits(m2Now) : 0;
    if (hasLostDigits(meanNow, m2Now, n, top, scale)) break;
    const move = abs(value - newest);
    if (move > 0 && (move < resolution || resolution == 0)) resolution = move;
    store<f64>(ring + (<usize>head << 3), value, RING_VALUES);
    store<u32>(ring + (<usize>head << 2), interval, RING_INTERVALS);
    head = head + 1 == WINDOW_MAX ? 0 : head + 1;
    if (top > scale) scale = top;
    mean = meanNow;
    m2 = m2Now;
    run = runNow;
    newest = newestLimited = value;
    rawBefore = raw;
    raw = sent;
    newestOffset = offset;
    taken++;
    row += ROW_BYTES;
    // The next row, if it is there, is the stream's and newer.
    if (row == stop || load<u32>(row, ROW_REF) != ref) break;
    offset = load<u32>(row, ROW_OFFSET);
    if (offset <= newestOffset) break;
    interval = offset - newestOffset;
    elapsed = <f64>interval;
  }
  if (taken == 0) return 0;
  store<u32>(r, head, SR_HEAD);
  store<f64>(r, mean, SR_MEAN);
  store<f64>(r, m2, SR_M2);
  store<u8>(r, pushes + taken, SR_PUSHES);
  store<u8>(r, run, SR_RUN);
  store<u16>(r, scale, SR_M2_SCALE);
  store<f64>(r, baseMs + <f64>newestOffset, SR_LAST_TIME);
  store<f64>(r, resolution, SR_RESOLUTION);
  store<f64>(r, newest, SR_LAST_VALUE);
  store<f64>(r, samples + <f64>taken, SR_SAMPLES);
  store<u32>(r, unchunked + taken, SR_UNCHUNKED);
  if (counts) {
    store<f64>(r, raw, SR_LAST_RAW);
    store<f64>(r, rawBefore, SR_PREVIOUS_RAW);
  }
  countSamples(taken);
  return taken;
}
