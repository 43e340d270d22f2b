// Spans of time in milliseconds.

/** Milliseconds of a second as clocks count them, leap seconds left out. */
export const SECOND_MS = 1_000;
/** Milliseconds of a minute, always of sixty seconds. */
export const MINUTE_MS = 60 * SECOND_MS;
/** Milliseconds of an hour, always of sixty minutes. */
export const HOUR_MS = 60 * MINUTE_MS;
/** A day of 24 hours in milliseconds; days of a calendar may be an hour longer or shorter. */
export const DAY_MS = 24 * HOUR_MS;
/** Seven days of 24 hours in milliseconds. */
export const WEEK_MS = 7 * DAY_MS;
