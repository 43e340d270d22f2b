// When the newest sample of a stream was, by what its record says.
import { FLAG_UNJUDGED } from "../../core/layout/stream-record.ts";
import { MINUTE_MS } from "../../core/time/durations.ts";

/** Time of the newest sample by SR_LAST_TIME, SR_FLAGS and SR_UNJUDGED_MINUTES: exact for a value, else to the minute and no earlier; 0 before the first. */
export function newestTimeMs(lastTimeMs: number, flags: number, unjudgedMinutes: number): number {
  return (flags & FLAG_UNJUDGED) === 0 ? lastTimeMs : lastTimeMs + unjudgedMinutes * MINUTE_MS;
}
