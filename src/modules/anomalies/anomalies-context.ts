// What the handlers of anomalies use.
import type { Changing } from "../access/changes.ts";
import type { AlertDraft } from "../alerts/alert-draft.ts";
import type { AlertBooks, AlertChanges } from "../alerts/alerts-context.ts";
import type { Using } from "../queries/query-context.ts";
import type { AnomalyBook } from "./anomaly-book.ts";
import type { VerdictDraft } from "./verdict-draft.ts";

export interface AnomalyBooks {
  readonly anomalies: AnomalyBook;
}

/** Effects of a change on anomalies, and on alerts with them. */
export interface AnomalyChanges extends AlertChanges {
  draftVerdicts(alerts: AlertDraft): VerdictDraft;
  takeVerdicts(draft: VerdictDraft): void;
}

/** What ends anomalies and alerts by hand. */
export type EndingContext = Using<"nowMs" | "publish", AnomalyBooks & AlertBooks> & AlertChanges;

export type AnomaliesContext = EndingContext & Using<"pause", AnomalyBooks & AlertBooks> & Changing & AnomalyChanges;
