// Rows of one stream that follow each other, as senders that batch have them: its statistics stay in registers from the first to the last. Taken are rows
// to which nothing happens but that they enter the ring: a gauge or a counter without resets, a full window without clamped values, no episode open or near.
// The arithmetic is that of shard-statistics.ts, shard-episode.ts and shard-counter.ts, operation for operation: every bit is the same. A row alone
// is left to the general way, which is as fast for it: ten of one stream take half of their time.
import { ROW_BYTES, ROW_OFFSET, ROW_REF, ROW_VALUE } from "../../../../core/layout/row-frame";
import {
  FLAG_APART, FLAG_BUCKET, FLAG_COUNTER, FLAG_ENDED, FLAG_GUESSED, FLAG_HISTORY, FLAG_HAS_PREVIOUS, FLAG_HAS_RAW, FLAG_START_MOVED, FLAG_UNJUDGED, RING_INTERVALS, RING_VALUES, SR_CHUNK_AT,
  SR_COUNT,
  SR_FLAGS, SR_HEAD, SR_INTERVAL, SR_LAST_RAW, SR_LAST_TIME, SR_LAST_VALUE, SR_M2, SR_M2_SCALE, SR_MEAN, SR_PIVOT, SR_PREVIOUS_RAW, SR_PUSHES,
  SR_RESOLUTION, SR_RUN, SR_SAMPLES, SR_STATE, SR_UNCHUNKED, WINDOW_MAX,
} from "../../../../core/layout/stream-record";
import { addsUp, anchorAt, deltaOf, isIrregular } from "./shard-counter";
import { floorSdOf, openLevel, quietFactor, SUSPECTS } from "./shard-episode";
import { countSamples } from "./shard-event";
import { INTERVAL_MAX, intervalIsDue } from "./shard-interval";
import { hasMask, hasLostDigits, limited, topBits, VALUE_LIMIT, windowInverse, windowValues } from "./shard-statistics";
import { ringOf } from "./shard-table";

const COUNTER_READY: u32 = FLAG_COUNTER | FLAG_HAS_RAW | FLAG_HAS_PREVIOUS;
/** Of a counter these are what matters; of a gauge none of them is set. */
const COUNTER_FLAGS: u32 = COUNTER_READY | FLAG_BUCKET;

// @ts-ignore
@inline
function isPlain(r: usize, flags: u32): bool {
  if ((load<u32>(r, SR_STATE) | (flags & (FLAG_APART | FLAG_ENDED | FLAG_GUESSED | FLAG_HISTORY | FLAG_START_MOVED | FLAG_UNJUDGED | SUSPECTS))) != 0 || load<u32>(r, SR_COUNT) != WINDOW_MAX || hasMask(r)) return false;
  return (flags & FLAG_COUNTER) == 0 || (flags & COUNTER_FLAGS) == COUNTER_READY;
}

/** How many rows may come before a chunk is due, the ring is full, or the statistics are taken anew after `pushes` more. */
// @ts-ignore
@inline
function capacityOf(chunkAt: u32, unchunked: u32, pushes: u32): u32 {
  return min(chunkAt > unchunked ? chunkAt - unchunked - 1 : <u32>WINDOW_MAX, min(<u32>WINDOW_MAX - unchunked, pushes));
}

/** M2 of a window with the least standard deviation; k is its values less one. */
// @ts-ignore
@inline
function floorM2(mean: f64, resolution: f64, k: f64): f64 {
  const floor = floorSdOf(mean, resolution);
  return floor * floor * k;
}

/** The value that leaves the window. */
// @ts-ignore
@inline
function evicted(ring: usize, head: u32, window: u32): f64 {
  const place = head >= window ? head - window : head + WINDOW_MAX - window;
  const value = load<f64>(ring + (<usize>place << 3), RING_VALUES);
  if (abs(value) > VALUE_LIMIT) return limited(value);
  return value;
}

