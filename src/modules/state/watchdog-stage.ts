// A stage of the Watchdog's cycle, as the nouns give them to it.
import type { WatchdogCounts } from "../../core/protocol/engine-control.ts";

export interface Cycle {
  readonly number: number;
  readonly nowMs: number;
}

/** One pass of a cycle, in the order of the list that the Watchdog is made with. */
export interface WatchdogStage {
  readonly name: string;
  /** Every so many cycles, the first included. */
  readonly every: number;
  /** Rejects with EngineUnavailableError or StoreError where it could not be done; the cycle ends there and counts as failed. */
  run(cycle: Cycle): Promise<StageOutcome>;
}

export interface StageOutcome {
  readonly counts: WatchdogCounts;
  /** Working time of all threads for it. */
  readonly workMs: number;
}
