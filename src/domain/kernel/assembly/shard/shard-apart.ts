// Statistics apart from the ring (FLAG_APART): of a stream with an open episode, whose values enter the ring, where they are stored from, and no baseline; for a
// few values behind one that was far out and is not declared yet; and until the ring holds a whole window again. Such streams are few, and take the general way.
//
// The statistics are then {SR_PIVOT, SR_MEAN, SR_M2} of SR_COVERED values, of which the newest SR_BEHIND lie in the ring and the others no more: an average one of
// these leaves with each that enters a full window. Where the ring has all of them, they are taken from it.
import {
  FLAG_ACCEPT, FLAG_ACCEPTED, FLAG_APART, FLAG_WAY_BACK, SR_BEHIND, SR_CLAMP_HIGH, SR_CLAMP_LOW, SR_COUNT, SR_COVERED, SR_FLAGS, SR_M2, SR_MASK, SR_MEAN, SR_PENDING,
  SR_PIVOT, SR_STATE, STATE_LOW_SHIFT, STATE_OPEN,
} from "../../../../core/layout/stream-record";
import { effectiveBefore, enterRing, hasMask, insert, recomputeNewest, recomputeRecord, windowValues } from "./shard-statistics";

/** What becomes of a value: it counts; it is of an open episode; it waits; the window goes on behind it, or begins anew with it. */
export const ENTERS: u32 = 0;
export const STAYS_OUT: u32 = 1;
export const WAITS: u32 = 2;
export const GOES_ON: u32 = 3;
export const BEGINS_ANEW: u32 = 4;

/** Values that may wait. */
export const PENDING_MAX: u32 = 6;
const BEHIND_MAX: u32 = 255;
const OPEN_STATES: u32 = STATE_OPEN | (STATE_OPEN << STATE_LOW_SHIFT);

// @ts-ignore
@inline
export function isApart(r: usize): bool {
  return (load<u32>(r, SR_FLAGS) & FLAG_APART) != 0;
}

// @ts-ignore
@inline
export function hasOpenEpisode(r: usize): bool {
  return (load<u32>(r, SR_STATE) & OPEN_STATES) != 0;
}

/** Values that the statistics stand for. */
// @ts-ignore
@inline
export function coveredValues(r: usize): u32 {
  return isApart(r) ? <u32>load<u8>(r, SR_COVERED) : min(load<u32>(r, SR_COUNT), windowValues());
}

export function setFlags(r: usize, set: u32, clear: u32): void {
  store<u32>(r, (load<u32>(r, SR_FLAGS) & ~clear) | set, SR_FLAGS);
}

/** What becomes of a value that is not judged. */
// @ts-ignore
@inline
export function unjudgedFate(r: usize): u32 {
  return hasOpenEpisode(r) ? STAYS_OUT : ENTERS;
}

/** An episode has opened: from its first values on nothing enters the window. */
export function freeze(r: usize): void {
  if (!isApart(r)) {
    store<u8>(r, coveredValues(r), SR_COVERED);
    store<u8>(r, 0, SR_PENDING);
  }
  setFlags(r, FLAG_APART, FLAG_WAY_BACK | FLAG_ACCEPT);
  store<u8>(r, load<u8>(r, SR_PENDING), SR_BEHIND);
  store<u8>(r, 0, SR_PENDING);
}

/** Mean of the ring's newest values that came since the window was frozen, of at most a window; `value` where there are none. */
export function levelBehind(r: usize, value: f64): f64 {
  const n = min(min(<u32>load<u8>(r, SR_BEHIND), windowValues()), load<u32>(r, SR_COUNT));
  let sum: f64 = 0;
  for (let back: u32 = 0; back < n; back++) sum += effectiveBefore(r, back) - value;
  return n == 0 ? value : value + sum / <f64>n;
}

/** What was usual, which the way back from a level that is accepted leads to. */
export function setUsualRange(r: usize, low: f64, high: f64): void {
  store<u64>(r, 0, SR_MASK);
  store<u64>(r, 0, SR_MASK + 8);
  store<f64>(r, low, SR_CLAMP_LOW);
  store<f64>(r, high, SR_CLAMP_HIGH);
  setFlags(r, FLAG_ACCEPTED, FLAG_ACCEPT);
}

