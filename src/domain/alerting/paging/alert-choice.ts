// Which alert a finding belongs to. What only rises stays where it is. Else it is the alert of the cascade that takes its service in, of the same resource (a metric
// and how full it is are one event), or of its service and family; of an Alertmanager one alert for each fingerprint. A high problem beside a lower alert that people
// know of is an alert of its own.
import { ALERT_UPDATES_MAX } from "../../../core/config/alert-limits.ts";
import { alertFingerprint } from "../../anomaly/webhook-alert.ts";
import type { Tier } from "../../detection/anomaly-score.ts";
import type { WatchdogSettings } from "../../detection/watchdog-settings.ts";
import { baseNameOf } from "../../distribution/derived-values.ts";
import type { AlertKey } from "../alert-identity.ts";
import type { DetectorFamily } from "../ensemble.ts";
import { type Alert, isFiring, isOfCascade, takesIn } from "./alert.ts";
import { OWN_IDENTITY } from "./detector-family.ts";
import type { Finding } from "./finding.ts";
import type { PagingMemory } from "./paging-memory.ts";

/** Families that look at one resource: whichever says it first, the other joins. */
const SAME_RESOURCE: Partial<Record<DetectorFamily, DetectorFamily>> = { metric: "saturation", saturation: "metric" };

/** A finding that looks for its alert. */
interface Choosing {
  readonly finding: Finding;
  readonly family: DetectorFamily;
  readonly settings: WatchdogSettings;
  readonly memory: PagingMemory;
  /** Scope key of the finding's service. */
  readonly place: string;
}

/** The key under which it fires, and the newest alert of it. */
export interface ChosenAlert {
  readonly key: AlertKey;
  readonly known: Alert | undefined;
}

/** Chooses the alert. */
export function chosenAlert(of: Choosing): ChosenAlert {
  const { finding, memory } = of;
  const own = finding.kind === "raised" && finding.alertId !== null ? memory.current(finding.alertId) : undefined;
  if (own !== undefined && isFiring(own)) return { key: own.state.key, known: own };
  const key = keyOf(of);
  return { key, known: memory.newest(key) };
}

function keyOf(of: Choosing): AlertKey {
  const { finding, family, settings, memory, place } = of;
  const { tenant, environment, serviceId, atMs, services } = finding;
  const own = { tenant, environment, serviceId, family };
  if (family === "external") return { ...own, fingerprint: fingerprintOf(finding) };
  if (OWN_IDENTITY.has(family)) return own;
  const cascade = memory.cascadeOf(place);
  const isTaken = cascade !== undefined && takesIn(cascade, atMs, settings.dedupMaxAgeMinutes);
  // A group of one jump takes in that metric alone.
  if (cascade !== undefined && isOfCascade(cascade) && (services.length > 0 || isTaken)) return cascade.state.key;
  if (cascade !== undefined && isTaken && services.length === 0 && speaksOf(cascade, finding.metricName)) return cascade.state.key;
  return ofSameResource(of, own)?.state.key ?? own;
}

function ofSameResource({ finding, family, settings, memory }: Choosing, own: AlertKey): Alert | undefined {
  const other = SAME_RESOURCE[family];
  const alert = other === undefined ? undefined : memory.newest({ ...own, family: other });
  if (alert === undefined || !isFiring(alert) || !takesIn(alert, finding.atMs, settings.dedupMaxAgeMinutes)) return undefined;
  return speaksOf(alert, finding.metricName) ? alert : undefined;
}

/** What an Alertmanager's alert is known by. */
function fingerprintOf({ tenant, attributes }: Finding): string {
  return alertFingerprint(tenant, attributes);
}

/** Whether a finding is a problem of its own beside an alert that people know of: high, of another metric, where that is not. */
export function isOwnProblem({ kind, metricName, services }: Finding, tier: Tier, known: Alert | undefined): boolean {
  if (kind === "raised" || tier !== "high" || services.length > 0 || known === undefined || !isFiring(known)) return false;
  return known.state.tier !== "high" && known.pages > 0 && known.services.length === 0 && !speaksOf(known, metricName);
}

/** What people who know of the alert are told of a further problem in it; null where it is none, or where they have heard of many. */
export function memberUpdate({ kind, metricName, explanation }: Finding, known: Alert): string | null {
  if (kind === "raised" || known.services.length > 0 || speaksOf(known, metricName)) return null;
  const updates = known.history.filter((change) => change.kind === "updated" && change.note !== null).length;
  return updates >= ALERT_UPDATES_MAX ? null : `also ${metricName}: ${explanation}`;
}

function speaksOf({ peak, members }: Alert, metricName: string): boolean {
  const base = baseNameOf(metricName);
  return baseNameOf(peak.metricName) === base || members.some((member) => baseNameOf(member.metricName) === base);
}
