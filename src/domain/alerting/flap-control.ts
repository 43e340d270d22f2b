// An alert that comes back again and again pages less and less: from the third reopening within an hour on, a reopening pages only after a
// pause that doubles with each, up to an hour. The alert itself fires all the while.
import { MINUTE_MS } from "../../core/time/durations.ts";
import { atLeast, type GateResult } from "../detection/gates/gate-result.ts";

export const FLAPPING_GATE = "flapping";

const WINDOW_MS = 3_600_000;
const REOPENINGS_FREE = 3;
const PAUSE_MS_FIRST = 5 * MINUTE_MS;
const PAUSE_MS_MAX = WINDOW_MS;
/** Reopenings remembered: the pause is at its maximum from the seventh on. */
const REOPENINGS_RETAINED = 8;

/** State kept per alert key. */
export interface FlapState {
  /** Times of the last reopenings, oldest first, at most 8. */
  readonly reopenedMs: readonly number[];
  /** Last time that this key paged; null before. */
  readonly pagedMs: number | null;
}

export const CALM: FlapState = { reopenedMs: [], pagedMs: null };

export interface FlapStep {
  readonly state: FlapState;
  /** Minutes since the last page against the pause; passed where the reopening pages. */
  readonly gate: GateResult;
}

/** A reopening at `nowMs`. */
export function reopen(state: FlapState, nowMs: number): FlapStep {
  const reopenedMs = [...state.reopenedMs.filter((time) => nowMs - time < WINDOW_MS), nowMs].slice(-REOPENINGS_RETAINED);
  const since = state.pagedMs === null ? Number.POSITIVE_INFINITY : nowMs - state.pagedMs;
  const gate = atLeast(FLAPPING_GATE, since / MINUTE_MS, pauseMs(reopenedMs.length) / MINUTE_MS);
  return { state: { reopenedMs, pagedMs: gate.passed ? nowMs : state.pagedMs }, gate };
}

/** Whether the pause that the reopenings so far ask for is over. */
export function pauseGate({ reopenedMs, pagedMs }: FlapState, nowMs: number): GateResult {
  const recent = reopenedMs.filter((time) => nowMs - time < WINDOW_MS).length;
  return atLeast(FLAPPING_GATE, pagedMs === null ? Number.POSITIVE_INFINITY : (nowMs - pagedMs) / MINUTE_MS, pauseMs(recent) / MINUTE_MS);
}

/** A page for any other reason than a reopening. */
export function paged(state: FlapState, nowMs: number): FlapState {
  return { ...state, pagedMs: nowMs };
}

function pauseMs(reopenings: number): number {
  if (reopenings < REOPENINGS_FREE) return 0;
  return Math.min(PAUSE_MS_MAX, PAUSE_MS_FIRST * 2 ** (reopenings - REOPENINGS_FREE));
}
