// Whether departures come back: at the same time of the day or of the week, at equal gaps of their own, or over each weekend.

import { DAY_MS, HOUR_MS, WEEK_MS } from "../../../core/time/durations.ts";

/** Share of what was expected below which a value has fallen to nothing. */
const NOTHING_SHARE = 0.1;
/** Values of an edge go beyond its levels by so much of it, as those of a departure that comes again may. */
const HOUR_EDGE_REACH = 1.5;
/** Departures before that make a habit: at the time of a day or a week, and at gaps of their own; of falls to nothing one more. */
const CLOCK_TIMES = 2;
const GAP_TIMES = 3;
/** Periods of the calendar, for series that have so many values in one, and how far back they are looked for. */
const CLOCKS = [
  { periodMs: DAY_MS, sinceMs: 7.5 * DAY_MS },
  { periodMs: WEEK_MS, sinceMs: 22 * DAY_MS },
];
const VALUES_PER_PERIOD_MIN = 20;
const PERIOD_SLACK = 0.01;
/** One that began so long before may come back up to so much later. */
const LATE_MS_MAX = 20 * 60_000;
/** Multiple of its duration before, and intervals beyond that, for which one that comes back may last. */
const LONGER = 1.5;
const LONGER_INTERVALS = 3;
/** Gaps are equal within this share, of long ones within LATE_MS_MAX, or so many values; shorter ones than so many values are noise. */
const EQUAL_SHARE = 0.02;
const EQUAL_INTERVALS = 2;
const GAP_INTERVALS_MIN = 4;
/** 1970-01-01 was a Thursday: its week's Saturday began two days later. */
const FIRST_SATURDAY_MS = 2 * DAY_MS;
/** A weekend may begin so long before its Saturday, and end so long after its Sunday. */
const AROUND_WEEKEND_MS = 12 * HOUR_MS;
/** Time of either of its days that is another level's. */
const WEEKEND_DAY_MS = 4 * HOUR_MS;
/** Duration from which on what the week began with was its level. */
const STAYED_MS = 6 * HOUR_MS;
/** Time after the end that a weekend had, within which it is not longer. */
const MONDAY_SLACK_MS = HOUR_MS;

/** A departure before, by how long ago it began. */
export interface EarlierDeparture {
  readonly ageMs: number;
  readonly lastedMs: number;
}

/** Whether hardly anything is left of what was to be expected. */
export function isFallToNothing(value: number, expected: number): boolean {
  return Math.abs(value) <= NOTHING_SHARE * Math.abs(expected);
}

/**
 * Whether a value has come from what is usual before the turn of an hour to what is usual after it, or is on the way: the edge of a working day. A fall to nothing is not
 * taken for one, since nobody would hear of it when the hour has turned.
 */
export function isHourEdge(value: number, expected: number, [before, after]: readonly [number, number]): boolean {
  const reach = (HOUR_EDGE_REACH - 0.5) * Math.abs(after - before);
  return Math.abs(value - (before + after) / 2) <= reach && !isFallToNothing(value, expected);
}

/** How long one that comes back may last, where those before lasted so long. */
export function longer(lastedMs: number, intervalMs: number): number {
  return LONGER * lastedMs + LONGER_INTERVALS * intervalMs;
}

/** Longest of the departures that one comes back of, ms; 0 where it is no habit yet. `extra` are the times that its kind must have come beyond those of others. */
export function recurringMs(earlier: readonly EarlierDeparture[], intervalMs: number, extra: number): number {
  const lastedMs = clockMs(earlier, intervalMs, extra);
  return lastedMs > 0 ? lastedMs : equalGapsMs(earlier, intervalMs, GAP_TIMES + extra);
}

/** As `recurringMs`, by the time of day or week alone. */
export function clockMs(earlier: readonly EarlierDeparture[], intervalMs: number, extra: number): number {
  for (const clock of CLOCKS) {
    const lastedMs = ofClock(earlier, clock, intervalMs, CLOCK_TIMES + extra);
    if (lastedMs > 0) return lastedMs;
  }
  return 0;
}

