// How far a series has left what it was: its largest deviation since the onset, held against the largest of each window before. Of a history that is too short for
// such windows it is the shift of medians (median-shift.ts).
// The scale is ln(1 + |z|), whose spread over quiet windows is nearly the same for light and for heavy tails, so that series can be compared.
// Two ways to deviate, of which the smaller counts: from the mean of all windows (level), and from the value just before the window (change): a slow drift
// has a level and no change, a noisy series a change and no level. About 1 us for 120 values.
import { SD_MIN, SD_RELATIVE_MIN } from "../../core/layout/sd-floors.ts";
import type { Departure } from "./evidence.ts";
import { medianShift, newFloats, PAST_VALUES_MIN, USUAL_SPREAD, Z_OF_CONSTANT } from "./median-shift.ts";

/** Fewer windows say nothing of what is usual. */
const WINDOWS_MIN = 6;
/** Least spread, usual peak and usual spread of ln(1 + |z|): of normal values in windows of five it is .85 with a spread of .2. */
const SPREAD_MIN = 0.15;
const USUAL_PEAK = 0.85;
/** Windows of so many values are looked at by pairs of neighbours. */
const PAIRS_WIDTH_MIN = 8;
/** Of a series that never changed nothing is known of what it usually does. */
const USUAL_SCALE = { mean: USUAL_PEAK, spread: USUAL_SPREAD };
/** A deviation beyond so many standard deviations says no more. */
const Z_MAX = 100;

/** Peaks of the windows at hand, so that a series makes no arrays of its own for them. */
const WINDOWS_BUFFERED = 64;
const BUFFERS = [new Float32Array(WINDOWS_BUFFERED), new Float32Array(WINDOWS_BUFFERED)] as const;

/** Values by window, missing ones NaN. */
export interface SeriesWindows {
  /** The history has room for few windows like the one since: all that is before is one sample, all since another. */
  readonly isShort: boolean;
  readonly width: number;
  /** Windows before lie one after another between `from` and `start`, the one since between `start` and `end`. */
  readonly values: Float64Array;
  readonly from: number;
  readonly start: number;
  readonly end: number;
  /** The value before each window, NaN where unknown. */
  readonly pastLeads: Float64Array;
  readonly nowLead: number;
}

/** Whether a series with so many values before the onset has no departure, whatever they are. */
export function isTooYoung(valuesBefore: number): boolean {
  return valuesBefore < PAST_VALUES_MIN;
}

/** The departure; undefined where there is too little before or nothing since. `floatsOf` gives the array that its past is written into: a new one unless given. */
export function departureOf(cut: SeriesWindows, floatsOf?: (length: number) => Float32Array): Departure | undefined {
  return cut.isShort ? medianShift(cut.values, cut.from, cut.start, cut.end, floatsOf) : largestDeviation(cut, floatsOf);
}

function largestDeviation(
  { width, values, from, start, end, pastLeads, nowLead }: SeriesWindows,
  floatsOf: (length: number) => Float32Array = newFloats,
): Departure | undefined {
  const { mean, sd, count } = momentsOf(values, from, start);
  const windows = pastLeads.length;
  if (count < 2 * WINDOWS_MIN || windows < WINDOWS_MIN) return undefined;
  const scale = Math.max(sd, SD_MIN, SD_RELATIVE_MIN * Math.abs(mean));
  const isConstant = sd <= SD_MIN;
  const [levels, changes] = windows <= WINDOWS_BUFFERED ? BUFFERS : [new Float32Array(windows), new Float32Array(windows)];
  for (let i = 0; i < windows; i++) {
    levels[i] = peakOf(values, from + i * width, width, mean, scale, isConstant);
    changes[i] = peakOf(values, from + i * width, width, pastLeads[i]!, scale, isConstant);
  }
  const level = peakOf(values, start, end - start, mean, scale, isConstant);
  if (Number.isNaN(level)) return undefined;
  const change = peakOf(values, start, end - start, nowLead, scale, isConstant);
  const levelScale = isConstant ? USUAL_SCALE : spreadOf(levels, windows);
  const changeScale = isConstant ? USUAL_SCALE : spreadOf(changes, windows);
  const noveltyOf = (ofLevel: number, ofChange: number) => {
    const byLevel = (ofLevel - levelScale.mean) / levelScale.spread;
    const byChange = Number.isNaN(ofChange) ? byLevel : (ofChange - changeScale.mean) / changeScale.spread;
    return Number.isNaN(byLevel) ? 0 : Math.max(0, Math.min(byLevel, byChange));
  };
  const usual = floatsOf(windows);
  for (let i = 0; i < windows; i++) usual[i] = noveltyOf(levels[i]!, changes[i]!);
  const { peak, peakAt, onsetAt } = placesOf(values, start, end, mean);
  const shift = Math.max(-Z_MAX, Math.min(Z_MAX, (momentsOf(values, start, end).mean - mean) / scale));
  return { mean, sd: scale, peak, peakAt, onsetAt, novelty: noveltyOf(level, change), shift, past: usual };
}

/** In two passes without a division a value: a third of what running moments take. */
function momentsOf(values: Float64Array | Float32Array, from: number, end: number): { mean: number; sd: number; count: number } {
  let count = 0;
  let sum = 0;
  for (let i = from; i < end; i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) continue;
    count++;
    sum += value;
  }
  const mean = count === 0 ? 0 : sum / count;
  let squares = 0;
  for (let i = from; i < end; i++) {
    const off = values[i]! - mean;
    if (!Number.isNaN(off)) squares += off * off;
  }
  return { mean, sd: count > 1 ? Math.sqrt(squares / (count - 1)) : 0, count };
}

/**
 * ln(1 + |z|) of the value farthest from a centre, in a window of many values of the two neighbours that are farthest together: one value alone is an outlier there.
 * NaN where nothing is known.
 */
function peakOf(values: Float64Array, from: number, width: number, centre: number, scale: number, isConstant: boolean): number {
  let peak = Number.NaN;
  let before = Number.NaN;
  const isByPairs = width >= PAIRS_WIDTH_MIN;
  for (let i = from; i < from + width; i++) {
    const away = values[i]! - centre;
    if (Number.isNaN(away)) continue;
    const off = isByPairs ? Math.abs(away + before) / 2 : Math.abs(away);
    before = away;
    if (!(off <= peak)) peak = Number.isNaN(off) ? peak : off;
  }
  const z = isConstant ? Math.min(Z_OF_CONSTANT, peak / scale) : Math.min(Z_MAX, peak / scale);
  return Math.log1p(z);
}

function spreadOf(peaks: Float32Array, windows: number): { mean: number; spread: number } {
  const { mean, sd, count } = momentsOf(peaks, 0, windows);
  return count < WINDOWS_MIN ? { mean: USUAL_PEAK, spread: USUAL_SPREAD } : { mean, spread: Math.max(SPREAD_MIN, sd) };
}

/** The value farthest from the mean, and indexes from `start` on: its own, and that of the first that is half as far. */
function placesOf(values: Float64Array, start: number, end: number, mean: number): { peak: number; peakAt: number; onsetAt: number } {
  let peakAt = start;
  let off = -1;
  for (let i = start; i < end; i++) {
    const away = Math.abs(values[i]! - mean);
    if (away > off) {
      off = away;
      peakAt = i;
    }
  }
  let onsetAt = start;
  while (onsetAt < peakAt && !(Math.abs(values[onsetAt]! - mean) >= off / 2)) onsetAt++;
  return { peak: values[peakAt]!, peakAt: peakAt - start, onsetAt: onsetAt - start };
}
