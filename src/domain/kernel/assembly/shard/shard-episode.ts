// Scoring and the two episodes, high and low, of a stream. Sketch: most samples of a quiet stream end in isQuiet(), a few multiplications;
// only what is near the threshold, or follows an excursion within two samples, or has an episode open comes to judge().
//
// Declared: over OPEN in two of the last three samples, or over STRONG once. After a gap or a counter reset once is not enough. A series
// whose window is constant has no standard deviation: a departure counts as z of at most 10 and has to be seen twice in a row.
import {
  EVENT_CLOSE, EVENT_EXCURSION, EVENT_FLAG_AFTER_GAP, EVENT_FLAG_CONSTANT, EVENT_FLAG_HIGH, EVENT_FLAG_RESET, EVENT_FLAG_STRONG, EVENT_OPEN,
  EVENT_UPDATE, TABLE_COLUMN_Z, TABLE_COLUMNS, TABLE_LEVEL_CLEAR, TABLE_LEVEL_OPEN, TABLE_LEVEL_SEVERE, TABLE_LEVEL_STRONG, TABLE_PROFILE_BYTES,
} from "../../../../core/layout/kernel-event";
import { THRESHOLD_TABLES } from "../../../../core/layout/memory-map";
import {
  FLAG_CONSTANT_SUSPECT_HIGH, FLAG_CONSTANT_SUSPECT_LOW, FLAG_OPERATION, FLAG_PROFILE_MASK, FLAG_PROFILE_SHIFT, SR_COUNT, SR_FLAGS, SR_HEAD, SR_LAST_TIME, SR_M2,
  SR_MASKED, SR_MEAN, SR_PEAK_HIGH, SR_PEAK_LOW, SR_PIVOT, SR_RESOLUTION, SR_START_HIGH, SR_START_LOW, SR_STATE, STATE_BELOW_MASK,
  STATE_BELOW_SHIFT, STATE_LOW_SHIFT, STATE_OPEN, STATE_OUT_MASK, STATE_OUT_SHIFT, STATE_REPORTED_MASK, STATE_REPORTED_SHIFT, STATE_SEVERE,
  WINDOW_MAX,
} from "../../../../core/layout/stream-record";
import { countClosing, countExcursion, countOpening, emit } from "./shard-event";
import { intervalsOf } from "./shard-table";
import { bounded, limited, newestEffective, setBounds, windowValues } from "./shard-statistics";

const LEVEL_BYTES: usize = TABLE_COLUMNS * 8;
/** FLAG_OPERATION, moved by this, is the bytes of a set; the profile in the flags, moved by that, the bytes of the profiles before. */
const OPERATION_TO_SET: u32 = 11;
const PROFILE_TO_BYTES: u32 = 3;
if (<u32>FLAG_OPERATION << OPERATION_TO_SET != 4 * <u32>LEVEL_BYTES || 1 << <u32>FLAG_PROFILE_SHIFT >> PROFILE_TO_BYTES != <u32>TABLE_PROFILE_BYTES)
  ERROR("flags do not lead to the tables");
export const SUSPECTS: u32 = FLAG_CONSTANT_SUSPECT_HIGH | FLAG_CONSTANT_SUSPECT_LOW;
const DIRECTION_MASK: u32 = 0xffff;

/** Floors of the standard deviation (decisions.md section 2). */
const SD_MIN: f64 = 1e-9;
const SD_RELATIVE_MIN: f64 = 1e-3;
/** Rounding to steps of 1 has this standard deviation: 1 / sqrt(12). */
const STEP_SD: f64 = 0.28867513459481287;
const CONSTANT_RELATIVE_MIN: f64 = 0.01;
const CONSTANT_Z_MAX: f64 = 10;
const RATIO_MAX: f64 = 1e9;
const CLEAR_EVALUATIONS: u32 = 5;
const CLAMP_SD: f64 = 6;
const MASKED_MAX: u32 = 30;
const GROWTH_REPORTED: f64 = 1.5;
/** isQuiet() compares squares, judge() the ratio itself; what rounding may hide goes to judge(). */
const QUIET_MARGIN: f64 = 0.999;

// The last score.
let scoreMean: f64 = 0;
let scoreSd: f64 = 0;
let scoreRawSd: f64 = 0;
let scoreRatio: f64 = 0;
let scoreCount: u32 = 0;
let scoreConstant: bool = false;
/** How the judged value is to be entered. */
export let entersMasked: bool = false;
/** The value left a constant series: its step says nothing about the resolution. */
export let departsConstant: bool = false;

