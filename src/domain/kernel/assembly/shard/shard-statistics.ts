// Mean and variance of the newest `window` values of a ring: evicting Welford, pivot-shifted, and taken anew from the ring every `window` pushes, so that
// rounding does not add up (a second accumulator that is filled meanwhile costs more, a division and three stores a
// push, than 120 values read once in 120 pushes). O(1) a push, amortised.
//
// The statistics are a pure function of (ring, mask, bounds, window): recompute() takes them from these alone, exactly. It is called where
// the running ones may have lost digits (M2 fell to 2^-13 of its largest, or the mean wandered far from the pivot), and after any change
// in the middle of a ring. The effective value of a masked place is clamp(raw, SR_CLAMP_LOW, SR_CLAMP_HIGH).
import {
  FIRST_MAX, FLAG_APART, RING_INTERVALS, RING_VALUES, SR_CLAMP_HIGH, SR_CLAMP_LOW, SR_COUNT, SR_FIRST_INTERVALS, SR_FIRST_VALUES, SR_FLAGS, SR_HEAD, SR_LAST_VALUE, SR_M2,
  SR_M2_SCALE, SR_MASK, SR_MEAN, SR_PIVOT, SR_PUSHES, SR_RESTARTED, SR_RUN, WINDOW_MAX,
} from "../../../../core/layout/stream-record";
import { recordOf, ringOf, valuesOf } from "./shard-table";

/** Larger values enter the statistics as this: its square times window and threshold stays finite. */
export const VALUE_LIMIT: f64 = 1e140;
const WINDOW_MIN: u32 = 12;
/** 13 binary digits of M2 (16 steps of the top 16 bits each): the rest of 52 leaves 1e-11. */
const SCALE_FALL: u32 = 13 * 16;
/** (mean / sd)^2 above 2^26 costs M2 more than 1e-9 of its value. */
const WANDERED: f64 = 1.0 / 67108864.0;

let windowSize: u32 = WINDOW_MAX;
export let windowInverse: f64 = 1.0 / <f64>WINDOW_MAX;

/** Values the statistics cover, 12 .. 120; to be set before the first row. */
export function setWindow(window: u32): void {
  windowSize = min(max(window, WINDOW_MIN), <u32>WINDOW_MAX);
  windowInverse = 1.0 / <f64>windowSize;
}

// @ts-ignore
@inline
export function windowValues(): u32 {
  return windowSize;
}

// @ts-ignore
@inline
export function limited(value: f64): f64 {
  return abs(value) > VALUE_LIMIT ? copysign<f64>(VALUE_LIMIT, value) : value;
}

// @ts-ignore
@inline
export function hasMask(r: usize): bool {
  return (load<u64>(r, SR_MASK) | load<u64>(r, SR_MASK + 8)) != 0;
}

// @ts-ignore
@inline
function isMasked(r: usize, index: u32): bool {
  return ((load<u8>(r + (index >> 3), SR_MASK) >> <u8>(index & 7)) & 1) != 0;
}

function setMasked(r: usize, index: u32, masked: bool): void {
  const at = r + (index >> 3);
  const bit = <u32>1 << (index & 7);
  const byte = <u32>load<u8>(at, SR_MASK);
  store<u8>(at, masked ? byte | bit : byte & ~bit, SR_MASK);
}

// @ts-ignore
@inline
function rawAt(values: usize, index: u32): f64 {
  return limited(load<f64>(values + (<usize>index << 3)));
}

/** The value with which an index of the ring counts in the statistics. */
function effectiveAt(r: usize, index: u32): f64 {
  const value = limited(load<f64>(valuesOf(r, load<u32>(r, SR_COUNT)) + (<usize>index << 3)));
  return isMasked(r, index) ? bounded(r, value) : value;
}

// @ts-ignore
@inline
export function bounded(r: usize, value: f64): f64 {
  return min(max(value, load<f64>(r, SR_CLAMP_LOW)), load<f64>(r, SR_CLAMP_HIGH));
}

/** Effective value of the newest index; the ring is not empty. */
export function newestEffective(r: usize): f64 {
  return effectiveBefore(r, 0);
}

/** Effective value so many before the newest; the ring holds more. */
export function effectiveBefore(r: usize, back: u32): f64 {
  return effectiveAt(r, (load<u32>(r, SR_HEAD) + 2 * WINDOW_MAX - 1 - back) % WINDOW_MAX);
}

