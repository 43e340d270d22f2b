// When a departure that goes on is the new level: after it has stayed for long, or once somebody takes it for the usual one; and whether there is a level to depart from.
import { ACCEPTED_MS, ACCEPTED_VALUES, LASTING_MS, LASTING_VALUES, NOTHING_ACCEPTED_MS } from "../../../core/layout/episode-ends.ts";
import { RECENT_VALUES } from "../rolling/recent-values.ts";
import { isFallToNothing } from "./recurrence.ts";
import type { ValueMoment } from "./value-moment.ts";

/** Share of its values that a series with a level has there, and departures that show that there is none. */
const OF_LEVEL_SHARE = 2 / 3;
const DEPARTURES_MIN = 3;

/** A departure that goes on: its values so far, when it began by the clock on the wall, and what was expected before it. */
export interface LastingDeparture {
  readonly values: number;
  readonly startedMs: number;
  readonly from: number;
}

/** Whether so many values have lasted for as long as those of a young series are looked at together. */
export function hasLasted(values: number, durationMs: number): boolean {
  return values >= LASTING_VALUES && durationMs >= LASTING_MS;
}

/** Whether it has lasted for so long that it is the new level: nobody takes it for one that there is nothing left. */
export function hasStayed({ values, startedMs, from }: LastingDeparture, { localMs, newest }: ValueMoment): boolean {
  if (values < ACCEPTED_VALUES || localMs - startedMs < ACCEPTED_MS) return false;
  return !isFallToNothing(newest.mean(RECENT_VALUES), from) || localMs - startedMs >= NOTHING_ACCEPTED_MS;
}

/** Whether somebody has taken the level of a departure that began then for the usual one. */
export function isTaken(startedMs: number, { localMs, acceptedMs = 0 }: ValueMoment): boolean {
  return startedMs <= acceptedMs && localMs >= acceptedMs;
}

/**
 * Whether a series of so many values has shown a level, of which so many were, before it departed so often: one that has left its level again and again, for more than a
 * third of the time, has none. A few incidents do not make one of these.
 */
export function hasShownLevel(values: number, ofLevel: number, departures: number): boolean {
  return ofLevel >= OF_LEVEL_SHARE * values || departures < DEPARTURES_MIN;
}
