// What runbooks and their runs read of the state.
import type { KeyBook } from "../access/key-book.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { AnalysisBooks } from "../analysis/analysis-context.ts";
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import type { PatternHolders } from "../silences/pattern-capacity.ts";
import type { StateWith } from "../state/stored-state.ts";
import type { RunbookBook } from "./runbook-book.ts";

export type RunbookState = StateWith<
  AlertBooks & AnalysisBooks & AnomalyBooks,
  PatternHolders & { readonly runbooks: RunbookBook; readonly keys: KeyBook }
>;
