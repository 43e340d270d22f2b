// What a cumulative value of the past adds to the one before it. Histories tell no start times: only a fall says that the counter began anew.

/** A fall by less than this is rounding of the sender, as with live counters. */
const RELATIVE_NOISE = 1e-9;

/** Increase between two cumulative values; after a fall the newer one is all that is known. */
export function counterDelta(before: number, value: number): number {
  const fell = value < before - RELATIVE_NOISE * Math.abs(before);
  return fell ? value : Math.max(0, value - before);
}
