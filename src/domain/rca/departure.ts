// How far a series has left what it was: its largest deviation since the onset, held against the largest of each window before. Of a history that is too short for
// such windows it is the shift of medians (median-shift.ts).
// The scale is ln(1 + |z|), whose spread over quiet windows is nearly the same for light and for heavy tails, so that series can be compared.
// Two ways to deviate, of which the smaller counts: from the mean of all windows (level), and from the value just before the window (change): a slow drift
// has a level and no change, a noisy series a change and no level. About 1 us for 120 values.
import { SD_MIN, SD_RELATIVE_MIN } from "../../core/layout/sd-floors.ts";
import type { Departure } from "./evidence.ts";
import { medianShift, PAST_VALUES_MIN, USUAL_SPREAD, Z_OF_CONSTANT } from "./median-shift.ts";

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
const WINDOWS_HELD = 64;
const HELD = [new Float32Array(WINDOWS_HELD), new Float32Array(WINDOWS_HELD)] as const;

/** Values by window, missing ones NaN. */
export interface SeriesWindows {
  /** The history has room for few windows like the one since: all that is before is one sample, all since another. */
  readonly isShort: boolean;
  readonly width: number;
  /** Windows before, one after another. */
  readonly past: Float64Array;
  /** The value before each window, NaN where unknown. */
  readonly pastLeads: Float64Array;
  readonly now: Float64Array;
  readonly nowLead: number;
}

/** Whether a series with so many values before the onset has no departure, whatever they are. */
export function isTooYoung(valuesBefore: number): boolean {
  return valuesBefore < PAST_VALUES_MIN;
}

/** The departure; undefined where there is too little before or nothing since. */
export function departureOf(cut: SeriesWindows): Departure | undefined {
  return cut.isShort ? medianShift(cut.past, cut.now) : largestDeviation(cut);
}

function largestDeviation({ width, past, pastLeads, now, nowLead }: SeriesWindows): Departure | undefined {
  const { mean, sd, count } = momentsOf(past);
  const windows = pastLeads.length;
  if (count < 2 * WINDOWS_MIN || windows < WINDOWS_MIN) return undefined;
  const scale = Math.max(sd, SD_MIN, SD_RELATIVE_MIN * Math.abs(mean));
  const isConstant = sd <= SD_MIN;
  const [levels, changes] = windows <= WINDOWS_HELD ? HELD : [new Float32Array(windows), new Float32Array(windows)];
  for (let i = 0; i < windows; i++) {
    levels[i] = peakOf(past, i * width, width, mean, scale, isConstant);
    changes[i] = peakOf(past, i * width, width, pastLeads[i]!, scale, isConstant);
  }
  const level = peakOf(now, 0, now.length, mean, scale, isConstant);
  if (Number.isNaN(level)) return undefined;
  const change = peakOf(now, 0, now.length, nowLead, scale, isConstant);
  const levelScale = isConstant ? USUAL_SCALE : spreadOf(levels, windows);
  const changeScale = isConstant ? USUAL_SCALE : spreadOf(changes, windows);
  const noveltyOf = (ofLevel: number, ofChange: number) => {
    const byLevel = (ofLevel - levelScale.mean) / levelScale.spread;
    const byChange = Number.isNaN(ofChange) ? byLevel : (ofChange - changeScale.mean) / changeScale.spread;
    return Number.isNaN(byLevel) ? 0 : Math.max(0, Math.min(byLevel, byChange));
  };
  const usual = new Float32Array(windows);
  for (let i = 0; i < windows; i++) usual[i] = noveltyOf(levels[i]!, changes[i]!);
  const { peak, peakAt, onsetAt } = placesOf(now, mean);
  const shift = Math.max(-Z_MAX, Math.min(Z_MAX, (momentsOf(now).mean - mean) / scale));
  return { mean, sd: scale, peak, peakAt, onsetAt, novelty: noveltyOf(level, change), shift, past: usual };
}

/** In two passes without a division a value: a third of what running moments take. */
function momentsOf(values: Float64Array | Float32Array, length = values.length): { mean: number; sd: number; count: number } {
  let count = 0;
  let sum = 0;
  for (let i = 0; i < length; i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) continue;
    count++;
    sum += value;
  }
  const mean = count === 0 ? 0 : sum / count;
  let squares = 0;
  for (let i = 0; i < length; i++) {
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
  const { mean, sd, count } = momentsOf(peaks, windows);
  return count < WINDOWS_MIN ? { mean: USUAL_PEAK, spread: USUAL_SPREAD } : { mean, spread: Math.max(SPREAD_MIN, sd) };
}

function placesOf(now: Float64Array, mean: number): { peak: number; peakAt: number; onsetAt: number } {
  let peakAt = 0;
  let off = -1;
  for (let i = 0; i < now.length; i++) {
    const away = Math.abs(now[i]! - mean);
    if (away > off) {
      off = away;
      peakAt = i;
    }
  }
  let onsetAt = 0;
  while (onsetAt < peakAt && !(Math.abs(now[onsetAt]! - mean) >= off / 2)) onsetAt++;
  return { peak: now[peakAt]!, peakAt, onsetAt };
}
