// Cumulative values become per-interval deltas. A start time that moves behind the value before is a reset: the new value is the delta. So is a fall,
// after which the new value counts as far as an interval may bring it. With a start time not older than two intervals a stream's
// first value is a delta too; else it is a baseline only. Histograms go by the same rule, of which src/domain/distribution/counting-start.ts is the slow twin.
// When the interval differs from the usual one by more than half as much again (one missed scrape), the delta is scored per usual interval.
import { EVENT_FLAG_IMPLAUSIBLE, EVENT_FLAG_IRREGULAR, EVENT_FLAG_RESET, EVENT_RESET, EVENT_SENT } from "../../../../core/layout/kernel-event";
import {
  FIRST_MAX, FLAG_COUNTER, FLAG_HAS_PREVIOUS, FLAG_HAS_RAW, FLAG_START_MOVED, SR_COUNT, SR_FALL_NEAR, SR_FLAGS, SR_INTERVAL, SR_LAST_RAW, SR_LAST_TIME, SR_PREVIOUS_RAW,
  SR_ANCHOR, SR_RESTARTED, SR_START,
} from "../../../../core/layout/stream-record";
import { countReset, emitPlain } from "./shard-event";
import { recordOf, valuesOf } from "./shard-table";

/** A fall by less than this is rounding of the sender. */
const RELATIVE_NOISE: f64 = 1e-9;
const IMPLAUSIBLE_FACTOR: f64 = 10;
const IMPLAUSIBLE_VALUES_MIN: u32 = 12;
const IRREGULAR_FACTOR: f64 = 1.5;
/** A stream's usual interval while it is not known: what most SDKs and scrapers have, ms. */
const INTERVAL_UNKNOWN: f64 = 60_000;
const FIRST_INTERVALS_MAX: f64 = 2;
/** Start times that are taken from an uptime differ by less than this, ms. */
const START_JITTER: f64 = 1_000;

/** A counter that began anew goes on for so many values at least. */
const FALLS_APART_MIN: u32 = 12;

/** Result of the last convert(): the delta as stored, the same as scored, and EVENT_FLAG_*. */
export let storedDelta: f64 = 0;
export let scoredDelta: f64 = 0;
export let deltaFlags: u32 = 0;
/** Whether its value counts whole because a start time tells so. */
export let beganAnew: bool = false;
/** The cumulative value before it; NaN where counting began with it. */
let rawBefore: f64 = 0;

// @ts-ignore
@inline
function intervalOf(r: usize): f64 {
  const usual = load<f64>(r, SR_INTERVAL);
  return usual > 0 ? usual : INTERVAL_UNKNOWN;
}

/**
 * Takes the start time of the value that comes next, at `time`. One that comes again, lies behind its value or belongs to a value that was taken changes
 * nothing. One that is its value's own time is unknown. Others are a reset when they are later than the newest value, and do not only waver.
 */
export function takeStart(r: usize, time: f64, start: f64): void {
  const last = load<f64>(r, SR_LAST_TIME), flags = load<u32>(r, SR_FLAGS);
  if (time <= last || start > time || (flags & FLAG_COUNTER) == 0) return;
  const known = load<f64>(r, SR_START);
  if (start <= known) return;
  store<f64>(r, start, SR_START);
  const waver = max(START_JITTER, min(intervalOf(r), time - last));
  const moves = start > last && start < time && start - known >= waver;
  if ((flags & FLAG_HAS_RAW) == 0 || moves) store<u32>(r, flags | FLAG_START_MOVED, SR_FLAGS);
}

/** Takes a cumulative value `elapsed` ms after the one before. False for one that is a baseline only, as a stream's first mostly is. */
export function convert(r: usize, slot: u32, time: f64, value: f64, elapsed: f64, arrivalMs: f64): bool {
  let flags = load<u32>(r, SR_FLAGS);
  const previous = load<f64>(r, SR_LAST_RAW);
  beganAnew = false;
  rawBefore = previous;
  store<f64>(r, value, SR_LAST_RAW);
  if ((flags & FLAG_START_MOVED) != 0) {
    flags &= ~(<u32>FLAG_START_MOVED);
    store<u32>(r, flags, SR_FLAGS);
    return begin(r, slot, time, value, elapsed, arrivalMs);
  }
  if ((flags & FLAG_HAS_RAW) == 0) {
    store<u32>(r, flags | FLAG_HAS_RAW, SR_FLAGS);
    return false;
  }
  store<f64>(r, previous, SR_PREVIOUS_RAW);
  if ((flags & FLAG_HAS_PREVIOUS) == 0) store<u32>(r, flags | FLAG_HAS_PREVIOUS, SR_FLAGS);
  deltaFlags = 0;
  if (falls(value, previous)) fall(r, slot, time, value, arrivalMs);
  else {
    storedDelta = deltaOf(value, previous);
    if (!addsUp(value, previous)) emitPlain(EVENT_SENT, slot, time, value, 0, arrivalMs);
  }
  scale(r, elapsed);
  return true;
}

/** Whether a cumulative value is the one before and its delta, within 1e-12: a fall that is the sender's rounding has none, and below zero the sum is rounded. */
// @ts-ignore
@inline
export function addsUp(value: f64, previous: f64): bool {
  return value >= previous && previous >= 0;
}

