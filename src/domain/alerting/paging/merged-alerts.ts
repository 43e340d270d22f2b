// Alerts that turn out to be one incident: services that fail together as a cascade, or a tenant that falls silent. What becomes known after some of its members have
// paged takes the identity of the first of them, and the others close into it. So does a cascade beside another one of some of the same services, or of the same jump, that is
// not five minutes old.
import { INGESTION_SERVICE } from "../../detection/service/tenant-silence.ts";
import { resolveAlert } from "../alert-identity.ts";
import type { DetectorFamily } from "../ensemble.ts";
import { type Alert, beginOfAlert, isOfCascade, takesIn, withChange, withMember } from "./alert.ts";
import { OWN_IDENTITY } from "./detector-family.ts";
import type { Finding } from "./finding.ts";
import { GROUP_LATELY_MS, openedMs } from "./group-wait.ts";
import { isKnownLately, isNotified, isOfEnough, jumpsOf } from "./jump-index.ts";
import type { PagingMemory } from "./paging-memory.ts";
import { scopeText } from "./service-scope.ts";

/** Members that opened so long before belong to the incident: five minutes of onsets, and what they waited for before they paged. */
const MEMBER_AGE_MS = 15 * 60_000;

/** Firing alerts of an incident's members: the first of which people know, or that of a cascade that it is a part of, and all others. */
export interface MemberAlerts {
  readonly first: Alert | undefined;
  readonly others: readonly Alert[];
}

const NONE: MemberAlerts = { first: undefined, others: [] };

interface MergingState {
  readonly memory: PagingMemory;
  /** The firing alert that the finding has already. */
  readonly known: Alert | undefined;
  readonly dedupMaxAgeMinutes: number;
}

/** The alerts that a finding makes one; none for most. */
export function memberAlerts(finding: Finding, family: DetectorFamily, { memory, known, dedupMaxAgeMinutes }: MergingState): MemberAlerts {
  const isMember = memberRule(finding, family);
  if (isMember === undefined) return NONE;
  const members = [...memory.firing(finding.tenant)].filter(
    (alert) =>
      alert.state.id !== known?.state.id &&
      !isOfCascade(alert) &&
      finding.atMs - alert.state.createdAtMs <= MEMBER_AGE_MS &&
      (known === undefined || takesIn(known, alert.state.createdAtMs, dedupMaxAgeMinutes)) &&
      isMember(alert),
  );
  const first = known === undefined ? firstOf(finding, members, memory) : undefined;
  return { first, others: members.filter((alert) => alert !== first).sort(byCreation) };
}

/** The alert that goes on as that of all of them: of a cascade with some of the same services, of a member, or of what has jumped alike, the first that people know of. */
function firstOf(finding: Finding, members: readonly Alert[], memory: PagingMemory): Alert | undefined {
  const sharing = sharingCascade(finding, memory);
  if (sharing !== undefined && isNotified(sharing)) return sharing;
  const member = members.filter(isNotified).sort(byCreation)[0];
  return member ?? (finding.services.length > 0 ? jumpedAlike(finding, members, memory) : undefined) ?? sharing;
}

/** The first cascade of late that has a service of another one. */
function sharingCascade({ tenant, environment, services, atMs }: Finding, memory: PagingMemory): Alert | undefined {
  const others = services.flatMap((serviceId) => memory.cascadeOf(scopeText({ tenant, environment, serviceId })) ?? []);
  return others.filter((alert) => isOfCascade(alert) && atMs - openedMs(alert) <= GROUP_LATELY_MS).sort(byCreation)[0];
}

/** What people were told of lately and that makes one jump of a metric with the members of a cascade. */
function jumpedAlike({ atMs }: Finding, members: readonly Alert[], memory: PagingMemory): Alert | undefined {
  const jumps = new Map(members.flatMap(jumpsOf).map(({ name, metric }) => [name, metric]));
  const alike = [...jumps].flatMap(([name, metric]) =>
    [...memory.jumps.of(name)].filter((alert) => isKnownLately(alert, atMs) && isOfEnough([alert, ...members], metric)),
  );
  return alike.sort(byCreation)[0];
}

function memberRule({ environment, serviceId, services }: Finding, family: DetectorFamily): ((alert: Alert) => boolean) | undefined {
  if (services.length > 0) {
    const members = new Set(services);
    return ({ state: { key } }) => key.environment === environment && members.has(key.serviceId) && !OWN_IDENTITY.has(key.family);
  }
  const isTenants = family === "stale" && serviceId === INGESTION_SERVICE;
  return isTenants ? ({ state: { key } }) => key.family === "stale" && key.serviceId !== INGESTION_SERVICE : undefined;
}

function byCreation(one: Alert, other: Alert): number {
  return one.state.createdAtMs - other.state.createdAtMs || (one.state.id < other.state.id ? -1 : 1);
}

/** The alert with the members of another in it. */
export function withMembersOf(alert: Alert, other: Alert): Alert {
  return {
    ...alert,
    members: other.members.reduce(withMember, alert.members),
    anomalies: alert.anomalies + other.anomalies,
    open: alert.open + other.open,
    beganAtMs: Math.min(beginOfAlert(alert), beginOfAlert(other)),
  };
}

/** An alert that closes into another. */
export function mergedAlert(alert: Alert, into: Alert, atMs: number): Alert {
  const note = `part of ${into.peak.metricName} on ${into.peak.serviceId}, which goes on as alert ${into.state.id}`;
  const change = { atMs, kind: "resolved", tier: alert.state.tier, by: null, note } as const;
  const ending = { reason: "cascade", person: null } as const;
  return withChange({ ...alert, open: 0, mergedInto: into.state.id, ending, state: resolveAlert(alert.state, atMs) }, change);
}