// @ts-ignore
@inline
function tableOf(r: usize): usize {
  const flags = load<u32>(r, SR_FLAGS);
  return <usize>THRESHOLD_TABLES + ((flags & FLAG_OPERATION) << OPERATION_TO_SET) + ((flags & FLAG_PROFILE_MASK) >> PROFILE_TO_BYTES);
}

// @ts-ignore
@inline
function level(table: usize, which: u32, column: u32): f64 {
  return load<f64>(table + <usize>which * LEVEL_BYTES + (<usize>column << 3));
}

// @ts-ignore
@inline
function floorSd(r: usize, mean: f64): f64 {
  return floorSdOf(mean, load<f64>(r, SR_RESOLUTION));
}

/** Least standard deviation of a stream with this mean and resolution. */
// @ts-ignore
@inline
export function floorSdOf(mean: f64, resolution: f64): f64 {
  return max(max(SD_MIN, SD_RELATIVE_MIN * abs(mean)), STEP_SD * resolution);
}

/** Ratio over which an episode may open, of a window of `n` values; Infinity where nothing is judged. */
// @ts-ignore
@inline
export function openLevel(r: usize, n: u32): f64 {
  return level(tableOf(r), TABLE_LEVEL_OPEN, n);
}

/** A value is quiet whose squared distance from the mean, times n - 1, is below this times the larger of M2 and that of the least standard deviation. */
// @ts-ignore
@inline
export function quietFactor(open: f64): f64 {
  return open * open * QUIET_MARGIN;
}

/** Whether the value certainly changes no episode and needs no event. */
// @ts-ignore
@inline
export function isQuiet(r: usize, scored: f64): bool {
  if ((load<u32>(r, SR_STATE) | (load<u32>(r, SR_FLAGS) & SUSPECTS)) != 0) return false;
  const n = min(load<u32>(r, SR_COUNT), windowValues());
  const open = openLevel(r, n);
  if (open == Infinity) return true;
  const m2 = load<f64>(r, SR_M2);
  if (m2 == 0) return scored == load<f64>(r, SR_PIVOT) && load<f64>(r, SR_MEAN) == 0;
  const mean = load<f64>(r, SR_MEAN), pivot = load<f64>(r, SR_PIVOT);
  const d = limited(scored) - pivot - mean;
  const floor = floorSd(r, pivot + mean);
  const k = <f64>(n - 1);
  return d * d * k < quietFactor(open) * max(m2, floor * floor * k);
}

/** Scores a value against the window before it and moves both episodes; sets entersMasked and departsConstant. */
export function judge(r: usize, slot: u32, time: f64, scored: f64, stored: f64, flags: u32, irregular: bool, arrivalMs: f64): void {
  const n = min(load<u32>(r, SR_COUNT), windowValues());
  const table = tableOf(r);
  entersMasked = false;
  departsConstant = false;
  if (level(table, TABLE_LEVEL_OPEN, n) == Infinity) {
    // Only after a shrunk window or raised minimum: an episode stays as it is until there is a baseline again.
    return;
  }
  score(r, limited(scored), n);
  if (scoreConstant) flags |= EVENT_FLAG_CONSTANT;
  const column = scoreConstant ? <u32>TABLE_COLUMN_Z : n;
  const suspects = load<u32>(r, SR_FLAGS) & SUSPECTS;
  let opened = move(r, slot, time, scored, scoreRatio, table, column, flags | EVENT_FLAG_HIGH, (suspects & FLAG_CONSTANT_SUSPECT_HIGH) != 0, arrivalMs);
  if (move(r, slot, time, scored, -scoreRatio, table, column, flags, (suspects & FLAG_CONSTANT_SUSPECT_LOW) != 0, arrivalMs)) opened = true;
  if (opened) {
    store<u32>(r, 0, SR_MASKED);
    bound(r);
  }
  enter(r, limited(stored), level(table, TABLE_LEVEL_OPEN, column), irregular);
}

function score(r: usize, value: f64, n: u32): void {
  const pivot = load<f64>(r, SR_PIVOT), mean = load<f64>(r, SR_MEAN), m2 = load<f64>(r, SR_M2);
  scoreCount = n;
  scoreConstant = m2 == 0;
  if (scoreConstant) {
    scoreMean = newestEffective(r);
    scoreRawSd = 0;
    scoreSd = floorSd(r, scoreMean);
    const departure = value - scoreMean;
    const limit = max(max(SD_MIN, CONSTANT_RELATIVE_MIN * abs(scoreMean)), load<f64>(r, SR_RESOLUTION));
    departsConstant = abs(departure) > limit;
    scoreRatio = departsConstant ? min(max(departure / scoreSd, -CONSTANT_Z_MAX), CONSTANT_Z_MAX) : 0;
    return;
  }
  scoreMean = pivot + mean;
  scoreRawSd = sqrt(m2 / <f64>(n - 1));
  scoreSd = max(scoreRawSd, floorSd(r, scoreMean));
  scoreRatio = min(max((value - pivot - mean) / scoreSd, -RATIO_MAX), RATIO_MAX);
}