/** Goes back to what was usual before an accepted level; `width` is half of those bounds in standard deviations. */
export function goBack(r: usize, width: f64): void {
  const low = load<f64>(r, SR_CLAMP_LOW), high = load<f64>(r, SR_CLAMP_HIGH);
  const n = coveredValues(r), sd = (high - low) / (2 * width);
  store<f64>(r, low + (high - low) / 2, SR_PIVOT);
  store<f64>(r, 0, SR_MEAN);
  store<f64>(r, sd * sd * <f64>(n - 1), SR_M2);
  store<u8>(r, n, SR_COVERED);
  store<u8>(r, 0, SR_PENDING);
  setFlags(r, FLAG_APART, FLAG_ACCEPTED | FLAG_WAY_BACK);
}

/** Puts a value into the ring of a stream that is apart, or will be, and into the statistics as its fate says. */
export function insertAs(r: usize, raw: f64, interval: u32, masked: bool, fate: u32): void {
  if (fate == ENTERS && !isApart(r)) {
    insert(r, raw, interval, masked);
    return;
  }
  if (!isApart(r)) apartOfRing(r);
  enterRing(r, raw, interval, masked, hasMask(r));
  if (fate == STAYS_OUT) store<u8>(r, min(<u32>load<u8>(r, SR_BEHIND) + 1, BEHIND_MAX), SR_BEHIND);
  else if (fate == WAITS) store<u8>(r, <u32>load<u8>(r, SR_PENDING) + 1, SR_PENDING);
  else if (fate == GOES_ON) store<u8>(r, 0, SR_BEHIND);
  else if (fate == BEGINS_ANEW) beginAnew(r);
  else join(r);
}

/** Statistics that are of the ring, and stay as they are while values wait. */
function apartOfRing(r: usize): void {
  const n = coveredValues(r);
  store<u8>(r, n, SR_COVERED);
  store<u8>(r, n, SR_BEHIND);
  store<u8>(r, 0, SR_PENDING);
  setFlags(r, FLAG_APART, 0);
}

/** The window is of the values since it was frozen. */
function beginAnew(r: usize): void {
  const n = min(min(<u32>load<u8>(r, SR_BEHIND) + 1, windowValues()), load<u32>(r, SR_COUNT));
  setCovered(r, n);
}

/** The statistics are those of the ring's newest n values. */
function setCovered(r: usize, n: u32): void {
  store<u8>(r, n, SR_COVERED);
  store<u8>(r, n, SR_BEHIND);
  if (n == min(load<u32>(r, SR_COUNT), windowValues())) endApart(r);
  else recomputeNewest(r, n);
}

function endApart(r: usize): void {
  setFlags(r, 0, FLAG_APART);
  recomputeRecord(r);
}

/** The newest value and those that have waited count. */
function join(r: usize): void {
  const entering = <u32>load<u8>(r, SR_PENDING) + 1;
  const n = <u32>load<u8>(r, SR_COVERED);
  store<u8>(r, 0, SR_PENDING);
  if (<u32>load<u8>(r, SR_BEHIND) == n) setCovered(r, min(n + entering, windowValues()));
  else for (let back = entering; back > 0 && isApart(r); back--) follow(r, effectiveBefore(r, back - 1));
}

/** Takes a value into statistics of which the ring has a part. */
function follow(r: usize, value: f64): void {
  const window = windowValues();
  let n = <u32>load<u8>(r, SR_COVERED), mean = load<f64>(r, SR_MEAN), m2 = load<f64>(r, SR_M2);
  if (n >= window) {
    m2 *= <f64>(n - 1) / <f64>n;
    n--;
  }
  n++;
  const before = value - load<f64>(r, SR_PIVOT) - mean;
  mean += before / <f64>n;
  m2 += before * (value - load<f64>(r, SR_PIVOT) - mean);
  store<f64>(r, mean, SR_MEAN);
  store<f64>(r, m2, SR_M2);
  store<u8>(r, n, SR_COVERED);
  const behind = <u32>load<u8>(r, SR_BEHIND) + 1;
  store<u8>(r, behind, SR_BEHIND);
  if (behind >= window) endApart(r);
}
