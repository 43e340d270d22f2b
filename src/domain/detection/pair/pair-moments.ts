// Contexts in which the newest value of a pair is judged. They are written anew for each value: a cycle judges hundreds of thousands, and objects of their own were
// 0.6 of the 1.0 KB that each of them allocated.
import { HOUR_MS } from "../../../core/time/durations.ts";
import type { DepartureDetector } from "../departure/departure-detector.ts";
import type { ValueMoment } from "../departure/value-moment.ts";
import type { RecentValues } from "../rolling/recent-values.ts";
import type { UsualInterval } from "../rolling/usual-interval.ts";
import type { HourProfile } from "../seasonal/hour-profile.ts";
import type { LastingMoment } from "./lasting-evidence.ts";
import { type PairSurroundings, Z_THRESHOLD_DEFAULT } from "./pair-surroundings.ts";

/** Time without a value behind which the hour may be another one. */
const GAP_MS = HOUR_MS / 2;
const GAP_INTERVALS = 10;

type Writable<T> = { -readonly [key in keyof T]: T[key] };

/** Values in a row of which what lasts must be rare together. */
const IN_ROW_VALUES = 5;

/** Context of single values of a pair with these hours and newest values; the rest is to be written for each of them. */
export function momentOf(hours: HourProfile, newest: RecentValues, isHolidayAt: (localMs: number) => boolean): Writable<ValueMoment> {
  return {
    intervalMs: 0,
    stepMs: 0,
    localMs: 0,
    hour: Number.NaN,
    hours,
    isHolidayAt,
    newest,
    caution: 1,
    lenientUntilMs: 0,
    streams: 1,
    isBehindGap: false,
    isCounter: false,
    counts: 0,
    acceptedMs: 0,
  };
}

/** Writes what follows from the time of a value, whose interval is known with it, and from what is around it. */
export function noteValue(
  moment: Writable<ValueMoment>,
  interval: Pick<UsualInterval, "ms">,
  timeMs: number,
  lastMs: number,
  { streams, zThreshold, isCounter = false, counts = 0 }: PairSurroundings,
): void {
  moment.intervalMs = interval.ms;
  moment.stepMs = timeMs - lastMs;
  moment.caution = zThreshold / Z_THRESHOLD_DEFAULT;
  moment.streams = streams;
  moment.isBehindGap = lastMs > 0 && moment.stepMs > Math.max(GAP_MS, GAP_INTERVALS * moment.intervalMs);
  moment.isCounter = isCounter;
  moment.counts = counts;
}

/** Context of what lasts, of which `newest` gives the newest value; the rest is to be written for each. */
export function lastingMomentOf(departure: DepartureDetector, values: RecentValues, newest: () => number): Writable<LastingMoment> {
  const before = (back: number) => values.before(back);
  return {
    timeMs: 0,
    intervalMs: 0,
    count: 0,
    streams: 1,
    caution: 1,
    strictness: 1,
    isReported: false,
    isIncident: false,
    isOrdinary: (side) => departure.isSmallMove || (side !== 0 && !departure.isRareInRow(side, IN_ROW_VALUES, before)),
    isKnown: () => departure.wouldBeKnown(newest()),
  };
}
