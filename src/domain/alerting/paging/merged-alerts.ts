// Alerts that turn out to be one incident: services that fail together as a cascade, or a tenant that falls silent. What becomes known after some of its members have
// paged takes the identity of the first of them, and the others close into it.
import { INGESTION_SERVICE } from "../../detection/service/tenant-silence.ts";
import { resolveAlert } from "../alert-identity.ts";
import type { DetectorFamily } from "../ensemble.ts";
import { type Alert, beginOfAlert, isOfCascade, takesIn, withChange, withMember } from "./alert.ts";
import { OWN_IDENTITY } from "./detector-family.ts";
import type { Finding } from "./finding.ts";
import type { PagingMemory } from "./paging-memory.ts";

/** Members that opened so long before belong to the incident: five minutes of onsets, and what they waited for before they paged. */
const MEMBER_AGE_MS = 15 * 60_000;

/** Firing alerts of an incident's members: the first of which people know, and all others. */
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
  const told = members.filter(({ pages, heldBy }) => pages > 0 && heldBy === null);
  const first = known === undefined ? told.sort(byCreation)[0] : undefined;
  return { first, others: members.filter((alert) => alert !== first).sort(byCreation) };
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
