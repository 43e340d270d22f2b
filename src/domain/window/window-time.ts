// Windows of 10 s and when they close. What came in time is judged by when its request arrived, never by when it is looked at, so a replay decides alike.
//
// Window w holds [w x 10 s, (w + 1) x 10 s). Closing k is at k x 10 s + 5 s; what arrives in time belongs to closing w + 1 of its window. What arrives later
// belongs to the first closing behind its arrival: a sender that is behind gets its windows all the same, a few seconds after it has sent them.

const WINDOW_MS = 10_000;
/** From the end of a window to its closing. */
const CLOSING_DELAY_MS = 5_000;

/** Number of the window that holds a time. */
export function windowOf(timeMs: number): number {
  return Math.floor(timeMs / WINDOW_MS);
}

/** The time that a window's values stand under: its end. */
export function windowTimeMs(window: number): number {
  return (window + 1) * WINDOW_MS;
}

/** The closing that a value of a window belongs to which arrived then. */
export function closingOf(window: number, arrivalWallMs: number): number {
  return Math.max(window + 1, Math.floor((arrivalWallMs - CLOSING_DELAY_MS) / WINDOW_MS) + 1);
}

/** When a closing is. */
export function closingMs(closing: number): number {
  return closing * WINDOW_MS + CLOSING_DELAY_MS;
}

/** The last closing at or before a time. */
export function closingsUpTo(timeMs: number): number {
  return Math.floor((timeMs - CLOSING_DELAY_MS) / WINDOW_MS);
}

/** The minute since 1970 that a window is in. */
export function minuteOfWindow(window: number): number {
  return Math.floor((window * WINDOW_MS) / 60_000);
}

/** Minutes that an engine remembers one by one of what the analysis of incidents compares: lines by template, self times by operation. */
export const MINUTES_RETAINED = 20;
