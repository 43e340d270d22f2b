// The slow twin of the kernel's recentDeviation(): how far the newest values of a stream lie from those before them, as a robust z.
import { median, robustStatistics, robustZ } from "../../src/domain/detection/robust.ts";

/** Values that a baseline needs. */
const BASELINE_MIN = 12;
/** The oldest part of a ring that is always baseline: a stream with a value every 10 s has 15 minutes and the 5 before them in its 120 values. */
const BASELINE_SHARE = 4;

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
