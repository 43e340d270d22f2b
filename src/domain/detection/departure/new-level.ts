// When a departure that goes on is the new level: after it has stayed for long, or once somebody takes it for the usual one.
import { ACCEPTED_MS, ACCEPTED_VALUES, NOTHING_ACCEPTED_MS } from "../../../core/layout/episode-ends.ts";
import { RECENT_VALUES } from "../rolling/recent-values.ts";
import { isFallToNothing } from "./recurrence.ts";
import type { ValueMoment } from "./value-moment.ts";

/** A departure that goes on: its values so far, when it began by the clock on the wall, and what was expected before it. */
export interface LastingDeparture {
  readonly values: number;
  readonly startedMs: number;
  readonly from: number;
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
