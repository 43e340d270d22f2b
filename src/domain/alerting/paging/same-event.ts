// Alerts of one service that are one event. A metric and how full it is are one; so are the service's metrics together and a metric of them: where both fired at the same
// moment, or what is found of them together names the metric. Whichever came first, the other joins its alert as an update.
import { MINUTE_MS } from "../../../core/time/durations.ts";
import { METRIC_OF_SERVICE } from "../../detection/multivariate/service-verdict.ts";
import type { WatchdogSettings } from "../../detection/watchdog-settings.ts";
import { baseNameOf } from "../../distribution/derived-values.ts";
import type { AlertKey } from "../alert-identity.ts";
import type { DetectorFamily } from "../ensemble.ts";
import { type Alert, isFiring, takesIn } from "./alert.ts";
import type { Finding } from "./finding.ts";
import { openedMs } from "./group-wait.ts";
import type { PagingMemory } from "./paging-memory.ts";

/** Other families of the same service in whose alert a finding may be at home, the nearest first. */
const NEIGHBOURS: Partial<Record<DetectorFamily, readonly DetectorFamily[]>> = {
  metric: ["saturation", "multivariate"],
  saturation: ["metric", "multivariate"],
  multivariate: ["metric", "saturation"],
};
/** Apart at most, what is found at the same moment: as far as the onsets of a cascade, since evidence of many metrics gathers over some vectors of a minute each. */
const MOMENT_MS = 5 * MINUTE_MS;

/** A finding beside the alerts of its service. */
export interface Neighbouring {
  readonly finding: Finding;
  readonly family: DetectorFamily;
  readonly settings: WatchdogSettings;
  readonly memory: PagingMemory;
  /** The finding of an open anomaly; undefined where it has ended. */
  readonly openFindings: (anomalyId: string) => Finding | undefined;
}

/** The firing alert of another family that says the same event as a finding; undefined where there is none. `own` is the finding's own key. */
export function sameEventAlert(of: Neighbouring, own: AlertKey): Alert | undefined {
  const { finding, family, memory, settings } = of;
  for (const neighbour of NEIGHBOURS[family] ?? []) {
    const alert = memory.newest({ ...own, family: neighbour });
    if (alert === undefined || !isFiring(alert) || !takesIn(alert, finding.atMs, settings.dedupMaxAgeMinutes)) continue;
    if (isSameEvent(of, alert) || isOnlyAlertOfMetrics(of, alert, own)) return alert;
  }
  return undefined;
}

/** Whether a finding is what an alert of its service says already. In the alert of one jump over several services, only what is named is. */
export function isSameEvent(of: Pick<Neighbouring, "finding" | "family" | "openFindings">, alert: Alert): boolean {
  const { finding, family } = of;
  if (speaksOf(alert, finding.metricName)) return true;
  const isJoint = family === "multivariate";
  if (!isJoint && (NEIGHBOURS[family] === undefined || !hasJointMember(alert))) return false;
  if (alert.services.length === 0 && isOfMoment(finding, openedMs(alert))) return true;
  return isJoint ? (finding.named ?? []).some((name) => speaksOf(alert, name)) : isNamedIn(of, alert);
}

function isOfMoment({ firedAtMs, atMs }: Finding, openedAtMs: number): boolean {
  return Math.abs(firedAtMs - openedAtMs) <= MOMENT_MS || Math.abs(atMs - openedAtMs) <= MOMENT_MS;
}

/** Whether what is found of the service's metrics together, and is a member of the alert, names the metric. */
function isNamedIn({ finding, openFindings }: Pick<Neighbouring, "finding" | "openFindings">, { members }: Alert): boolean {
  const base = baseNameOf(finding.metricName);
  return members.some(
    ({ anomalyId, serviceId, metricName }) =>
      metricName === METRIC_OF_SERVICE &&
      serviceId === finding.serviceId &&
      openFindings(anomalyId)?.named?.some((name) => baseNameOf(name) === base) === true,
  );
}

/** Whether an alert has the metric among what it is about. */
export function speaksOf({ peak, members }: Pick<Alert, "peak" | "members">, metricName: string): boolean {
  const base = baseNameOf(metricName);
  return baseNameOf(peak.metricName) === base || members.some((member) => baseNameOf(member.metricName) === base);
}

/** A metric's alert may go on as that of the metrics together: then the next metric is at home there, as it would be in the first one's. */
function isOnlyAlertOfMetrics({ family, memory }: Neighbouring, alert: Alert, own: AlertKey): boolean {
  if (family !== "metric" || !hasJointMember(alert) || alert.members.every(({ metricName }) => metricName === METRIC_OF_SERVICE))
    return false;
  const metrics = memory.newest(own);
  return metrics === undefined || !isFiring(metrics);
}

function hasJointMember({ members }: Alert): boolean {
  return members.some(({ metricName }) => metricName === METRIC_OF_SERVICE);
}