/** One direction: `ratio` is positive outwards. Returns whether an episode opened. */
function move(
  r: usize, slot: u32, time: f64, value: f64, ratio: f64, table: usize, column: u32, flags: u32, suspected: bool, arrivalMs: f64,
): bool {
  const high = (flags & EVENT_FLAG_HIGH) != 0;
  const shift = high ? 0 : STATE_LOW_SHIFT;
  let state = (load<u32>(r, SR_STATE) >> shift) & DIRECTION_MASK;
  const over = ratio > level(table, TABLE_LEVEL_OPEN, column);
  const out = (((state >> STATE_OUT_SHIFT) << 1) | (over ? 1 : 0)) & STATE_OUT_MASK;
  state = (state & ~(<u32>STATE_OUT_MASK << STATE_OUT_SHIFT)) | (out << STATE_OUT_SHIFT);
  if (ratio > level(table, TABLE_LEVEL_STRONG, column)) flags |= EVENT_FLAG_STRONG;
  const severe = ratio > level(table, TABLE_LEVEL_SEVERE, column);
  let opens = false;
  if ((state & STATE_OPEN) != 0) state = advance(r, slot, time, value, ratio, state, severe, ratio < level(table, TABLE_LEVEL_CLEAR, column), flags, arrivalMs);
  else if (over) {
    opens = isDeclared(out, flags, suspected);
    if (opens) state = open(r, slot, time, value, ratio, state, severe, startOf(r, time, out), flags, arrivalMs);
    else excursion(slot, time, value, ratio, flags, arrivalMs);
  }
  store<u32>(r, (load<u32>(r, SR_STATE) & ~(DIRECTION_MASK << shift)) | (state << shift), SR_STATE);
  return opens;
}

function isDeclared(out: u32, flags: u32, suspected: bool): bool {
  if ((flags & EVENT_FLAG_RESET) != 0) return false;
  if ((flags & EVENT_FLAG_CONSTANT) != 0) return suspected;
  if (popcnt<u32>(out) >= 2) return true;
  return (flags & EVENT_FLAG_STRONG) != 0 && (flags & EVENT_FLAG_AFTER_GAP) == 0;
}

/** Time of the oldest sample in `out`; the sample at hand is not in the ring yet. */
function startOf(r: usize, time: f64, out: u32): f64 {
  if (out == 1) return time;
  const last = load<f64>(r, SR_LAST_TIME);
  if ((out & 4) == 0) return last;
  const head = load<u32>(r, SR_HEAD);
  return last - <f64>load<u32>(intervalsOf(r, load<u32>(r, SR_COUNT)) + (<usize>((head == 0 ? <u32>WINDOW_MAX : head) - 1) << 2));
}

function open(r: usize, slot: u32, time: f64, value: f64, ratio: f64, state: u32, severe: bool, start: f64, flags: u32, arrivalMs: f64): u32 {
  const high = (flags & EVENT_FLAG_HIGH) != 0;
  if (high) {
    store<f64>(r, start, SR_START_HIGH);
    store<f32>(r, <f32>ratio, SR_PEAK_HIGH);
  } else {
    store<f64>(r, start, SR_START_LOW);
    store<f32>(r, <f32>ratio, SR_PEAK_LOW);
  }
  countOpening();
  report(EVENT_OPEN, slot, time, value, ratio, start, ratio, flags, arrivalMs);
  return STATE_OPEN | (state & (<u32>STATE_OUT_MASK << STATE_OUT_SHIFT)) | (severe ? STATE_SEVERE : 0) | (minifloat(ratio) << STATE_REPORTED_SHIFT);
}

