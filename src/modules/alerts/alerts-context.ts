// What the handlers of alerts use.
import type { Alert } from "../../domain/alerting/paging/alert.ts";
import type { Anomaly } from "../../domain/anomaly/anomaly.ts";
import type { LabelBooks } from "../labels/labels-context.ts";
import type { Using } from "../queries/query-context.ts";
import type { AlertBook } from "./alert-book.ts";
import type { AlertDraft } from "./alert-draft.ts";

export interface AlertBooks {
  readonly alerts: AlertBook;
}

/** Anomalies by their id. */
interface AnomalySource {
  readonly anomalies: { find(tenant: string, id: string): Anomaly | undefined };
}

/** Effects of a change on alerts: for the operations of the change, and to be taken over once they are stored. */
export interface AlertChanges {
  draftAlerts(): AlertDraft;
  takeAlerts(draft: AlertDraft): void;
}

/** Views of what channels have received of an alert. */
interface DeliveryViews {
  readonly channels: { view(alert: Alert): object };
}

export type AlertsContext = Using<"edit" | "nowMs" | "yieldToLoop", AlertBooks & AnomalySource, LabelBooks> & DeliveryViews;