function ofClock(
  earlier: readonly EarlierDeparture[],
  { periodMs, sinceMs }: (typeof CLOCKS)[number],
  intervalMs: number,
  times: number,
): number {
  if (periodMs < VALUES_PER_PERIOD_MIN * intervalMs) return 0;
  const slack = Math.max(1.01 * intervalMs, PERIOD_SLACK * periodMs);
  const periods = new Set<number>();
  let longestMs = 0;
  for (const { ageMs, lastedMs } of earlier) {
    const back = Math.floor((ageMs + slack) / periodMs);
    if (back < 1 || ageMs > sinceMs || ageMs - back * periodMs > Math.min(lastedMs, LATE_MS_MAX) + slack) continue;
    periods.add(back);
    longestMs = Math.max(longestMs, lastedMs);
  }
  return periods.size >= times ? longestMs : 0;
}

/** Longest of so many that lie at equal gaps behind the one at hand, ms; 0 where there are not. One of the earlier gives the gap; the others must lie at multiples of it. */
export function equalGapsMs(earlier: readonly EarlierDeparture[], intervalMs: number, times: number): number {
  for (const { ageMs: gap } of earlier) {
    if (gap < GAP_INTERVALS_MIN * intervalMs) continue;
    const slack = Math.max(EQUAL_INTERVALS * intervalMs, Math.min(LATE_MS_MAX, EQUAL_SHARE * gap));
    let [sinceMs, found, longestMs] = [0, 0, 0];
    for (; found < times; found++) {
      const next = earlier.find(({ ageMs }) => Math.abs(ageMs - sinceMs - gap) <= slack);
      if (next === undefined) break;
      sinceMs = next.ageMs;
      longestMs = Math.max(longestMs, next.lastedMs);
    }
    if (found === times) return longestMs;
  }
  return 0;
}

/** How long a departure may last that belongs to a weekend as another one before it was, on both of its days; 0 where it does not. Times are of the clock on the wall. */
export function weekendMs(timeMs: number, earlier: readonly EarlierDeparture[]): number {
  const saturdayMs = saturdayOf(timeMs + AROUND_WEEKEND_MS);
  if (timeMs >= saturdayMs + 2 * DAY_MS) return 0;
  for (const back of [1, 2]) {
    const beganMs = saturdayMs - back * WEEK_MS;
    let [saturday, sunday, endMs] = [0, 0, 0];
    for (const { ageMs, lastedMs } of earlier) {
      const from = timeMs - ageMs;
      if (from < beganMs - AROUND_WEEKEND_MS || from >= beganMs + 2 * DAY_MS || from + lastedMs > beganMs + 2 * DAY_MS + AROUND_WEEKEND_MS)
        continue;
      saturday += overlap(from, from + lastedMs, beganMs);
      sunday += overlap(from, from + lastedMs, beganMs + DAY_MS);
      endMs = Math.max(endMs, from + lastedMs + back * WEEK_MS);
    }
    if (saturday >= WEEKEND_DAY_MS && sunday >= WEEKEND_DAY_MS) return Math.max(1, endMs + MONDAY_SLACK_MS - timeMs);
  }
  return 0;
}

/**
 * How long a departure may last with which the working week begins as one before it did, and that stayed: the end of another level over the weekend, however little that
 * showed when it began; 0 where there is none.
 */
export function mondayMs(timeMs: number, earlier: readonly EarlierDeparture[], intervalMs: number): number {
  const mondayAt = saturdayOf(timeMs - 2 * DAY_MS + AROUND_WEEKEND_MS) + 2 * DAY_MS;
  if (Math.abs(timeMs - mondayAt) > AROUND_WEEKEND_MS) return 0;
  const slack = Math.max(1.01 * intervalMs, PERIOD_SLACK * WEEK_MS);
  const before = earlier.find(({ ageMs, lastedMs }) => lastedMs >= STAYED_MS && Math.abs(ageMs - WEEK_MS) <= slack);
  return before === undefined ? 0 : before.lastedMs;
}

/** Begin of the Saturday of the week, Saturday to Friday, that a time is in. */
function saturdayOf(timeMs: number): number {
  return Math.floor((timeMs - FIRST_SATURDAY_MS) / WEEK_MS) * WEEK_MS + FIRST_SATURDAY_MS;
}

/** Time that a stretch has in a day. */
function overlap(fromMs: number, toMs: number, dayMs: number): number {
  return Math.max(0, Math.min(toMs, dayMs + DAY_MS) - Math.max(fromMs, dayMs));
}
