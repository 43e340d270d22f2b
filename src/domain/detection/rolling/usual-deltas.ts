// Deltas of a counter per usual interval: what was counted over a missed scrape is no double rate, and what a counter that began anew says is no rise.
import { median } from "../robust.ts";

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

/**
 * What a value says of which counting began anew in its interval, where its series has had these: of what was counted before the new beginning nothing is known, and a sender
 * that goes on from where it was counts all of it again. So a delta says no more than a usual one, and a quantile nothing.
 */
export function restartedValue(value: number, isCounter: boolean, had: Float64Array): number {
  const usual = median(had);
  return isCounter ? Math.min(value, usual) : usual;
}
