// Scoring and the two episodes, high and low, of a stream. Sketch: most samples of a quiet stream end in isQuiet(), a few multiplications;
// only what is near the threshold, or follows an excursion within two samples, or has an episode open comes to judge().
//
// Declared: over OPEN in two of the last three samples, or over STRONG once. After a gap or a counter reset once is not enough. A series
// whose window is constant has no standard deviation: a departure counts as z of at most 10 and has to be seen twice in a row. Tables in which STRONG is
// OPEN ask for no confirmation: over OPEN once is declared, after a gap and out of a constant window too, but never what a reset covers.
// A value that is far out waits beside the window for the next two, which it agrees with (declared) or does not (all enter). While an episode is open the
// window stays what it was (shard-apart.ts): the episode ends by five values near that, or, once it has lasted, as the new level, with which the window begins anew.
import { SD_MIN, SD_RELATIVE_MIN } from "../../../../core/layout/sd-floors";
import {
  ACCEPTED_MS, ACCEPTED_VALUES, EXTREME_MOVE, EXTREME_SD, EXTREME_VALUES, LASTING_BASELINE_VALUES, LASTING_MS, LASTING_VALUES, NOTHING_ACCEPTED_MS, NOTHING_DIVISOR,
  SCATTER_BASELINE_VALUES, SCATTER_SHARE,
} from "../../../../core/layout/episode-ends";
import {
  EVENT_CLOSE, EVENT_EXCURSION, EVENT_FLAG_ACCEPTED, EVENT_FLAG_AFTER_GAP, EVENT_FLAG_CONSTANT, EVENT_FLAG_HIGH, EVENT_FLAG_LASTING, EVENT_FLAG_RESET, EVENT_FLAG_STRONG, EVENT_OPEN,
  EVENT_UPDATE, TABLE_COLUMN_Z, TABLE_COLUMNS, TABLE_LEVEL_CLEAR, TABLE_LEVEL_OPEN, TABLE_LEVEL_SEVERE, TABLE_LEVEL_STRONG, TABLE_MATURITY_BYTES, TABLE_PROFILE_BYTES,
} from "../../../../core/layout/kernel-event";
import { THRESHOLD_TABLES } from "../../../../core/layout/memory-map";
import { MATURE_FROM_MS, MATURITY_MATURE, MATURITY_SETTLING, MATURITY_YOUNG, SERVICE_HOUR_MS, SETTLING_FROM_MS } from "../../../../core/layout/service-age";
import {
  BEYOND_REPORTED, FLAG_ACCEPT, FLAG_ACCEPTED, FLAG_CONSTANT_SUSPECT_HIGH, FLAG_CONSTANT_SUSPECT_LOW, FLAG_OPERATION, FLAG_PROFILE_MASK, FLAG_PROFILE_SHIFT,
  FLAG_SERVICE_HOURS_MASK, FLAG_SERVICE_HOURS_SHIFT, FLAG_WAY_BACK,
  SR_BEHIND, SR_BEYOND, SR_BEYOND_SINCE, SR_CLAMP_HIGH, SR_CLAMP_LOW, SR_COUNT, SR_FIRST_TIME, SR_FLAGS, SR_HEAD, SR_LAST_TIME, SR_M2, SR_MEAN, SR_PEAK_HIGH, SR_PEAK_LOW,
  SR_PENDING, SR_PIVOT, SR_RESOLUTION, SR_START_HIGH, SR_START_LOW, SR_STATE, STATE_BELOW_MASK,
  STATE_BELOW_SHIFT, STATE_LOW_SHIFT, STATE_OPEN, STATE_OUT_MASK, STATE_OUT_SHIFT, STATE_REPORTED_MASK, STATE_REPORTED_SHIFT, STATE_SEVERE,
  WINDOW_MAX,
} from "../../../../core/layout/stream-record";
import {
  BEGINS_ANEW, coveredValues, ENTERS, freeze, goBack, GOES_ON, hasOpenEpisode, isApart, setUsualRange, levelBehind, PENDING_MAX, setFlags, STAYS_OUT, unjudgedFate, WAITS,
} from "./shard-apart";
import { countClosing, countExcursion, countOpening, emit } from "./shard-event";
import { intervalsOf } from "./shard-table";
import { bounded, effectiveBefore, limited, newestEffective, setBounds, windowValues } from "./shard-statistics";

