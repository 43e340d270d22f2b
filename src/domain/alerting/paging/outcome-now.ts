// What became of an anomaly by now. Its alert is the one home of whether anybody was told: an anomaly that a gate has held back keeps the decision that was made on
// it, and what is said of it follows its alert, which may have paged since, be held by another gate, or have ended unreported.
import type { AnomalyPaging } from "../../anomaly/anomaly.ts";
import { FLAPPING_GATE } from "../flap-control.ts";
import { INHIBITED_GATE, SILENCED_GATE } from "../inhibition/hold-gates.ts";
import type { Alert } from "./alert.ts";
import { ENDING_GATES } from "./asked-again.ts";
import { CONFIRMATION_GATE } from "./confirmation-gate.ts";
import { GROUP_GATE } from "./group-wait.ts";
import { SNOOZED_GATE } from "./hold-text.ts";

/** Gates that hold an alert, or the rise of one of its findings, back and are asked again while it fires; what another gate held back belongs to no alert. */
const HOLDING_GATES: ReadonlySet<string | null> = new Set([
  CONFIRMATION_GATE,
  INHIBITED_GATE,
  SILENCED_GATE,
  FLAPPING_GATE,
  SNOOZED_GATE,
  GROUP_GATE,
  ...ENDING_GATES,
]);

export type OutcomeNow = Pick<AnomalyPaging, "outcome" | "suppressedBy">;

/** Whether what is said of an anomaly depends on its alert. */
export function followsAlert({ outcome, suppressedBy, alertId }: AnomalyPaging): boolean {
  return outcome === "suppressed" && alertId !== null && HOLDING_GATES.has(suppressedBy);
}

/** The outcome with what its alert, undefined where it is no longer kept, has come to since the decision. */
export function outcomeNow(paging: AnomalyPaging, alert: Alert | undefined): OutcomeNow {
  if (alert === undefined || !followsAlert(paging)) return paging;
  if (alert.history.some(({ kind, atMs }) => kind === "paged" && atMs >= paging.decidedAtMs))
    return { outcome: "paged", suppressedBy: null };
  if (alert.heldBy !== null) return { outcome: "suppressed", suppressedBy: alert.heldBy };
  return alert.pages > 0 ? { outcome: "absorbed", suppressedBy: "dedup" } : paging;
}
