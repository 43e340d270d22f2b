// Which alert a finding belongs to. What only rises stays where it is. Else it is the alert of the cascade that takes its service in, of the same event (same-event.ts),
// or of its service and family; of an Alertmanager one alert for each fingerprint. A high problem beside a lower alert that people know of is an alert of its own.
import { sentenceText } from "../../anomaly/sentence.ts";
import { alertFingerprint } from "../../anomaly/webhook-alert.ts";
import type { Tier } from "../../detection/anomaly-score.ts";
import { baseNameOf } from "../../distribution/derived-values.ts";
import type { AlertKey } from "../alert-identity.ts";
import { doublingsOf, isUsedUp } from "../severity.ts";
import { type Alert, hasUpdatesLeft, isFiring, isOfCascade, takesIn } from "./alert.ts";
import { OWN_IDENTITY } from "./detector-family.ts";
import type { Finding } from "./finding.ts";
import { GROUP_LATELY_MS, openedMs } from "./group-wait.ts";
import { isSameEvent, type Neighbouring, sameEventAlert, speaksOf } from "./same-event.ts";
import { isBeyondSaid } from "./worse-update.ts";

/** A finding that looks for its alert. */
interface Choosing extends Neighbouring {
  /** Scope key of the finding's service. */
  readonly scope: string;
}

/** The key under which it fires, and the newest alert of it. */
export interface ChosenAlert {
  readonly key: AlertKey;
  readonly known: Alert | undefined;
}

export function chosenAlert(of: Choosing): ChosenAlert {
  const { finding, memory } = of;
  const own = finding.kind === "raised" && finding.alertId !== null ? memory.current(finding.alertId) : undefined;
  if (own !== undefined && isFiring(own)) return { key: own.state.key, known: own };
  const key = keyOf(of);
  return { key, known: memory.newest(key) };
}

function keyOf(of: Choosing): AlertKey {
  const { finding, family, settings, memory, scope: key } = of;
  const { tenant, environment, serviceId, atMs, services } = finding;
  const own = { tenant, environment, serviceId, family };
  if (family === "external") return { ...own, fingerprint: fingerprintOf(finding) };
  if (OWN_IDENTITY.has(family)) return own;
  const cascade = memory.cascadeOf(key);
  const isTaken = cascade !== undefined && takesIn(cascade, atMs, settings.dedupMaxAgeMinutes);
  // A group of one jump takes in that metric alone, and what is found of it with others.
  if (cascade !== undefined && isOfCascade(cascade) && (services.length > 0 || isTaken)) return cascade.state.key;
  if (cascade !== undefined && isTaken && services.length === 0 && isSameEvent(of, cascade)) return cascade.state.key;
  return sameEventAlert(of, own)?.state.key ?? own;
}

/** What an Alertmanager's alert is known by. */
function fingerprintOf({ tenant, attributes }: Finding): string {
  return alertFingerprint(tenant, attributes);
}

/**
 * Whether a finding is a problem of its own beside an alert that people know of: high, of another event, where that is not; and always a resource that is used up, where
 * they have not heard of it as far.
 */
export function isOwnProblem(of: Pick<Neighbouring, "finding" | "family" | "openFindings">, tier: Tier, known: Alert | undefined): boolean {
  const { kind, services } = of.finding;
  if (kind === "raised" || tier !== "high" || services.length > 0 || known === undefined || !isFiring(known)) return false;
  if (known.pages === 0 || known.services.length > 0) return false;
  return isUsedUp(of.finding) ? isBeyondSaid(of.finding, known) : known.state.tier !== "high" && !isSameEvent(of, known);
}

/** What people who know of the alert are told of a further problem in it, or of a member that is high by now; null where it is neither, or where they have heard of many. */
export function memberUpdate(finding: Finding, tier: Tier, known: Alert): string | null {
  const { kind, serviceId, metricName, explanation } = finding;
  const isOfServices = known.services.length > 0;
  const isHigh = tier === "high" && doublingsOf(finding) !== undefined;
  if (isOfServices && !(isHigh && isBehind(finding, known))) return null;
  const isKnown = isHigh ? hasHeardOf(known, metricName) : kind === "raised" || speaksOf(known, metricName);
  if (isKnown || !hasUpdatesLeft(known, isHigh)) return null;
  return `also ${metricName}${isOfServices ? ` on ${serviceId}` : ""}: ${sentenceText(explanation)}`;
}

/** Whether a finding began so long behind an alert of several services that it may be another problem, which that must not keep quiet. */
function isBehind({ firedAtMs }: Finding, known: Alert): boolean {
  return firedAtMs - openedMs(known) > GROUP_LATELY_MS;
}

/** Whether people were told of the metric, which is more than that the alert has it. */
function hasHeardOf({ peak, notifiedEffects }: Alert, metricName: string): boolean {
  const base = baseNameOf(metricName);
  return (notifiedEffects ?? [peak]).some((heard) => baseNameOf(heard.metricName) === base);
}