/** New bounds for masked values; those still in the ring count with them too. */
export function setBounds(r: usize, low: f64, high: f64): void {
  store<f64>(r, low, SR_CLAMP_LOW);
  store<f64>(r, high, SR_CLAMP_HIGH);
  if (hasMask(r)) recomputeRecord(r);
}

// @ts-ignore
@inline
export function topBits(m2: f64): u32 {
  return <u32>(reinterpret<u64>(m2) >>> 48);
}

/** Puts a value into the ring and the statistics. `interval` is in ms since the value before. */
export function insert(r: usize, raw: f64, interval: u32, masked: bool): void {
  const head = load<u32>(r, SR_HEAD), count = load<u32>(r, SR_COUNT);
  const anyMask = hasMask(r);
  const value = masked ? bounded(r, limited(raw)) : limited(raw);
  let run: u32 = 1;
  if (count == 0) store<f64>(r, value, SR_PIVOT);
  else if (value == (anyMask ? newestEffective(r) : limited(load<f64>(r, SR_LAST_VALUE)))) run = min(<u32>load<u8>(r, SR_RUN) + 1, <u32>WINDOW_MAX);
  const pivot = load<f64>(r, SR_PIVOT);
  const d = value - pivot;
  let mean = load<f64>(r, SR_MEAN), m2 = load<f64>(r, SR_M2);
  let n = min(count, windowSize);
  const evicts = n == windowSize;
  if (evicts) {
    const index = head >= windowSize ? head - windowSize : head + WINDOW_MAX - windowSize;
    const old = (anyMask ? effectiveAt(r, index) : limited(load<f64>(ringOf(r) + (<usize>index << 3), RING_VALUES))) - pivot;
    const before = mean, step = d - old;
    mean += step * windowInverse;
    m2 += step * ((d - mean) + (old - before));
  } else {
    n++;
    const before = d - mean;
    mean += before / <f64>n;
    m2 += before * (d - mean);
  }
  enterRing(r, raw, interval, masked, anyMask);
  store<u8>(r, run, SR_RUN);
  settle(r, d, mean, m2, n, run, evicts);
}

/** Puts a value into the ring alone: the statistics stay as they are. `anyMask` is hasMask(). */
// @ts-ignore
@inline
export function enterRing(r: usize, raw: f64, interval: u32, masked: bool, anyMask: bool): void {
  const head = load<u32>(r, SR_HEAD), count = load<u32>(r, SR_COUNT);
  if (count < <u32>FIRST_MAX) {
    store<f64>(r + (<usize>head << 3), raw, SR_FIRST_VALUES);
    store<u32>(r + (<usize>head << 2), interval, SR_FIRST_INTERVALS);
  } else {
    const ring = ringOf(r);
    if (count == <u32>FIRST_MAX) moveFirst(r, ring);
    store<f64>(ring + (<usize>head << 3), raw, RING_VALUES);
    store<u32>(ring + (<usize>head << 2), interval, RING_INTERVALS);
  }
  store<f64>(r, raw, SR_LAST_VALUE);
  store<u32>(r, head + 1 == WINDOW_MAX ? 0 : head + 1, SR_HEAD);
  if (count < <u32>WINDOW_MAX) store<u32>(r, count + 1, SR_COUNT);
  if (masked || anyMask) setMasked(r, head, masked);
}

/** The ring takes over the values that lie in the record. */
function moveFirst(r: usize, ring: usize): void {
  memory.copy(ring + RING_VALUES, r + SR_FIRST_VALUES, 8 * FIRST_MAX);
  memory.copy(ring + RING_INTERVALS, r + SR_FIRST_INTERVALS, 4 * FIRST_MAX);
  store<f64>(r, 0, SR_RESTARTED);
}

/** Whether statistics of a full window have to be taken from the ring again: `top` of M2's bits, and the largest since they were exact. */
// @ts-ignore
@inline
export function hasLostDigits(mean: f64, m2: f64, n: f64, top: u32, scale: u32): bool {
  return mean * mean * n * WANDERED > m2 || top + SCALE_FALL < scale;
}

