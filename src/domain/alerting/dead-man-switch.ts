// The dead-man's switch (rule 1.1.12): one ping of DEADMAN_HEARTBEAT_URL for every evaluation tick that came to its end. Pings have no clock
// of their own: a process whose evaluation has stalled has no new tick to report, and falls silent.
import { above, type GateResult } from "../detection/gates/gate-result.ts";

/** Ticks are counted from the start of the process. */
export interface DeadManState {
  /** The last tick that a ping was sent for. */
  readonly pingedTick: number;
  /** A ping is on its way; the next waits for its end, and then reports the newest tick only. */
  readonly inFlight: boolean;
}

export const UNPINGED: DeadManState = { pingedTick: 0, inFlight: false };

export interface DeadManStep {
  readonly state: DeadManState;
  readonly ping: boolean;
  readonly gate: GateResult;
}

/** Asked at any time, as often as one likes: pings once for each completed tick, and never without a new one. */
export function deadManStep(state: DeadManState, completedTicks: number): DeadManStep {
  const gate = above("evaluation_tick", completedTicks, state.pingedTick);
  if (!gate.passed || state.inFlight) return { state, ping: false, gate };
  return { state: { pingedTick: completedTicks, inFlight: true }, ping: true, gate };
}

/** The ping was answered, or failed: a failed one is not sent again, as the next tick brings the next. */
export function pingEnded(state: DeadManState): DeadManState {
  return { ...state, inFlight: false };
}
