// What is known around a value that may depart.
import type { RecentValues } from "../rolling/recent-values.ts";
import type { HourProfile } from "../seasonal/hour-profile.ts";

/** Facts known of the time of a value. */
export interface ValueMoment {
  readonly intervalMs: number;
  /** Time since the value before it. */
  readonly stepMs: number;
  /** Time by the clock on the wall, which habits go by. */
  readonly localMs: number;
  /** Usual value at this hour; NaN where that is not known. */
  readonly hour: number;
  /** The hours that `hour` was taken from, and whether the day of a local time counts as a weekend: asked only of what goes far out. */
  readonly hours: Pick<HourProfile, "sides">;
  readonly isHolidayAt: (localMs: number) => boolean;
  /** The newest values, this one among them, which a new level is taken from. */
  readonly newest: RecentValues;
  /** Factor of the bar: more than 1 while a deployment settles. */
  readonly caution: number;
  /** End of leniency: what departs before this, but far, is reported if it goes on then; 0 for at once. */
  readonly lenientUntilMs: number;
  /** Streams of its service: one of many departs by chance so many times as often. */
  readonly streams: number;
  /** No value has come for so long that the hour may be another one. */
  readonly isBehindGap: boolean;
  /** A delta of a counter, which may be of a part of its interval. */
  readonly isCounter: boolean;
  /** Of a series of counts, how many of them the value is the mean of; 0 for any other. */
  readonly counts: number;
  /** Time on the wall at which somebody took the newest level for the usual one; absent for never. */
  readonly acceptedMs?: number;
}
