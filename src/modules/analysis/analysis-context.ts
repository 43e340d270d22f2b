// What the handlers of root-cause analysis use.

import type { Changing } from "../access/changes.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { AnomalyBooks, AnomalyChanges } from "../anomalies/anomalies-context.ts";
import type { PredictionContext } from "../prediction/prediction-context.ts";
import type { Using } from "../queries/query-context.ts";
import type { AnalysisBook } from "./analysis-book.ts";
import type { EvidenceGathering } from "./evidence-gathering.ts";
import type { RcaReport } from "./report-row.ts";

export interface AnalysisBooks {
  readonly analyses: AnalysisBook;
}

interface Analysing {
  /** Asks the engines what they hold of an incident. */
  readonly gathering: EvidenceGathering;
  /** The summary of an analysis, worded by a language model where one is configured. */
  wordSummary(analysis: RcaReport["analysis"]): Promise<string>;
}

export type AnalysisContext = PredictionContext &
  Using<"nowMs" | "options" | "publish" | "yieldToLoop", AlertBooks & AnalysisBooks & AnomalyBooks> &
  Changing &
  AnomalyChanges &
  Analysing;