const LEVEL_BYTES: usize = TABLE_COLUMNS * 8;
/** FLAG_OPERATION, moved by this, is the bytes of a set; the profile in the flags, moved by that, the bytes of the profiles before. */
const OPERATION_TO_SET: u32 = 11;
const PROFILE_TO_BYTES: u32 = 3;
if (<u32>FLAG_OPERATION << OPERATION_TO_SET != 4 * <u32>LEVEL_BYTES || 1 << <u32>FLAG_PROFILE_SHIFT >> PROFILE_TO_BYTES != <u32>TABLE_PROFILE_BYTES)
  ERROR("flags do not lead to the tables");
export const SUSPECTS: u32 = FLAG_CONSTANT_SUSPECT_HIGH | FLAG_CONSTANT_SUSPECT_LOW;
const DIRECTION_MASK: u32 = 0xffff;

/** Rounding to steps of 1 has this standard deviation: 1 / sqrt(12). */
const STEP_SD: f64 = 0.28867513459481287;
const CONSTANT_RELATIVE_MIN: f64 = 0.01;
const CONSTANT_Z_MAX: f64 = 10;
const RATIO_MAX: f64 = 1e9;
const CLEAR_EVALUATIONS: u32 = 5;
const CLAMP_SD: f64 = 6;
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
/** The value is what was usual before the level that was accepted. */
let isUsualBefore: bool = false;
/** How the judged value is to be entered: clamped, and what becomes of it (shard-apart.ts). */
export let entersMasked: bool = false;
export let fate: u32 = ENTERS;
/** The value left a constant series: its step says nothing about the resolution. */
export let departsConstant: bool = false;

// @ts-ignore
@inline
function tableOf(r: usize, time: f64): usize {
  const flags = load<u32>(r, SR_FLAGS);
  const profile = (flags & FLAG_PROFILE_MASK) >> PROFILE_TO_BYTES;
  return <usize>THRESHOLD_TABLES + maturityOf(r, flags, time) * <usize>TABLE_MATURITY_BYTES + ((flags & FLAG_OPERATION) << OPERATION_TO_SET) + profile;
}

