// `for` behind a restart: alerts take over since when they were active from their series ALERTS_FOR_STATE (Group.RestoreForState in rules/group.go of Prometheus).
import { RULE_FOR_GRACE_MS, RULE_OUTAGE_TOLERANCE_MS } from "../../../core/config/rule-limits.ts";
import type { RuleAlert, RuleAlerts } from "./alerting-evaluation.ts";

/** The last sample of an alert's series. */
export interface RecordedActivity {
  readonly timeMs: number;
  /** Seconds since 1970 at which the alert became active. */
  readonly value: number;
  /** The series had ended: the alert was not active. */
  readonly isStale: boolean;
}

/** Alerts with their moments of before. `activity` finds the last sample of an alert's series; one older than the tolerance counts for nothing. */
export function restoreAlerts(
  alerts: RuleAlerts,
  holdMs: number,
  nowMs: number,
  activity: (alert: RuleAlert) => RecordedActivity | undefined,
): RuleAlerts {
  if (holdMs < RULE_FOR_GRACE_MS) return alerts;
  return new Map(
    [...alerts].map(([key, alert]) => {
      const found = activity(alert);
      const isKnown = found !== undefined && !found.isStale && nowMs - found.timeMs <= RULE_OUTAGE_TOLERANCE_MS;
      return [key, isKnown ? { ...alert, activeAtMs: restoredMs(found, holdMs, nowMs) } : alert];
    }),
  );
}

/** Time that the pause took counts for nothing, and a person has the grace at least before an alert fires. */
function restoredMs({ timeMs, value }: RecordedActivity, holdMs: number, nowMs: number): number {
  const activeAtMs = Math.trunc(value) * 1_000;
  const remainingMs = holdMs - (timeMs - activeAtMs);
  if (remainingMs <= 0) return activeAtMs;
  return remainingMs < RULE_FOR_GRACE_MS ? nowMs + RULE_FOR_GRACE_MS - holdMs : activeAtMs + (nowMs - timeMs);
}
