// How fast requests beyond a rate are answered, and how many may wait for it (ADR 54).

/** Requests beyond a rate that are answered in one turn of the front's event loop: at 15 us each, a quarter of a millisecond for whoever keeps to its rate. */
export const REFUSALS_PER_SLICE = 16;
/** Pace of refusals to a tenant that is refused more than it is allowed: 400 a second for all such together, 1 to 2 % of a core, and 60 us in one go. */
export const REFUSAL_INTERVAL_MS = 5;
export const PACED_REFUSALS_PER_INTERVAL = 2;
/** Where more wait, each does so about this long, which is what Retry-After asks for; a bunch of PACED_REFUSALS_MAX that comes at once up to four times as long. */
export const PACED_REFUSAL_WAIT_MS = 1_000;
/** Requests that wait so, 2 KiB each; beyond, the first is answered as the next one comes. 40 % of the connections: the others are for whoever keeps to its rate. */
export const PACED_REFUSALS_MAX = 4_096;