/** An evaluation while the episode is open; returns its new state. */
function advance(r: usize, slot: u32, time: f64, value: f64, ratio: f64, state: u32, severe: bool, below: bool, flags: u32, arrivalMs: f64): u32 {
  const high = (flags & EVENT_FLAG_HIGH) != 0;
  const start = high ? load<f64>(r, SR_START_HIGH) : load<f64>(r, SR_START_LOW);
  let peak = <f64>(high ? load<f32>(r, SR_PEAK_HIGH) : load<f32>(r, SR_PEAK_LOW));
  if (ratio > peak) {
    peak = ratio;
    if (high) store<f32>(r, <f32>peak, SR_PEAK_HIGH);
    else store<f32>(r, <f32>peak, SR_PEAK_LOW);
  }
  const belowCount = below ? ((state >> STATE_BELOW_SHIFT) & STATE_BELOW_MASK) + 1 : 0;
  if (belowCount == CLEAR_EVALUATIONS) {
    countClosing();
    report(EVENT_CLOSE, slot, time, value, ratio, start, peak, flags, arrivalMs);
    return state & (<u32>STATE_OUT_MASK << STATE_OUT_SHIFT);
  }
  const reported = (state >> STATE_REPORTED_SHIFT) & STATE_REPORTED_MASK;
  const grew = ratio > GROWTH_REPORTED * fromMinifloat(reported) && minifloat(ratio) > reported;
  const firstSevere = severe && (state & STATE_SEVERE) == 0;
  state = (state & ~(<u32>STATE_BELOW_MASK << STATE_BELOW_SHIFT)) | (belowCount << STATE_BELOW_SHIFT);
  if (grew || firstSevere) {
    report(EVENT_UPDATE, slot, time, value, ratio, start, peak, flags, arrivalMs);
    state = (state & ~(<u32>STATE_REPORTED_MASK << STATE_REPORTED_SHIFT)) | (max(minifloat(ratio), reported) << STATE_REPORTED_SHIFT);
  }
  return severe ? state | STATE_SEVERE : state;
}

function excursion(slot: u32, time: f64, value: f64, ratio: f64, flags: u32, arrivalMs: f64): void {
  countExcursion();
  report(EVENT_EXCURSION, slot, time, value, ratio, time, 0, flags, arrivalMs);
}

function report(kind: u32, slot: u32, time: f64, value: f64, ratio: f64, start: f64, peak: f64, flags: u32, arrivalMs: f64): void {
  const signed = (flags & EVENT_FLAG_HIGH) != 0 ? ratio : -ratio;
  emit(kind, slot, time, value, scoreMean, scoreSd, scoreRawSd, signed, scoreCount, flags, start, peak, arrivalMs);
}

/** Decides whether the value is entered clamped: at most MASKED_MAX or a quarter of the window per episode, then the new level is normal. */
function enter(r: usize, value: f64, openLevel: f64, irregular: bool): void {
  const state = load<u32>(r, SR_STATE);
  const suspect = scoreConstant && abs(scoreRatio) > openLevel && (state & (STATE_OPEN | (STATE_OPEN << STATE_LOW_SHIFT))) == 0;
  setSuspects(r, suspect ? (scoreRatio > 0 ? FLAG_CONSTANT_SUSPECT_HIGH : FLAG_CONSTANT_SUSPECT_LOW) : 0);
  if ((state & (STATE_OPEN | (STATE_OPEN << STATE_LOW_SHIFT))) != 0) {
    const masked = load<u32>(r, SR_MASKED);
    if (masked >= min(MASKED_MAX, windowValues() >> 2)) return;
    store<u32>(r, masked + 1, SR_MASKED);
  } else if (suspect || (irregular && isOutside(value))) bound(r);
  else return;
  entersMasked = bounded(r, value) != value;
}

function setSuspects(r: usize, suspects: u32): void {
  const flags = load<u32>(r, SR_FLAGS);
  if ((flags & SUSPECTS) != suspects) store<u32>(r, (flags & ~SUSPECTS) | suspects, SR_FLAGS);
}

// @ts-ignore
@inline
function isOutside(value: f64): bool {
  return abs(value - scoreMean) > CLAMP_SD * scoreSd;
}

/** Bounds by the statistics as they stand: the constant itself, or mean +- 6 sd. */
function bound(r: usize): void {
  const width = scoreConstant ? 0 : CLAMP_SD * scoreSd;
  setBounds(r, scoreMean - width, scoreMean + width);
}

/** 5 bits of exponent and 3 of mantissa, rounded down, from 1 to 2^32. */
function minifloat(ratio: f64): u32 {
  const top = <i32>(reinterpret<u32>(<f32>ratio) >> 20) - 0x3f8;
  return <u32>min(max(top, 0), STATE_REPORTED_MASK);
}

function fromMinifloat(code: u32): f64 {
  return <f64>reinterpret<f32>((code + 0x3f8) << 20);
}