/** Refresh and exactness; else the new mean and M2 are stored. */
// @ts-ignore
@inline
function settle(r: usize, d: f64, mean: f64, m2: f64, n: u32, run: u32, evicts: bool): void {
  const pushes = <u32>load<u8>(r, SR_PUSHES) + 1;
  if (pushes >= windowSize) {
    recomputeRecord(r);
    return;
  }
  store<u8>(r, pushes, SR_PUSHES);
  if (run >= n) {
    // A constant window is its own pivot: mean and M2 are 0, exactly.
    if (d != 0) recomputeRecord(r);
    else {
      store<f64>(r, 0, SR_MEAN);
      store<f64>(r, 0, SR_M2);
      store<u16>(r, 0, SR_M2_SCALE);
    }
    return;
  }
  const scale = <u32>load<u16>(r, SR_M2_SCALE);
  const top = m2 > 0 ? topBits(m2) : 0;
  if (evicts && hasLostDigits(mean, m2, <f64>n, top, scale)) {
    recomputeRecord(r);
    return;
  }
  store<f64>(r, mean, SR_MEAN);
  store<f64>(r, m2, SR_M2);
  if (top > scale) store<u16>(r, top, SR_M2_SCALE);
}

/** Takes the statistics of a slot from its ring, exactly, where they follow from it. */
export function recompute(slot: u32): void {
  recomputeRecord(recordOf(slot));
}

/** The same of a record. */
export function recomputeRecord(r: usize): void {
  if ((load<u32>(r, SR_FLAGS) & FLAG_APART) == 0) recomputeNewest(r, min(load<u32>(r, SR_COUNT), windowSize));
}

/** Statistics of the newest n values: corrected two-pass; the newest becomes the pivot, so that the mean is of the order of the spread. */
export function recomputeNewest(r: usize, n: u32): void {
  store<u8>(r, 0, SR_PUSHES);
  if (n == 0) {
    store<f64>(r, 0, SR_MEAN);
    store<f64>(r, 0, SR_M2);
    store<u16>(r, 0, SR_M2_SCALE);
    store<u8>(r, 0, SR_RUN);
    return;
  }
  const pivot = newestEffective(r);
  store<f64>(r, pivot, SR_PIVOT);
  const mean = sumFrom(r, n, pivot) / <f64>n;
  const run = runLength(r, pivot);
  const m2 = run >= n ? 0 : squaresFrom(r, n, pivot, mean);
  store<f64>(r, run >= n ? 0 : mean, SR_MEAN);
  store<f64>(r, m2, SR_M2);
  store<u16>(r, topBits(m2), SR_M2_SCALE);
  store<u8>(r, run, SR_RUN);
}

/** Sums over the newest `n` values, from the newest on; two sums each, so that an addition need not wait for the one before. */
function sumFrom(r: usize, n: u32, pivot: f64): f64 {
  const anyMask = hasMask(r);
  const values = valuesOf(r, load<u32>(r, SR_COUNT));
  let index = load<u32>(r, SR_HEAD);
  let even: f64 = 0, odd: f64 = 0;
  for (let i: u32 = 0; i < n; i++) {
    index = (index == 0 ? <u32>WINDOW_MAX : index) - 1;
    const e = (anyMask ? effectiveAt(r, index) : rawAt(values, index)) - pivot;
    if ((i & 1) == 0) even += e;
    else odd += e;
  }
  return even + odd;
}

function squaresFrom(r: usize, n: u32, pivot: f64, mean: f64): f64 {
  const anyMask = hasMask(r);
  const values = valuesOf(r, load<u32>(r, SR_COUNT));
  let index = load<u32>(r, SR_HEAD);
  let even: f64 = 0, odd: f64 = 0, rest: f64 = 0;
  for (let i: u32 = 0; i < n; i++) {
    index = (index == 0 ? <u32>WINDOW_MAX : index) - 1;
    const e = ((anyMask ? effectiveAt(r, index) : rawAt(values, index)) - pivot) - mean;
    if ((i & 1) == 0) even += e * e;
    else odd += e * e;
    rest += e;
  }
  return max(0.0, (even + odd) - rest * rest / <f64>n);
}

function runLength(r: usize, value: f64): u32 {
  const count = load<u32>(r, SR_COUNT);
  let index = load<u32>(r, SR_HEAD);
  let run: u32 = 0;
  while (run < count) {
    index = (index == 0 ? <u32>WINDOW_MAX : index) - 1;
    if (effectiveAt(r, index) != value) break;
    run++;
  }
  return run;
}
