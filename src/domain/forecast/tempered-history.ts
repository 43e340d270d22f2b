// History without what stands alone in it: a value, or two or three in a row, that fit neither what is near them nor the same time of another cycle say nothing of
// what comes, and least of all at the end, where every method begins.
import { MAD_TO_SD, median } from "../detection/robust.ts";

/** Longest run that is odd; what lasts longer is a level. */
const RUN_MAX = 3;
/** Steps to either side that a value is compared with, and that a line goes through. */
const NEAR = 6;
const LINE = 12;
/** Distance, in robust standard deviations of a step, from which on a value does not fit. */
const ODD_SCALES = 8;
/** Least scale of a step, as a share of the values' magnitude. */
const SCALE_MIN = 1e-3;
/** Where more than this share is odd, the series is so: bursts, or counts that are mostly zero. */
const ODD_SHARE_MAX = 0.05;
/** A value fits the same time of another cycle where it is nearer to it by half than to what is around it. */
const CYCLE_SHARE = 0.5;

/** The values, each odd one replaced by what fits there; the same array where there is none. `periods` are lengths of seasons in steps. */
export function temperedHistory(values: Float64Array, periods: readonly number[]): Float64Array {
  const limit = ODD_SCALES * stepScale(values);
  const fitting = new Map<number, number>();
  for (let at = 0; at < values.length; at++) {
    const fit = fitOf(values, at, { periods, limit });
    if (fit !== undefined) fitting.set(at, fit);
  }
  for (const run of runsOf([...fitting.keys()])) if (run.length > RUN_MAX) for (const at of run) fitting.delete(at);
  if (fitting.size === 0 || fitting.size > Math.max(RUN_MAX, ODD_SHARE_MAX * values.length)) return values;
  return values.map((value, at) => fitting.get(at) ?? value);
}

/** Robust standard deviation of the noise, by the steps from each value to the next; where most do not move, their mean. */
function stepScale(values: Float64Array): number {
  if (values.length < 2) return Number.POSITIVE_INFINITY;
  const steps = stepsOf(values);
  const typical = (MAD_TO_SD * median(steps)) / Math.SQRT2;
  const mean = steps.reduce((sum, step) => sum + step, 0) / steps.length;
  const least = SCALE_MIN * median(values.map(Math.abs));
  return Math.max(typical > 0 ? typical : mean, least, Number.MIN_VALUE);
}

function stepsOf(values: Float64Array): Float64Array {
  return values.subarray(1).map((value, at) => Math.abs(value - (values[at] as number)));
}

/** What fits in the place of an odd value; undefined where the value itself does. */
function fitOf(
  values: Float64Array,
  at: number,
  { periods, limit: usual }: { readonly periods: readonly number[]; readonly limit: number },
): number | undefined {
  const value = values[at] as number;
  const near = Float64Array.of(...values.subarray(Math.max(0, at - NEAR), at), ...values.subarray(at + 1, at + 1 + NEAR));
  let fit = median(near);
  if (near.length === 0 || Math.abs(value - fit) <= usual) return undefined;
  const [before, behind] = [values.subarray(Math.max(0, at - LINE), at), values.subarray(at + 1, at + 1 + LINE)];
  // What grows has larger steps by now.
  const limit = Math.max(usual, ODD_SCALES * median(Float64Array.of(...stepsOf(before), ...stepsOf(behind))));
  for (const line of [lineAt(before, LINE), lineAt(behind, -1)]) {
    if (line !== undefined && Math.abs(value - line) < Math.abs(value - fit)) fit = line;
  }
  const distance = Math.abs(value - fit);
  const fitsCycle = Math.max(limit, CYCLE_SHARE * distance);
  const others = periods.flatMap((period) => [-period, period]).flatMap((shift) => [shift - 1, shift, shift + 1]);
  if (distance <= limit || others.some((shift) => Math.abs(value - (values[at + shift] ?? Number.NaN)) <= fitsCycle)) return undefined;
  return fit;
}

/** Theil and Sen's line through values at 0, 1, ..., at a place; undefined for too few of them. */
function lineAt(values: Float64Array, index: number): number | undefined {
  if (values.length < LINE) return undefined;
  const slopes: number[] = [];
  for (let i = 0; i < values.length; i++)
    for (let k = i + 1; k < values.length; k++) slopes.push(((values[k] as number) - (values[i] as number)) / (k - i));
  const slope = median(Float64Array.from(slopes));
  return median(values.map((value, i) => value - slope * i)) + slope * index;
}

/** Neighbours among ascending places, run by run. */
function runsOf(places: readonly number[]): number[][] {
  const runs: number[][] = [];
  for (const index of places) {
    const last = runs.at(-1);
    if (last !== undefined && last.at(-1) === index - 1) last.push(index);
    else runs.push([index]);
  }
  return runs;
}
