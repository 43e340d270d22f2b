// What the forest sees of a vector: its values, their first and second derivatives (as differences of neighbours), and where in day and week it stands.
// The values of a service's metrics are each other's correlated values, so all six features of the contract are there.

import { DAY_MS, WEEK_MS } from "../../../core/time/durations.ts";

/** History must have seen each hour, or each day of the week, twice before it is distinguished from the others. */
const DAYS_SEEN_MIN = 2;
const WEEKS_SEEN_MIN = 2;
/** 1970-01-01 was the fourth day of a week that begins with Sunday. */
const EPOCH_WEEKDAY_MS = 4 * DAY_MS;

/** Differences that stand beside each value. */
const DERIVATIVES = 2;
/** Rows that a vector's features are made from: itself and two before it. */
export const FEATURE_ROWS = DERIVATIVES + 1;

/** Number of season terms that a history of such a span bears: none, the hour's two, or also the weekday's two. */
export function seasonFeatures(spanMs: number): 0 | 2 | 4 {
  if (spanMs < DAYS_SEEN_MIN * DAY_MS) return 0;
  return spanMs < WEEKS_SEEN_MIN * WEEK_MS ? 2 : 4;
}

/** Numbers of one row of features. */
export function featureWidth(metrics: number, season: number): number {
  return FEATURE_ROWS * metrics + season;
}

/** Place in the day and in the week as points on circles, so that midnight is near to midnight; `season` numbers from `at` on. UTC. */
function writeSeason(timeMs: number, season: number, into: Float64Array, at: number): void {
  for (let word = 0; word < season; word += 2) {
    const period = word === 0 ? DAY_MS : WEEK_MS;
    const angle = (2 * Math.PI * (timeMs + EPOCH_WEEKDAY_MS)) / period;
    into[at + word] = Math.cos(angle);
    into[at + word + 1] = Math.sin(angle);
  }
}

/** The features of the row of `metrics` values that begins at `start` of `values`, with the two rows before it, into `into` from `at` on. */
export function writeFeatures(
  values: Float64Array,
  start: number,
  metrics: number,
  time: { readonly ms: number; readonly season: number },
  into: Float64Array,
  at: number,
): void {
  for (let j = 0; j < metrics; j++) {
    const value = values[start + j] as number;
    const before = values[start + j - metrics] as number;
    const step = value - before;
    into[at + j] = value;
    into[at + metrics + j] = step;
    into[at + 2 * metrics + j] = step - (before - (values[start + j - 2 * metrics] as number));
  }
  writeSeason(time.ms, time.season, into, at + FEATURE_ROWS * metrics);
}