/** The maturity of the stream's service at a sample's time, by what its record says alone. */
// @ts-ignore
@inline
function maturityOf(r: usize, flags: u32, time: f64): usize {
  const before = ((flags & FLAG_SERVICE_HOURS_MASK) >> FLAG_SERVICE_HOURS_SHIFT) * SERVICE_HOUR_MS;
  const age = time - load<f64>(r, SR_FIRST_TIME) + <f64>before;
  if (age >= <f64>MATURE_FROM_MS) return MATURITY_MATURE;
  return age < <f64>SETTLING_FROM_MS ? MATURITY_YOUNG : MATURITY_SETTLING;
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

/** Ratio over which an episode may open at a time, of a window of `n` values; Infinity where nothing is judged. It does not fall with time. */
// @ts-ignore
@inline
export function openLevel(r: usize, n: u32, time: f64): f64 {
  return level(tableOf(r, time), TABLE_LEVEL_OPEN, n);
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
export function isQuiet(r: usize, time: f64, scored: f64): bool {
  if ((load<u32>(r, SR_STATE) | (load<u32>(r, SR_FLAGS) & (SUSPECTS | FLAG_WAY_BACK))) != 0) return false;
  const n = coveredValues(r);
  const open = openLevel(r, n, time);
  if (open == Infinity) return true;
  const m2 = load<f64>(r, SR_M2);
  if (m2 == 0) return scored == load<f64>(r, SR_PIVOT) && load<f64>(r, SR_MEAN) == 0;
  const mean = load<f64>(r, SR_MEAN), pivot = load<f64>(r, SR_PIVOT);
  const d = limited(scored) - pivot - mean;
  const floor = floorSd(r, pivot + mean);
  const k = <f64>(n - 1);
  return d * d * k < quietFactor(open) * max(m2, floor * floor * k);
}

/** Scores a value against the window before it and moves both episodes; sets entersMasked, fate and departsConstant. */
export function judge(r: usize, slot: u32, time: f64, scored: f64, stored: f64, flags: u32, irregular: bool, arrivalMs: f64): void {
  const n = coveredValues(r);
  const table = tableOf(r, time);
  entersMasked = false;
  departsConstant = false;
  fate = unjudgedFate(r);
  if (level(table, TABLE_LEVEL_OPEN, n) == Infinity) {
    // Only after a shrunk window or raised minimum: an episode stays as it is until there is a baseline again.
    return;
  }
  score(r, limited(scored), n);
  if (scoreConstant) flags |= EVENT_FLAG_CONSTANT;
  const column = scoreConstant ? <u32>TABLE_COLUMN_Z : n;
  const suspects = load<u32>(r, SR_FLAGS) & SUSPECTS;
  const openLevel = level(table, TABLE_LEVEL_OPEN, column), wasOpen = hasOpenEpisode(r);
  isUsualBefore = abs(scoreRatio) > openLevel && isUsual(r, limited(scored));
  move(r, slot, time, scored, scoreRatio, table, column, flags | EVENT_FLAG_HIGH, (suspects & FLAG_CONSTANT_SUSPECT_HIGH) != 0, arrivalMs);
  move(r, slot, time, scored, -scoreRatio, table, column, flags, (suspects & FLAG_CONSTANT_SUSPECT_LOW) != 0, arrivalMs);
  const isOpen = hasOpenEpisode(r);
  if (!isOpen) fate = wasOpen ? GOES_ON : closedFate(r, limited(stored), openLevel, level(table, TABLE_LEVEL_STRONG, column), irregular);
  else {
    setSuspects(r, 0);
    if (!wasOpen) freeze(r);
    fate = STAYS_OUT;
    if (wasOpen && (accepts(r, slot, time, table, column, flags, arrivalMs) || widens(r, slot, time, scored, table, column, flags, arrivalMs))) fate = BEGINS_ANEW;
  }
}

/** Whether the value is what was usual before the level that was accepted. */
// @ts-ignore
@inline
function isUsual(r: usize, value: f64): bool {
  return (load<u32>(r, SR_FLAGS) & FLAG_ACCEPTED) != 0 && value >= load<f64>(r, SR_CLAMP_LOW) && value <= load<f64>(r, SR_CLAMP_HIGH);
}

function score(r: usize, value: f64, n: u32): void {
  const pivot = load<f64>(r, SR_PIVOT), mean = load<f64>(r, SR_MEAN), m2 = load<f64>(r, SR_M2);
  scoreCount = n;
  scoreConstant = m2 == 0;
  if (scoreConstant) {
    scoreMean = isApart(r) ? pivot + mean : newestEffective(r);
    scoreRawSd = 0;
    scoreSd = floorSd(r, scoreMean);
    const departure = value - scoreMean;
    departsConstant = abs(departure) > departureMin(r);
    scoreRatio = departsConstant ? min(max(departure / scoreSd, -CONSTANT_Z_MAX), CONSTANT_Z_MAX) : 0;
    return;
  }
  scoreMean = pivot + mean;
  scoreRawSd = sqrt(m2 / <f64>(n - 1));
  scoreSd = max(scoreRawSd, floorSd(r, scoreMean));
  scoreRatio = min(max((value - pivot - mean) / scoreSd, -RATIO_MAX), RATIO_MAX);
}

/** What a value has to leave a constant window by. */
function departureMin(r: usize): f64 {
  return max(max(SD_MIN, CONSTANT_RELATIVE_MIN * abs(scoreMean)), load<f64>(r, SR_RESOLUTION));
}

/** One direction: `ratio` is positive outwards. */
function move(
  r: usize, slot: u32, time: f64, value: f64, ratio: f64, table: usize, column: u32, flags: u32, suspected: bool, arrivalMs: f64,
): void {
  const high = (flags & EVENT_FLAG_HIGH) != 0;
  const shift = high ? 0 : STATE_LOW_SHIFT;
  let state = (load<u32>(r, SR_STATE) >> shift) & DIRECTION_MASK;
  const over = !isUsualBefore && ratio > level(table, TABLE_LEVEL_OPEN, column);
  if (over) countBeyond(r, time, ((state >> STATE_OUT_SHIFT) & 1) != 0);
  const out = (((state >> STATE_OUT_SHIFT) << 1) | (over ? 1 : 0)) & STATE_OUT_MASK;
  state = (state & ~(<u32>STATE_OUT_MASK << STATE_OUT_SHIFT)) | (out << STATE_OUT_SHIFT);
  if (ratio > level(table, TABLE_LEVEL_STRONG, column)) flags |= EVENT_FLAG_STRONG;
  const severe = ratio > level(table, TABLE_LEVEL_SEVERE, column);
  if ((state & STATE_OPEN) != 0) state = advance(r, slot, time, value, ratio, state, severe, ratio < level(table, TABLE_LEVEL_CLEAR, column), flags, arrivalMs);
  else if (over) {
    if (isDeclared(out, flags, suspected, isLiteral(table, column))) state = open(r, slot, time, value, ratio, state, severe, startOf(r, time, out), flags, arrivalMs);
    else excursion(slot, time, value, ratio, flags, arrivalMs);
  }
  store<u32>(r, (load<u32>(r, SR_STATE) & ~(DIRECTION_MASK << shift)) | (state << shift), SR_STATE);
}

/** Counts the values in a row that are over on one side; `goesOn` says that the one before was. */
function countBeyond(r: usize, time: f64, goesOn: bool): void {
  const beyond = <u32>load<u8>(r, SR_BEYOND);
  if (beyond == BEYOND_REPORTED) return;
  store<u8>(r, goesOn ? min(beyond + 1, BEYOND_REPORTED - 1) : 1, SR_BEYOND);
  if (!goesOn) store<f64>(r, time, SR_BEYOND_SINCE);
}

/** Whether the values have stayed over for as long as a hold may last, and nobody was told so of the episode. */
function stays(r: usize, time: f64): bool {
  const beyond = <u32>load<u8>(r, SR_BEYOND);
  if (beyond < <u32>LASTING_VALUES || beyond == <u32>BEYOND_REPORTED) return false;
  return time - load<f64>(r, SR_BEYOND_SINCE) >= <f64>LASTING_MS;
}

/** Whether no hold waits for more values: they stay over what a window knows, or some in a row are so far out. Few values have to be both that were hardly more than nothing. */
function isLasting(r: usize, time: f64, value: f64, ratio: f64, flags: u32): bool {
  if (scoreCount < <u32>LASTING_BASELINE_VALUES) return isExtreme(r, value, ratio, flags) && (stays(r, time) || 2 * abs(scoreMean) > scoreSd);
  return stays(r, time) || isExtreme(r, value, ratio, flags);
}

/** Whether values in a row are many times the usual, and nobody was told so of the episode. */
function isExtreme(r: usize, value: f64, ratio: f64, flags: u32): bool {
  const beyond = <u32>load<u8>(r, SR_BEYOND);
  if (beyond < <u32>EXTREME_VALUES || beyond == <u32>BEYOND_REPORTED || (flags & EVENT_FLAG_RESET) != 0) return false;
  return ratio >= <f64>EXTREME_SD && abs(value - scoreMean) >= <f64>EXTREME_MOVE * abs(scoreMean);
}

/** Whether one value over the threshold is enough (WATCHDOG_CONFIRMATION is off). */
// @ts-ignore
@inline
function isLiteral(table: usize, column: u32): bool {
  return level(table, TABLE_LEVEL_STRONG, column) == level(table, TABLE_LEVEL_OPEN, column);
}

function isDeclared(out: u32, flags: u32, suspected: bool, literal: bool): bool {
  if ((flags & EVENT_FLAG_RESET) != 0) return false;
  if (literal) return true;
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
  if (load<u8>(r, SR_BEYOND) == BEYOND_REPORTED) {
    store<u8>(r, 1, SR_BEYOND);
    store<f64>(r, time, SR_BEYOND_SINCE);
  }
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
    store<u8>(r, 0, SR_BEYOND);
    report(EVENT_CLOSE, slot, time, value, ratio, start, peak, flags, arrivalMs);
    return state & (<u32>STATE_OUT_MASK << STATE_OUT_SHIFT);
  }
  const reported = (state >> STATE_REPORTED_SHIFT) & STATE_REPORTED_MASK;
  const grew = ratio > GROWTH_REPORTED * fromMinifloat(reported) && minifloat(ratio) > reported;
  const firstSevere = severe && (state & STATE_SEVERE) == 0;
  state = (state & ~(<u32>STATE_BELOW_MASK << STATE_BELOW_SHIFT)) | (belowCount << STATE_BELOW_SHIFT);
  const hasLasted = ratio > 0 && isLasting(r, time, value, ratio, flags);
  if (hasLasted) store<u8>(r, BEYOND_REPORTED, SR_BEYOND);
  if (grew || firstSevere || hasLasted) {
    report(EVENT_UPDATE, slot, time, value, ratio, start, peak, hasLasted ? flags | EVENT_FLAG_LASTING : flags, arrivalMs);
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

/** Ends what is open as the new level, once it has lasted or somebody takes it for the usual one, and the value is not near what was usual. */
function accepts(r: usize, slot: u32, time: f64, table: usize, column: u32, flags: u32, arrivalMs: f64): bool {
  if (abs(scoreRatio) < level(table, TABLE_LEVEL_CLEAR, column)) return false;
  const to = levelBehind(r, scoreMean);
  if ((load<u32>(r, SR_FLAGS) & FLAG_ACCEPT) == 0 && !hasStayed(r, time, to)) return false;
  endBoth(r, slot, time, to, flags | EVENT_FLAG_ACCEPTED, arrivalMs);
  const width = scoreConstant ? departureMin(r) : level(table, TABLE_LEVEL_STRONG, column) * scoreSd;
  setUsualRange(r, scoreMean - width, scoreMean + width);
  return true;
}

/** Whether what is open has lasted for so long that nobody has to say that it is the new level: `to` is its mean. */
function hasStayed(r: usize, time: f64, to: f64): bool {
  const lasted = lastedMs(r, time);
  if (<u32>load<u8>(r, SR_BEHIND) < <u32>ACCEPTED_VALUES || !(lasted >= <f64>ACCEPTED_MS)) return false;
  return abs(to) * <f64>NOTHING_DIVISOR > abs(scoreMean) || lasted >= <f64>NOTHING_ACCEPTED_MS;
}

/** Since when the longer of the open episodes lasts. */
function lastedMs(r: usize, time: f64): f64 {
  const state = load<u32>(r, SR_STATE);
  const high = (state & STATE_OPEN) != 0 ? time - load<f64>(r, SR_START_HIGH) : 0;
  const low = ((state >> STATE_LOW_SHIFT) & STATE_OPEN) != 0 ? time - load<f64>(r, SR_START_LOW) : 0;
  return max(high, low);
}

/** Ends what is open at a value that is near what was usual, where those since scatter about a window of few: that was too narrow, and nothing has shifted. */
function widens(r: usize, slot: u32, time: f64, value: f64, table: usize, column: u32, flags: u32, arrivalMs: f64): bool {
  if (!(abs(scoreRatio) < level(table, TABLE_LEVEL_CLEAR, column)) || !scatters(r)) return false;
  endBoth(r, slot, time, value, flags, arrivalMs);
  return true;
}

function scatters(r: usize): bool {
  const behind = <u32>load<u8>(r, SR_BEHIND);
  if (scoreConstant || scoreCount >= <u32>SCATTER_BASELINE_VALUES || behind < max(scoreCount, <u32>ACCEPTED_VALUES)) return false;
  const n = min(min(behind, windowValues()), load<u32>(r, SR_COUNT));
  let above: u32 = 0, under: u32 = 0;
  for (let back: u32 = 0; back < n; back++) {
    const off = effectiveBefore(r, back) - scoreMean;
    if (off > scoreSd / 2) above++;
    else if (off < -scoreSd / 2) under++;
  }
  return min(above, under) * <u32>SCATTER_SHARE >= n;
}

/** Ends the episodes of both directions that are open. */
function endBoth(r: usize, slot: u32, time: f64, value: f64, flags: u32, arrivalMs: f64): void {
  end(r, slot, time, value, 0, flags | EVENT_FLAG_HIGH, arrivalMs);
  end(r, slot, time, value, STATE_LOW_SHIFT, flags, arrivalMs);
  store<u8>(r, 0, SR_BEYOND);
}

/** Ends the episode of a direction, if it is open, with a value or the mean of the new level. */
function end(r: usize, slot: u32, time: f64, to: f64, shift: u32, flags: u32, arrivalMs: f64): void {
  const state = load<u32>(r, SR_STATE);
  if (((state >> shift) & STATE_OPEN) == 0) return;
  const isHigh = (flags & EVENT_FLAG_HIGH) != 0;
  const start = isHigh ? load<f64>(r, SR_START_HIGH) : load<f64>(r, SR_START_LOW);
  const peak = <f64>(isHigh ? load<f32>(r, SR_PEAK_HIGH) : load<f32>(r, SR_PEAK_LOW));
  countClosing();
  report(EVENT_CLOSE, slot, time, to, isHigh ? scoreRatio : -scoreRatio, start, peak, flags, arrivalMs);
  store<u32>(r, state & ~(DIRECTION_MASK << shift), SR_STATE);
}

/** What becomes of a value while no episode is open. */
function closedFate(r: usize, value: f64, openLevel: f64, strongLevel: f64, irregular: bool): u32 {
  if (isUsualBefore) return wayBackFate(r, strongLevel);
  setFlags(r, 0, FLAG_WAY_BACK);
  const suspect = scoreConstant && abs(scoreRatio) > openLevel;
  setSuspects(r, suspect ? (scoreRatio > 0 ? FLAG_CONSTANT_SUSPECT_HIGH : FLAG_CONSTANT_SUSPECT_LOW) : 0);
  if (suspect || (irregular && isOutside(value))) {
    bound(r);
    entersMasked = bounded(r, value) != value;
    return ENTERS;
  }
  return load<u32>(r, SR_STATE) != 0 && !scoreConstant && load<u8>(r, SR_PENDING) < PENDING_MAX ? WAITS : ENTERS;
}

/** Two in a row of what was usual before an accepted level are the way back to it, which is no news. */
function wayBackFate(r: usize, strongLevel: f64): u32 {
  setSuspects(r, 0);
  if ((load<u32>(r, SR_FLAGS) & FLAG_WAY_BACK) == 0) {
    setFlags(r, FLAG_WAY_BACK, 0);
    return load<u8>(r, SR_PENDING) < PENDING_MAX ? WAITS : ENTERS;
  }
  goBack(r, strongLevel);
  return GOES_ON;
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

/** Bounds by the statistics as they stand: the constant itself, or mean +- 6 sd. They take the place of what was usual before an accepted level. */
function bound(r: usize): void {
  setFlags(r, 0, FLAG_ACCEPTED);
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
