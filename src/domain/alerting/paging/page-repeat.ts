// An alert of high that nobody has acknowledged is told again under its key (REPEAT_MINUTES), while nothing holds it.
import { holdGates } from "../inhibition/hold-gates.ts";
import { type Alert, isFiring } from "./alert.ts";
import type { PageDecision } from "./page-decision.ts";
import { decisionOn, notified } from "./page-pipeline.ts";
import type { PagingMemory } from "./paging-memory.ts";
import type { PagingSources } from "./paging-sources.ts";

/** Whether the page of an alert is due again. */
export function isRepeated(alert: Alert, nowMs: number, repeatMs: number): boolean {
  const { state, pages, heldBy, acknowledged, snooze } = alert;
  if (
    repeatMs <= 0 ||
    !isFiring(alert) ||
    state.tier !== "high" ||
    pages === 0 ||
    heldBy !== null ||
    acknowledged !== null ||
    snooze !== null
  )
    return false;
  return state.flap.pagedMs !== null && nowMs - state.flap.pagedMs >= repeatMs;
}

/** Pages it again; undefined where something holds it for now. */
export function decideRepeat(alert: Alert, sources: PagingSources, memory: PagingMemory, nowMs: number): PageDecision | undefined {
  if (!isRepeated(alert, nowMs, sources.repeatMs)) return undefined;
  const { key, createdAtMs } = alert.state;
  const { gates } = holdGates({ tenant: key.tenant, labels: alert.labels, openedAtMs: createdAtMs }, sources, memory, nowMs);
  if (gates.some(({ passed }) => !passed)) return undefined;
  memory.keep(notified(alert, nowMs));
  return decisionOn(alert, { ...alert.peak, alertId: alert.state.id, by: null, atMs: nowMs }, "paged", gates);
}
