// A rule that looks at services, or at what is open, once a cycle.
import type { EpisodeFrame } from "../../../core/protocol/coordinator-frame.ts";
import type { Anomaly } from "../../anomaly/anomaly.ts";

/** The cycle at hand. */
export interface RuleCycle {
  readonly nowMs: number;
  /** Cycles since the first. */
  readonly number: number;
  openAnomalies(): Iterable<Anomaly>;
}

export interface BacktestRule {
  /** Microseconds of a cycle, about. */
  readonly costUs: number;
  /** Changes of the cycle. Cycles come in order. */
  cycle(at: RuleCycle): readonly EpisodeFrame[] | Promise<readonly EpisodeFrame[]>;
}
