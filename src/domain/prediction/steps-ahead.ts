// Which steps a forecast is about: those ahead of now, whenever its history ended.

import { HOUR_MS } from "../../core/time/durations.ts";

/** Steps behind the end of a history. */
export interface StepsAhead {
  /** Steps that begin before now: foretold on the way, and left out. */
  readonly skipped: number;
  /** All of them, to the first that begins `hours` after now or later. */
  readonly horizon: number;
}

/** Steps from the first that does not begin before `nowMs` to the first that begins `hours` after it or later. */
export function stepsAhead(
  endMs: number,
  nowMs: number,
  { stepMs, hours }: { readonly stepMs: number; readonly hours: number },
): StepsAhead {
  const skipped = Math.max(0, Math.ceil((nowMs - endMs) / stepMs));
  return { skipped, horizon: Math.ceil((nowMs + hours * HOUR_MS - endMs) / stepMs) + 1 };
}
