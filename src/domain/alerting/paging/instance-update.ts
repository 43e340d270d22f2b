// Further instances of a metric that people know of: told as an update of its alert, one for all that a transaction brings.
import { ALERT_UPDATES_MAX } from "../../../core/config/alert-limits.ts";
import { type Alert, isFiring, updatesOf, withChange } from "./alert.ts";
import { OWN_IDENTITY } from "./detector-family.ts";
import { isNotified } from "./jump-index.ts";

const NAMED_MAX = 8;

/** Instances that have joined an alert. */
export interface JoinedInstances {
  readonly metricName: string;
  readonly instances: readonly string[];
}

/** The alert with an update that names them; undefined where nobody is to be told: nobody knows of it, all of them were named, or people have heard of many. */
export function withInstances(alert: Alert, { metricName, instances }: JoinedInstances, atMs: number): Alert | undefined {
  const isOurs = alert.services.length === 0 && !OWN_IDENTITY.has(alert.state.key.family);
  if (!isOurs || !isFiring(alert) || !isNotified(alert) || alert.snooze !== null) return undefined;
  const notes = updatesOf(alert.history).map(({ note }) => note);
  const further = instances.filter((instance) => !notes.some((note) => isNamed(note, metricName, instance)));
  if (further.length === 0 || notes.length >= ALERT_UPDATES_MAX) return undefined;
  const rest = further.length - NAMED_MAX;
  const note = `${beginningOf(metricName)}${further.slice(0, NAMED_MAX).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
  return withChange(alert, { atMs, kind: "updated", tier: alert.state.tier, by: null, note });
}

function isNamed(note: string, metricName: string, instance: string): boolean {
  const beginning = beginningOf(metricName);
  return note.startsWith(beginning) && note.slice(beginning.length).split(", ").includes(instance);
}

function beginningOf(metricName: string): string {
  return `also ${metricName} on `;
}
