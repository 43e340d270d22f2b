// Entries of a ring in order of time, and what they become when others are put among them.
import { WINDOW_MAX } from "../../core/layout/stream-record.ts";

/** A place of a ring. */
export interface RingEntry {
  readonly time: number;
  readonly value: number;
  readonly masked: boolean;
}

/** Calls back with the newest entries of both, ascending, when that changes the ring. */
export function mergeRing(
  ring: readonly RingEntry[],
  times: Float64Array,
  values: Float64Array,
  count: number,
  write: (entries: readonly RingEntry[]) => void,
): void {
  const known = new Set(ring.map(({ time }) => time));
  const oldest = ring.length === WINDOW_MAX ? (ring[0] as RingEntry).time : Number.NEGATIVE_INFINITY;
  const added: RingEntry[] = [];
  for (let i = Math.max(0, count - WINDOW_MAX); i < count; i++) {
    const time = times[i] as number;
    if (time > oldest && !known.has(time)) added.push({ time, value: values[i] as number, masked: false });
  }
  if (added.length > 0) write([...ring, ...added].sort((a, b) => a.time - b.time).slice(-WINDOW_MAX));
}

/** The smallest step that is known or stands in the ring; 0 for none. */
export function resolutionOf(entries: readonly RingEntry[], known: number): number {
  let least = known === 0 ? Number.POSITIVE_INFINITY : known;
  for (let i = 1; i < entries.length; i++) {
    const step = Math.abs((entries[i] as RingEntry).value - (entries[i - 1] as RingEntry).value);
    if (step > 0 && step < least) least = step;
  }
  return Number.isFinite(least) ? least : 0;
}