// @ts-ignore
@inline
function finer(resolution: f64, move: f64): f64 {
  return move > 0 && (move < resolution || resolution == 0) ? move : resolution;
}

/** Returns the next place. */
// @ts-ignore
@inline
function enter(ring: usize, place: u32, value: f64, interval: u32): u32 {
  store<f64>(ring + (<usize>place << 3), value, RING_VALUES);
  store<u32>(ring + (<usize>place << 2), interval, RING_INTERVALS);
  return place + 1 == WINDOW_MAX ? 0 : place + 1;
}

// @ts-ignore
@inline
function storeCounts(r: usize, head: u32, samples: f64, unchunked: u32): void {
  store<u32>(r, head, SR_HEAD);
  store<f64>(r, samples, SR_SAMPLES);
  store<u32>(r, unchunked, SR_UNCHUNKED);
}

// @ts-ignore
@inline
function storeStatistics(r: usize, mean: f64, m2: f64, pushes: u32, run: u32, scale: u32): void {
  store<f64>(r, mean, SR_MEAN);
  store<f64>(r, m2, SR_M2);
  store<u8>(r, pushes, SR_PUSHES);
  store<u8>(r, run, SR_RUN);
  store<u16>(r, scale, SR_M2_SCALE);
}

// @ts-ignore
@inline
function storeNewest(r: usize, time: f64, value: f64, resolution: f64): void {
  store<f64>(r, time, SR_LAST_TIME);
  store<f64>(r, value, SR_LAST_VALUE);
  store<f64>(r, resolution, SR_RESOLUTION);
}