/** The converted value is the first that is in no chunk yet: sums of deltas count from the one before it. */
// @ts-ignore
@inline
export function storeAnchor(r: usize): void {
  anchorAt(r, rawBefore);
}

/** The same with the value before. */
// @ts-ignore
@inline
export function anchorAt(r: usize, raw: f64): void {
  store<f64>(r, raw == 0 ? -0.0 : raw, SR_ANCHOR);
}

/** Whether a cumulative value says that the counter began anew. */
// @ts-ignore
@inline
export function falls(value: f64, previous: f64): bool {
  return value < previous - RELATIVE_NOISE * abs(previous);
}

/**
 * Whether the next value of a series whose kind is guessed shows that it is no counter: it falls by less than half and to more than was ever counted in an interval, as no
 * counter that begins anew does, or falls again within FALLS_APART_MIN values.
 */
export function isNoCounter(r: usize, value: f64): bool {
  const flags = load<u32>(r, SR_FLAGS);
  if ((flags & FLAG_HAS_RAW) == 0 || (flags & FLAG_START_MOVED) != 0) return false;
  const previous = load<f64>(r, SR_LAST_RAW), near = <u32>load<u8>(r, SR_FALL_NEAR);
  if (!falls(value, previous)) {
    if (near > 0) store<u8>(r, near - 1, SR_FALL_NEAR);
    return false;
  }
  if (near > 0 || value < 0 || (2 * value > previous && value > largest(r))) return true;
  store<u8>(r, FALLS_APART_MIN, SR_FALL_NEAR);
  return false;
}

/** What was counted between two cumulative values of which the later does not fall. */
// @ts-ignore
@inline
export function deltaOf(value: f64, previous: f64): f64 {
  return min(max(value - previous, 0.0), f64.MAX_VALUE);
}

/** Whether a delta over `elapsed` ms is scored per usual interval; `usual` 0 = not known. */
// @ts-ignore
@inline
export function isIrregular(elapsed: f64, usual: f64): bool {
  return usual > 0 && (elapsed > IRREGULAR_FACTOR * usual || elapsed * IRREGULAR_FACTOR < usual);
}

// @ts-ignore
@inline
function scale(r: usize, elapsed: f64): void {
  scoredDelta = storedDelta;
  const usual = load<f64>(r, SR_INTERVAL);
  if (isIrregular(elapsed, usual)) {
    deltaFlags |= EVENT_FLAG_IRREGULAR;
    scoredDelta = storedDelta * (usual / elapsed);
  }
}

/** The first value since the counter began: a delta, but for a stream's first value whose start is its own time or long ago. */
function begin(r: usize, slot: u32, time: f64, value: f64, elapsed: f64, arrivalMs: f64): bool {
  const flags = load<u32>(r, SR_FLAGS);
  const isFirst = (flags & FLAG_HAS_RAW) == 0;
  const age = time - load<f64>(r, SR_START);
  store<u32>(r, flags | FLAG_HAS_RAW, SR_FLAGS);
  if (isFirst && (age <= 0 || age > FIRST_INTERVALS_MAX * intervalOf(r))) return false;
  store<f64>(r, 0, SR_PREVIOUS_RAW);
  store<u32>(r, flags | FLAG_HAS_RAW | FLAG_HAS_PREVIOUS, SR_FLAGS);
  deltaFlags = 0;
  if (isFirst) {
    storedDelta = max(value, 0.0);
    rawBefore = NaN;
    if (value < 0) emitPlain(EVENT_SENT, slot, time, value, 0, arrivalMs);
  }
  else reset(slot, time, value, value, EVENT_FLAG_RESET, arrivalMs);
  beganAnew = true;
  scale(r, elapsed);
  return true;
}

/** A fall that no start time explains: a value far beyond every delta seen counts as the largest, and not at all where enough deltas have been seen. */
function fall(r: usize, slot: u32, time: f64, value: f64, arrivalMs: f64): void {
  const most = largest(r);
  if (value <= IMPLAUSIBLE_FACTOR * most) reset(slot, time, value, value, EVENT_FLAG_RESET, arrivalMs);
  else if (load<u32>(r, SR_COUNT) >= IMPLAUSIBLE_VALUES_MIN) reset(slot, time, value, 0, EVENT_FLAG_RESET | EVENT_FLAG_IMPLAUSIBLE, arrivalMs);
  else reset(slot, time, value, most > 0 ? most : value, EVENT_FLAG_RESET, arrivalMs);
}

function reset(slot: u32, time: f64, value: f64, delta: f64, flags: u32, arrivalMs: f64): void {
  storedDelta = delta;
  deltaFlags = flags;
  noteRestart(recordOf(slot), time);
  countReset();
  emitPlain(EVENT_RESET, slot, time, value, deltaFlags, arrivalMs);
}

/** Notes for whoever reads the ring that counting began anew in the interval of the value that comes next, at `time`. */
export function noteRestart(r: usize, time: f64): void {
  if (load<u32>(r, SR_COUNT) > <u32>FIRST_MAX) store<f64>(r, time, SR_RESTARTED);
}

/** Largest delta in the ring. */
function largest(r: usize): f64 {
  const count = load<u32>(r, SR_COUNT);
  const values = valuesOf(r, count);
  let result: f64 = 0;
  for (let i: u32 = 0; i < count; i++) result = max(result, load<f64>(values + (<usize>i << 3)));
  return result;
}
