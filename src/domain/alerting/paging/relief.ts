// A resource of which people were told that it runs full has room again: that is the end of its alert, and no finding of its metric, which has learned the way up as usual.
import { MINUTE_MS } from "../../../core/time/durations.ts";
import { kindOfName } from "../../saturation/bounded-name.ts";
import { isFiring } from "./alert.ts";
import { type Neighbouring, speaksOf } from "./same-event.ts";

export const RELIEF = "relief";
/** What falls to so little of what it was has stopped. */
const STOPPED_SHARE = 0.1;

/** Whether a finding is the end of what an alert of saturation says. */
export function isRelief({ finding, family, settings, memory }: Pick<Neighbouring, "finding" | "family" | "settings" | "memory">): boolean {
  const { tenant, environment, serviceId, metricName, z, atMs, effect } = finding;
  if (family !== "metric" || finding.alertId !== null) return false;
  const isRemaining = kindOfName(metricName) === "remaining";
  if (Math.sign(z) !== (isRemaining ? 1 : -1)) return false;
  if (!isRemaining && effect !== undefined && Math.abs(effect.observed) <= STOPPED_SHARE * Math.abs(effect.expected)) return false;
  const alert = memory.newest({ tenant, environment, serviceId, family: "saturation" });
  if (alert === undefined || !speaksOf(alert, metricName)) return false;
  const { resolvedAtMs } = alert.state;
  return isFiring(alert) || atMs - (resolvedAtMs ?? 0) <= settings.dedupMaxAgeMinutes * MINUTE_MS;
}
