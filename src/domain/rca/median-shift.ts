// The departure of a series with a short history: how far the median of what came since has shifted from that of what was before, in robust standard deviations.
// No outlier moves it, and no bound makes two large ones equal; but a short peak is not seen, so where history is long the largest deviation counts (departure.ts).
// About 2 us for 60 values.
import { selectIndex } from "../../core/collections/selection.ts";
import { SD_MIN } from "../../core/layout/sd-floors.ts";
import { MAD_TO_SD, SD_PER_MEAN_DEVIATION } from "../detection/robust.ts";
import type { Departure } from "./evidence.ts";

/** Fewer values before say nothing of what is usual. */
export const PAST_VALUES_MIN = 6;
/** Windows of the past that are compared with all of it. */
const PAST_WINDOWS = 12;
/** From so many values on a window has three. */
const THREES_MIN = 36;
/** Shift and spread of ln(1 + |z|) that medians of a few values have by chance, somewhat more than of normal ones. */
const USUAL_SHIFT = 0.5;
export const USUAL_SPREAD = 0.3;
/** |z| whose ln(1 + |z|) is below the usual shift, so that its novelty is 0 without a logarithm: half of all that is looked at. */
const USUAL_Z = 0.648;
/** From here on a series has departed. */
const DEPARTED_MIN = 5;
const SHIFT_SD_RELATIVE_MIN = 5e-3;
/** Standard deviations by which a value that leaves a constant is away. */
export const Z_OF_CONSTANT = 20;
const SHIFT_MAX = 100;

/** Numbers at hand, so that a series makes no arrays of its own for them. */
const VALUES_BUFFERED = 1_024;
const BUFFERS = [new Float64Array(VALUES_BUFFERED), new Float64Array(VALUES_BUFFERED)] as const;

/** The departure of the values from `start` to `end` from those between `from` and `start`; undefined where there is too little before or nothing since. */
export function medianShift(
  values: Float64Array,
  from: number,
  start: number,
  end: number,
  floatsOf: (length: number) => Float32Array = newFloats,
): Departure | undefined {
  const fits = end - from <= VALUES_BUFFERED;
  const before = fits ? BUFFERS[0] : new Float64Array(start - from);
  const work = fits ? BUFFERS[1] : new Float64Array(end - from);
  const count = copyKnown(values, from, start, before);
  if (count < PAST_VALUES_MIN) return undefined;
  // What grows is further on in the later half.
  const inLaterHalf = copyKnown(values, start + ((end - start) >> 1), end, work) || copyKnown(values, start, end, work);
  if (inLaterHalf === 0) return undefined;
  const later = selectIndex(work, inLaterHalf, inLaterHalf >> 1);
  for (let i = 0; i < count; i++) work[i] = before[i]!;
  const centre = selectIndex(work, count, count >> 1);
  let deviations = 0;
  for (let i = 0; i < count; i++) {
    work[i] = Math.abs(before[i]! - centre);
    deviations += work[i]!;
  }
  const meanDeviation = deviations / count;
  const mad = selectIndex(work, count, count >> 1);
  const isConstant = meanDeviation <= SD_MIN;
  const spread = mad > 0 ? MAD_TO_SD * mad : SD_PER_MEAN_DEVIATION * meanDeviation;
  const scale = Math.max(spread, SD_MIN, SHIFT_SD_RELATIVE_MIN * Math.abs(centre));
  const shift = Math.max(-SHIFT_MAX, Math.min(SHIFT_MAX, (later - centre) / scale));
  // What had departed before counts by how much farther it went.
  const recent = middleOf(before[count - 3]!, before[count - 2]!, before[count - 1]!);
  const hadDeparted = noveltyOf(recent - centre, scale, isConstant) >= DEPARTED_MIN;
  const novelty = noveltyOf(later - (hadDeparted ? recent : centre), scale, isConstant);
  const usual = floatsOf(Math.min(PAST_WINDOWS, count));
  writeUsual(usual, before, count, centre, scale, isConstant);
  const peakAt = nearest(values, start, end, later);
  const onsetAt = halfWay(values, start, start + peakAt, centre, later);
  return { mean: centre, sd: scale, peak: later, peakAt, onsetAt, novelty, shift, past: usual };
}

/** The array that a departure keeps. */
export function newFloats(length: number): Float32Array {
  return new Float32Array(length);
}

/** Copies the values between two indexes that are known; how many they are. */
function copyKnown(values: Float64Array, from: number, end: number, into: Float64Array): number {
  let count = 0;
  for (let i = from; i < end; i++) if (!Number.isNaN(values[i]!)) into[count++] = values[i]!;
  return count;
}

function noveltyOf(off: number, scale: number, isConstant: boolean): number {
  const z = Math.abs(off) / scale;
  if (z < USUAL_Z) return 0;
  return Math.max(0, (Math.log1p(isConstant ? Math.min(Z_OF_CONSTANT, z) : z) - USUAL_SHIFT) / USUAL_SPREAD);
}

/** The same of windows of the past, by the middle one of three values in the middle of each. */
function writeUsual(usual: Float32Array, before: Float64Array, count: number, centre: number, scale: number, isConstant: boolean): void {
  const windows = usual.length;
  for (let i = 0; i < windows; i++) {
    const at = Math.floor(((i + 0.5) * count) / windows);
    const value = count < THREES_MIN ? before[at]! : middleOf(before[at - 1]!, before[at]!, before[at + 1] ?? before[at]!);
    usual[i] = noveltyOf(value - centre, scale, isConstant);
  }
}

function middleOf(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

/** Index, from `start` on, of the value nearest to the later median. */
function nearest(values: Float64Array, start: number, end: number, later: number): number {
  let peakAt = 0;
  let off = Number.POSITIVE_INFINITY;
  for (let i = start; i < end; i++) {
    const away = Math.abs(values[i]! - later);
    if (!(away < off)) continue;
    peakAt = i - start;
    off = away;
  }
  return peakAt;
}

/** Index, from `start` on, of the first value that is half of the way to the later median; that of `end` where there is none before. */
function halfWay(values: Float64Array, start: number, end: number, centre: number, later: number): number {
  const half = Math.abs(later - centre) / 2;
  let at = start;
  while (at < end && !(Math.abs(values[at]! - centre) >= half)) at++;
  return at - start;
}