// @ts-ignore
@inline
function storeCounter(r: usize, raw: f64, before: f64, isFirst: bool): void {
  if (isFirst) anchorAt(r, load<f64>(r, SR_LAST_RAW));
  store<f64>(r, raw, SR_LAST_RAW);
  store<f64>(r, before, SR_PREVIOUS_RAW);
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
  // By the bar of the first row: those behind have that or a higher one.
  const factor = quietFactor(openLevel(r, window, baseMs + <f64>offset));
  const k = <f64>(window - 1), n = <f64>window;
  const ring = ringOf(r);
  const pivot = load<f64>(r, SR_PIVOT), usual = load<f64>(r, SR_INTERVAL);
  const samples = load<f64>(r, SR_SAMPLES);
  const number = <u32>(<u64>samples), unchunked = load<u32>(r, SR_UNCHUNKED);
  const stop = min(end, row + <usize>capacityOf(<u32>load<u8>(r, SR_CHUNK_AT), unchunked, window - 1 - pushes) * ROW_BYTES);
  let head = load<u32>(r, SR_HEAD), run = <u32>load<u8>(r, SR_RUN), scale = <u32>load<u16>(r, SR_M2_SCALE);
  let mean = load<f64>(r, SR_MEAN), m2 = load<f64>(r, SR_M2), resolution = load<f64>(r, SR_RESOLUTION);
  let newest = load<f64>(r, SR_LAST_VALUE), raw = load<f64>(r, SR_LAST_RAW), rawBefore: f64 = 0;
  let newestLimited = limited(newest), newestOffset: u32 = 0;
  let taken: u32 = 0;
  while (row < stop) {
    const sent = load<f64>(row, ROW_VALUE);
    if (sent - sent != 0 || m2 == 0 || intervalIsDue(number + taken + 1)) break;
    if (counts && (!addsUp(sent, raw) || isIrregular(elapsed, usual))) break;
    const value = counts ? deltaOf(sent, raw) : sent;
    if (abs(value) > VALUE_LIMIT) break;
    const d = value - pivot, distance = d - mean;
    const squared = distance * distance * k;
    if (!(squared < factor * m2) && !(squared < factor * floorM2(pivot + mean, resolution, k))) break;
    const runNow: u32 = value == newestLimited ? min(run + 1, <u32>WINDOW_MAX) : 1;
    if (runNow >= window) break;
    const old = evicted(ring, head, window) - pivot;
    const step = d - old;
    const meanNow = mean + step * inverse;
    const m2Now = m2 + step * ((d - meanNow) + (old - mean));
    const top = m2Now > 0 ? topBits(m2Now) : 0;
    if (hasLostDigits(meanNow, m2Now, n, top, scale)) break;
    resolution = finer(resolution, abs(value - newest));
    head = enter(ring, head, value, interval);
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
  storeCounts(r, head, samples + <f64>taken, unchunked + taken);
  storeStatistics(r, mean, m2, pushes + taken, run, scale);
  storeNewest(r, baseMs + <f64>newestOffset, newest, resolution);
  if (counts) storeCounter(r, raw, rawBefore, unchunked == 0);
  countSamples(taken);
  return taken;
}

/**
 * Applies one row that no other of its stream follows, if it is ordinary; else nothing is changed and it is left to the general way. As takeRun(), for one
 * row: what that keeps in variables for the next would cost more than it saves.
 */
// @ts-ignore
@inline
export function takeSingle(r: usize, row: usize, baseMs: f64): bool {
  const flags = load<u32>(r, SR_FLAGS), last = load<f64>(r, SR_LAST_TIME), sent = load<f64>(row, ROW_VALUE);
  const time = baseMs + <f64>load<u32>(row, ROW_OFFSET), elapsed = time - last;
  if (!isPlain(r, flags) || !(elapsed > 0 && elapsed <= INTERVAL_MAX) || !(last > 0) || sent - sent != 0) return false;
  const samples = load<f64>(r, SR_SAMPLES) + 1;
  const unchunked = load<u32>(r, SR_UNCHUNKED) + 1, pushes = <u32>load<u8>(r, SR_PUSHES) + 1;
  const window = windowValues();
  if (unchunked > <u32>WINDOW_MAX || unchunked == <u32>load<u8>(r, SR_CHUNK_AT) || pushes >= window || intervalIsDue(<u32>samples)) return false;
  const counts = (flags & FLAG_COUNTER) != 0;
  let value = sent;
  if (counts) {
    const raw = load<f64>(r, SR_LAST_RAW);
    if (!addsUp(sent, raw) || isIrregular(elapsed, load<f64>(r, SR_INTERVAL))) return false;
    value = deltaOf(sent, raw);
  }
  if (abs(value) > VALUE_LIMIT) return false;
  const mean = load<f64>(r, SR_MEAN), m2 = load<f64>(r, SR_M2), pivot = load<f64>(r, SR_PIVOT), resolution = load<f64>(r, SR_RESOLUTION);
  const k = <f64>(window - 1), d = value - pivot, distance = d - mean;
  const squared = distance * distance * k, factor = quietFactor(openLevel(r, window, time));
  if (m2 == 0 || (!(squared < factor * m2) && !(squared < factor * floorM2(pivot + mean, resolution, k)))) return false;
  const newest = load<f64>(r, SR_LAST_VALUE);
  const run: u32 = value == limited(newest) ? min(<u32>load<u8>(r, SR_RUN) + 1, <u32>WINDOW_MAX) : 1;
  if (run >= window) return false;
  const ring = ringOf(r), head = load<u32>(r, SR_HEAD);
  const old = evicted(ring, head, window) - pivot, step = d - old;
  const meanNow = mean + step * windowInverse;
  const m2Now = m2 + step * ((d - meanNow) + (old - mean));
  const scale = <u32>load<u16>(r, SR_M2_SCALE), top = m2Now > 0 ? topBits(m2Now) : 0;
  if (hasLostDigits(meanNow, m2Now, <f64>window, top, scale)) return false;
  storeCounts(r, enter(ring, head, value, <u32>elapsed), samples, unchunked);
  storeStatistics(r, meanNow, m2Now, pushes, run, max(top, scale));
  storeNewest(r, time, value, finer(resolution, abs(value - newest)));
  if (counts) storeCounter(r, sent, load<f64>(r, SR_LAST_RAW), unchunked == 1);
  countSamples(1);
  return true;
}
