// What an evaluation has begun and ended among the alerts that fire.
import type { RuleAlert, RuleAlerts } from "./alerting-evaluation.ts";

/** Alerts that fire since this evaluation, and those that did before it and do no more. */
export interface FiringChanges {
  readonly began: readonly RuleAlert[];
  readonly ended: readonly RuleAlert[];
}

/** Compares the alerts of a rule before and behind an evaluation at `timeMs`. Where a limit has been exceeded none is left, and all have ended. */
export function firingChanges(before: RuleAlerts, after: RuleAlerts, timeMs: number): FiringChanges {
  const fires = (alerts: RuleAlerts, key: string) => alerts.get(key)?.state === "firing";
  const began = [...after].filter(([key, { state }]) => state === "firing" && !fires(before, key)).map(([, alert]) => alert);
  const gone = [...before].filter(([key, { state }]) => state === "firing" && !fires(after, key));
  return { began, ended: gone.map(([key, alert]) => after.get(key) ?? { ...alert, resolvedAtMs: timeMs }) };
}
