// Deltas of a counter per usual interval: what was counted over a missed scrape is no double rate.

/** An interval that differs from the usual one by more than so many times is another one; the kernel's shard-counter.ts says the same. */
const IRREGULAR_FACTOR = 1.5;

/** Whether a delta over `elapsedMs` is not one of a usual interval; `usualMs` 0 = not known. */
export function isIrregular(elapsedMs: number, usualMs: number): boolean {
  return usualMs > 0 && (elapsedMs > IRREGULAR_FACTOR * usualMs || elapsedMs * IRREGULAR_FACTOR < usualMs);
}

/** Brings `count` deltas with ascending times, of which the one before had `sinceMs` (0 for none), to the usual interval, in place. */
export function perUsualInterval(times: Float64Array, values: Float64Array, count: number, sinceMs: number, usualMs: number): void {
  let beforeMs = sinceMs;
  for (let i = 0; i < count; i++) {
    const timeMs = times[i] as number;
    const elapsedMs = timeMs - beforeMs;
    if (beforeMs > 0 && isIrregular(elapsedMs, usualMs)) values[i] = (values[i] as number) * (usualMs / elapsedMs);
    beforeMs = timeMs;
  }
}
