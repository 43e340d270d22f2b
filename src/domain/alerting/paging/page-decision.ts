// What became of one finding on its way to a page: the row of the ledger, of the backtest and of an anomaly's answer. Why something did not page is told
// by the first gate that did not let it through.

import type { PageOutcome } from "../../anomaly/page-outcome.ts";
import type { Sentence } from "../../anomaly/sentence.ts";
import { anomalyScore, type Tier } from "../../detection/anomaly-score.ts";
import type { GateResult } from "../../detection/gates/gate-result.ts";
import type { DetectorFamily } from "../ensemble.ts";
import { familyOfDetector } from "./detector-family.ts";

export interface PageDecision {
  readonly atMs: number;
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly detector: string;
  readonly family: DetectorFamily;
  readonly anomalyId: string;
  /** The alert that it opened or belongs to; null where it came to none. */
  readonly alertId: string | null;
  readonly tier: Tier;
  /** 0..1. */
  readonly score: number;
  /** Signed equivalent. */
  readonly z: number;
  readonly outcome: PageOutcome;
  /** Name of the first gate that failed; null where none did. */
  readonly suppressedBy: string | null;
  /** In the order in which they were asked. */
  readonly gates: readonly GateResult[];
  /** Whether the pair's cooldown lets root-cause analysis begin with this anomaly (rule 1.1.5); null where it is no new one. */
  readonly rca: GateResult | null;
  /** Plain sentence of the finding; of one that an inhibition or a silence holds back, with which. */
  readonly explanation: Sentence;
}

type SuppressedFinding = Omit<PageDecision, "alertId" | "family" | "outcome" | "rca" | "score" | "suppressedBy"> & {
  readonly suppressedBy: string;
};

/** The decision on a finding that was suppressed before it came to an anomaly or an alert. */
export function suppressedDecision(of: SuppressedFinding): PageDecision {
  return { ...of, family: familyOfDetector(of.detector), alertId: null, score: anomalyScore(of.z), outcome: "suppressed", rca: null };
}
