// Which of the newest vectors a model is not to learn from: stretches in which the metrics were not as they are together, with a margin. What is strange is asked of
// components of these vectors themselves, not of the model before, whose opinion would else be kept for ever; and what stays strange for two days is the new normal.
import { MINUTE_MS } from "../../../core/time/durations.ts";
import { median } from "../robust.ts";
import { PrincipalComponents } from "./principal-components.ts";
import { SMOOTHED_VECTORS, type TimedRows } from "./service-model.ts";
import type { EigenSolver } from "./symmetric-eigen.ts";

/** What lasts so long is how the service is now. */
export const NEW_NORMAL_MS = 2 * 24 * 60 * MINUTE_MS;
/** Time before a stretch that led to it, and behind it, in which its means still hold it. */
const MARGIN_MS = 10 * MINUTE_MS;
/** Stretches that are so near to each other are one. */
const JOINED_MS = 60 * MINUTE_MS;
/** Strangeness of a vector beyond the median, in quarters' distances from it, from which on it is left out. */
const STRANGE = 6;
/** Fewer vectors say nothing of what is usual. */
const ROWS_MIN = 1_440;
/** Where more would be left out, the strange is not the exception. */
const SHARE_MAX = 0.25;

/** Share of the time whose alerts of single metrics are left out: a service that is seldom without one is so, and how its metrics go together has to be learned. */
const ALERTS_SHARE_MAX = 0.1;

/** A time of which it is known that it was not ordinary, [from, to) in ms. */
export type Stretch = readonly [fromMs: number, toMs: number];

/** 1 for each row that is to be left out: in stretches that are known, and in those that stand out. */
export function strangeRows(rows: TimedRows, known: readonly Stretch[], eigen: EigenSolver): Uint8Array {
  const { times } = rows;
  const margin = (stretch: Stretch): Stretch => [stretch[0] - MARGIN_MS, stretch[1] + MARGIN_MS];
  const stretches = together([...known, ...standingOut(rows, eigen)].map(margin));
  const left = new Uint8Array(times.length);
  for (const [fromMs, toMs] of stretches) {
    if (toMs - fromMs >= NEW_NORMAL_MS) continue;
    for (let row = 0; row < times.length; row++) if ((times[row] as number) >= fromMs && (times[row] as number) < toMs) left[row] = 1;
  }
  const share = left.reduce((sum, each) => sum + each, 0) / Math.max(1, times.length);
  return share > SHARE_MAX ? new Uint8Array(times.length) : left;
}

/** Alerts of single metrics of which nothing is to be learned: the newest, so that an open one is among them, as many as are an exception together. */
export function alertStretches(
  alerts: readonly Stretch[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Stretch[] {
  let leftMs = ALERTS_SHARE_MAX * (toMs - fromMs);
  return together(alerts)
    .sort((a, b) => b[1] - a[1])
    .filter(([beganMs, endedMs]) => {
      const lastedMs = endedMs - Math.max(beganMs, fromMs);
      const isLeftOut = lastedMs < NEW_NORMAL_MS && lastedMs <= leftMs;
      if (isLeftOut) leftMs -= lastedMs;
      return isLeftOut;
    });
}

/** Times whose smoothed strangeness is far beyond what it mostly is. */
function standingOut(rows: TimedRows, eigen: EigenSolver): Stretch[] {
  const { times } = rows;
  if (times.length < ROWS_MIN) return [];
  const strangeness = smoothed(strangenessOf(rows, eigen));
  const sorted = strangeness.toSorted();
  const middle = sorted[sorted.length >> 1] as number;
  const bar = middle + STRANGE * ((sorted[Math.floor(0.75 * sorted.length)] as number) - middle);
  const found: Stretch[] = [];
  for (let row = 0; row < times.length; row++) {
    if (!((strangeness[row] as number) > bar)) continue;
    const from = row;
    while (row + 1 < times.length && (strangeness[row + 1] as number) > bar) row++;
    found.push([times[from] as number, (times[row] as number) + 1]);
  }
  return found;
}

/** Logarithm of what components leave over of each vector. */
function strangenessOf(rows: TimedRows, eigen: EigenSolver): Float64Array {
  const components = PrincipalComponents.learn(rows, eigen);
  const residuals = Float64Array.from(rows.times, (_, row) => components.measure(rows.values, row * rows.width).q);
  const usual = Math.max(median([...residuals]), Number.EPSILON);
  return residuals.map((q) => Math.log1p(q / usual));
}

/** Mean of the newest vectors up to each. */
function smoothed(values: Float64Array): Float64Array {
  let sum = 0;
  return values.map((value, at) => {
    sum += value - (at >= SMOOTHED_VECTORS ? (values[at - SMOOTHED_VECTORS] as number) : 0);
    return sum / Math.min(at + 1, SMOOTHED_VECTORS);
  });
}

/** Ascending, those near each other as one. */
function together(stretches: readonly Stretch[]): Stretch[] {
  const all: [number, number][] = [];
  for (const [fromMs, toMs] of stretches.toSorted((a, b) => a[0] - b[0])) {
    const last = all.at(-1);
    if (last !== undefined && fromMs <= last[1] + JOINED_MS) last[1] = Math.max(last[1], toMs);
    else all.push([fromMs, toMs]);
  }
  return all;
}
