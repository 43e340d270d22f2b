// How many pages a series may cost by chance.

import { DAY_MS, HOUR_MS } from "../../../core/time/durations.ts";

/**
 * Pages a day that a series of hourly values may cost for nothing, on each side. Of quicker series less: an hour of trouble has more values there that can show it,
 * and what one of them reports is over sooner.
 */
export const PAGES_A_DAY = 0.1;
const PAGES_EXPONENT = 0.4;
const STREAMS_EXPONENT = 1.5;
const TAIL_EXPONENT = 0.2; // of Student's tails of five degrees, the lightest that series have

/** Probability of a value that may page by chance. */
export function pagesPerValue(intervalMs: number): number {
  const share = Math.min(1, (intervalMs / HOUR_MS) ** PAGES_EXPONENT);
  return (PAGES_A_DAY * share) / Math.max(1, DAY_MS / intervalMs);
}

/**
 * Share of it that falls to one of a service's streams: one of many departs by chance so many times as often, and says less of the service than its only one
 * would.
 */
export function shareOfOne(streams: number): number {
  return streams ** -STREAMS_EXPONENT;
}

/** Multiple of a bar that no tail of the series sets, for one of so many streams: how much further noise goes with its share of the probability. */
export function barOfOne(streams: number): number {
  return shareOfOne(streams) ** -TAIL_EXPONENT;
}
