// What a slow detector looks at of a fast stream: values that lie close together are one observation a minute, their mean. A pass over many streams then
// costs the same however fast they are, and a baseline of 6,400 observations reaches days back. What is together follows from the values alone,
// whenever they are looked at.

/** A value this long after the one before it is an observation by itself, at once. */
export const GROUPED_BELOW_MS = 30_000;
/** Others are taken together by the minute. */
export const GROUP_MS = 60_000;
/** So that a sum of a whole ring stays finite. */
const VALUE_MAX = 1e300;

/**
 * Takes `count` values with ascending times, of which the one before had `sinceMs` (0 for none), and leaves observations in their place: the time of the
 * last value of each, and their mean. Returns how many; values behind the last of these belong to a minute that may still go on.
 */
export function groupObservations(times: Float64Array, values: Float64Array, count: number, sinceMs: number): number {
  let groups = 0;
  let before = sinceMs;
  let at = 0;
  while (at < count) {
    const end = endOfGroup(times, at, count, before);
    if (end > count) break;
    const mean = meanOf(values, at, end);
    before = times[end - 1] as number;
    times[groups] = before;
    values[groups] = mean;
    groups++;
    at = end;
  }
  grouped = at;
  return groups;
}

/** Values that the last call has made observations of: a pass over millions of streams makes no object for both figures. */
let grouped = 0;

/** Values of a minute that may still go on: their time, mean, and which share of the minute they are. */
export interface PendingGroup {
  readonly timeMs: number;
  readonly mean: number;
  readonly share: number;
}

/** The same, with what is behind the last observation; undefined where nothing is. */
export function groupWithPending(
  times: Float64Array,
  values: Float64Array,
  count: number,
  sinceMs: number,
): { readonly groups: number; readonly pending: PendingGroup | undefined } {
  const groups = groupObservations(times, values, count, sinceMs);
  const before = groups === 0 ? sinceMs : (times[groups - 1] as number);
  return { groups, pending: grouped < count ? pendingGroup(times, values, grouped, count, before) : undefined };
}

function pendingGroup(times: Float64Array, values: Float64Array, at: number, count: number, before: number): PendingGroup {
  const timeMs = times[count - 1] as number;
  const elapsed = timeMs - (count - 1 > at ? (times[count - 2] as number) : before);
  const ofMinute = Math.max(count - at, elapsed > 0 ? GROUP_MS / elapsed : 1);
  return { timeMs, mean: meanOf(values, at, count), share: (count - at) / ofMinute };
}

/** Where the group that begins at `at` ends; beyond `count` where nothing behind it says so. */
function endOfGroup(times: Float64Array, at: number, count: number, before: number): number {
  const first = times[at] as number;
  if (first - before >= GROUPED_BELOW_MS) return at + 1;
  const minute = Math.floor(first / GROUP_MS);
  for (let next = at + 1; next < count; next++) {
    const time = times[next] as number;
    if (time - (times[next - 1] as number) >= GROUPED_BELOW_MS || Math.floor(time / GROUP_MS) !== minute) return next;
  }
  return count + 1;
}

function meanOf(values: Float64Array, from: number, to: number): number {
  if (to - from === 1) return values[from] as number;
  let sum = 0;
  for (let i = from; i < to; i++) sum += Math.min(VALUE_MAX, Math.max(-VALUE_MAX, values[i] as number));
  return sum / (to - from);
}
