// The slow twin of the kernel's recentDeviation(): how far the newest values of a stream lie from those before them, as a robust z.
import { SD_MIN, SD_RELATIVE_MIN } from "../../src/core/layout/sd-floors.ts";
import { median, type RobustStatistics, robustStatistics } from "../../src/domain/detection/robust.ts";

/** Values that a baseline needs. */
const BASELINE_MIN = 12;
/** The oldest part of a ring that is always baseline: a stream with a value every 10 s has 15 minutes and the 5 before them in its 120 values. */
const BASELINE_SHARE = 4;
/** Standard deviation of a normal, in median absolute deviations and in mean absolute deviations. */
const SD_PER_MAD = 1.4826022185056018;
const SD_PER_MEAN_DEVIATION = 1.253314;
const Z_MAX = 99;

/** Robust z of the median of the values from `sinceMs` on, against the values before; oldest first. Undefined where there are none of one kind. */
export function recentDeviation(times: ArrayLike<number>, values: ArrayLike<number>, sinceMs: number): number | undefined {
  const count = values.length;
  const kept = Math.max(BASELINE_MIN, Math.floor(count / BASELINE_SHARE));
  let from = count;
  while (from > kept && (times[from - 1] as number) >= sinceMs) from--;
  if (from === count || from < kept) return undefined;
  const all = Array.from(values);
  return robustZ(median(all.slice(from)), robustStatistics(all.slice(0, from)));
}

/** 0.6745 (x - median) / MAD; without MAD by the mean deviation, without that by the floors of the standard deviation. Within +-99. */
export function robustZ(value: number, statistics: RobustStatistics): number {
  const { median: center, mad, meanDeviation } = statistics;
  const floor = Math.max(SD_MIN, SD_RELATIVE_MIN * Math.abs(center));
  const sd = mad > 0 ? mad * SD_PER_MAD : meanDeviation > 0 ? SD_PER_MEAN_DEVIATION * meanDeviation : floor;
  const z = (value - center) / sd;
  return Number.isNaN(z) ? 0 : Math.min(Z_MAX, Math.max(-Z_MAX, z));
}
