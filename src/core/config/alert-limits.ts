// Maxima of what people do about alerts, and of what is told of it.

/**
 * Lines that the timeline of an alert keeps, 0.1 KB each and 1 KB a comment: a day of an alert that flaps every ten minutes is 300. How it began stays (as many
 * members as an alert names, and what came with them); behind that the oldest go.
 */
export const TIMELINE_LINES_MAX = 400;
export const TIMELINE_LINES_FIRST = 75;
/** Timelines of which it is known how many lines they have at most, 100 B each: as many as alerts that were resolved lately are kept whole. Of any other the lines are counted. */
export const TIMELINE_COUNTS_MAX = 10_000;
/** Alerts that one request may change: a page of a list, each with its own row and its lines. */
export const ALERT_ACTIONS_MAX = 100;
/**
 * Levels that one acceptance tells an engine in a body: 300 KB of names of 1 KiB. Anomalies of an alert whose newest values are read for what it says of the level, two
 * questions each; those of others are accepted without numbers.
 */
export const ACCEPTED_PAIRS_PER_BODY = 100;
export const ACCEPTED_LEVELS_READ_MAX = 20;
/** Values of which the median is the level: as many as a detector judges a level by. */
export const ACCEPTED_LEVEL_VALUES = 12;
/** Services that people have retired, over all tenants, 200 B each: a row goes with the retention of what the service has sent. */
export const RETIRED_SERVICES_MAX = 20_000;
/** Days ahead that an alert may be snoozed for: what is quiet for longer is a silence, which is listed. */
export const SNOOZE_DAYS_MAX = 7;

/** Updates of an alert that name further problems or instances: a service of which everything departs says it so often and no more. */
export const ALERT_UPDATES_MAX = 10;
