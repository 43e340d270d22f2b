// What people do about an alert, one change at a time: the same for one alert and for many. An action that finds everything as it would leave it changes nothing.

import { type Refusal, refused } from "../../api/refusal.ts";
import { SNOOZE_DAYS_MAX } from "../../core/config/alert-limits.ts";
import { DAY_MS } from "../../core/time/durations.ts";
import type { AlertChangeKind } from "../../domain/alerting/alert-changes.ts";
import { type Alert, isFiring, withChange } from "../../domain/alerting/paging/alert.ts";
import type { EndedAnomalies } from "../anomalies/ended-anomalies.ts";
import { hasAccepted, type KnownLevels, levelAdvice } from "./level-acceptance.ts";

const RESOLVED_ALREADY = "the alert is resolved already; only one that fires has a level to accept";

/** Somebody who acts, and when. */
export interface ActionScope {
  /** Takes the changes. */
  readonly ended: EndedAnomalies;
  /** As it stands in the alert. */
  readonly by: string;
  readonly atMs: number;
}

/** Does something to an alert, as far as that changes it. */
export type AlertAction = (alert: Alert, scope: ActionScope) => Refusal | undefined;

/** Somebody is at it: nobody is called again but where its severity rises to high. */
export function acknowledging(note: string | null): AlertAction {
  return (alert, { ended, by, atMs }) => {
    if (!isFiring(alert)) return refused("conflict", "the alert is resolved already; only one that fires can be acknowledged").refusal;
    const { acknowledged } = alert;
    // Said again without a note, it is a repeat: what was said before stays.
    if (acknowledged?.by === by && (note === null || acknowledged.note === note)) return undefined;
    ended.alerts.keep(changed({ ...alert, acknowledged: { by, note, atMs }, heldBy: null }, "acknowledged", { by, note, atMs }));
    return undefined;
  };
}

export function unacknowledging(note: string | null): AlertAction {
  return (alert, { ended, by, atMs }) => {
    if (alert.acknowledged === null) return undefined;
    ended.alerts.keep(changed({ ...alert, acknowledged: null }, "unacknowledged", { by, note, atMs }));
    return undefined;
  };
}

export function assigning(assignee: string | null): AlertAction {
  return (alert, { ended, by, atMs }) => {
    if (alert.assignee === assignee) return undefined;
    ended.alerts.keep(changed({ ...alert, assignee }, "assigned", { by, note: assignee, atMs }));
    return undefined;
  };
}

/** Takes the levels that an alert tells of for the usual ones: `known` has what was found out of it before. Repeated, it changes nothing. */
export function accepting(known: KnownLevels, note: string | null): AlertAction {
  return (alert, { ended }) => {
    if (!isFiring(alert)) return alert.ending?.reason === "accepted" ? undefined : refused("conflict", RESOLVED_ALREADY).refusal;
    const levels = known.get(alert.state.id);
    if (levels === undefined)
      return hasAccepted(alert, (id) => ended.read(id)) ? undefined : refused("conflict", levelAdvice(alert)).refusal;
    ended.acceptLevels(levels, note);
    return undefined;
  };
}

/** Ends an alert with all that is open in it. */
export function resolving(note: string | null): AlertAction {
  return (alert, { ended }) => {
    if (isFiring(alert)) ended.endAlert(alert, note);
    return undefined;
  };
}

/** Calls nobody before `untilMs`; null ends the snooze: who has been told already is not called for that. */
export function snoozing(untilMs: number | null, note: string | null): AlertAction {
  return (alert, { ended, by, atMs }) => {
    const refusal = untilMs === null ? undefined : untilRefusal(untilMs, atMs);
    const { snooze } = alert;
    if (refusal !== undefined || (snooze === null && untilMs === null)) return refusal;
    if (snooze !== null && snooze.untilMs === untilMs && snooze.by === by && snooze.note === note) return undefined;
    const kind = untilMs === null ? "snooze_ended" : "snoozed";
    const after = untilMs === null ? null : { untilMs, by, note, atMs };
    ended.alerts.keep(changed({ ...alert, snooze: after }, kind, { by, note, atMs }));
    return undefined;
  };
}

export function commenting(text: string): AlertAction {
  return (alert, { ended, by, atMs }) => {
    ended.alerts.note(alert, { atMs, kind: "comment", by, text });
    return undefined;
  };
}

function untilRefusal(untilMs: number, atMs: number): Refusal | undefined {
  if (untilMs <= atMs) return refused("invalid_field", "until must lie ahead; null ends the snooze", "until").refusal;
  if (untilMs <= atMs + SNOOZE_DAYS_MAX * DAY_MS) return undefined;
  const advice = `until may lie ${SNOOZE_DAYS_MAX} days ahead at most; a silence holds for longer (POST /api/v1/silences)`;
  return refused("invalid_field", advice, "until").refusal;
}

function changed(alert: Alert, kind: AlertChangeKind, of: Pick<ActionScope, "by" | "atMs"> & { readonly note: string | null }): Alert {
  return withChange(alert, { kind, tier: alert.state.tier, ...of });
}
