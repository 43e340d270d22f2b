// Requests that a counting series reports one cycle.

/** Usual gaps, and at least cycles, after which a stream that sends no more counts nothing. */
const SILENT_AFTER = 2;

/**
 * Requests of the cycle before the newest of the first `count` values, as seen at `nowMs`: senders are not in step with cycles. A value that stands for longer
 * than a cycle counts by its share.
 */
export function requestsInCycle(times: Float64Array, values: Float64Array, count: number, nowMs: number, cycleMs: number): number {
  if (count === 0) return 0;
  const lastMs = times[count - 1] as number;
  const gapMs = count < 2 ? 0 : lastMs - (times[count - 2] as number);
  if (nowMs - lastMs > SILENT_AFTER * Math.max(cycleMs, gapMs)) return 0;
  let sum = 0;
  for (let i = count - 1; i >= 0 && (times[i] as number) > lastMs - cycleMs; i--) sum += Math.max(0, values[i] as number);
  return gapMs > cycleMs ? (sum * cycleMs) / gapMs : sum;
}
