// One jump of one metric over several services, whichever of their metrics departs most: their alerts are one, told once, with the services in it. It forms when the wait of the first of them is over.
import { GROUP_SERVICES_PER_ALERT_MAX } from "../../../core/config/notification-limits.ts";
import { type Tier, tierRank } from "../../detection/anomaly-score.ts";
import { holdGates } from "../inhibition/hold-gates.ts";
import { severityOfServices } from "../severity.ts";
import { type Alert, withChange } from "./alert.ts";
import { isKnownLately, isNotified, isOfEnough, type Jump, jumpsOf } from "./jump-index.ts";
import { mergedAlert, withMembersOf } from "./merged-alerts.ts";
import type { PageDecision } from "./page-decision.ts";
import { decideAgain, decisionOn, notified } from "./page-pipeline.ts";
import type { PagingMemory } from "./paging-memory.ts";
import type { PagingSources } from "./paging-sources.ts";
import { alsoOn } from "./service-scope.ts";
import { isWaiting } from "./waiting-alerts.ts";

interface JumpGroup {
  /** The first that was told, else the first that opened. */
  readonly leader: Alert;
  readonly others: readonly Alert[];
  readonly services: readonly string[];
}

/** Decides on an alert whose wait is over: its group is told, or it is by itself. */
export function decideGroup(alert: Alert, sources: PagingSources, memory: PagingMemory, nowMs: number): PageDecision[] {
  const group = isSuppressed(alert, sources, memory, nowMs) ? undefined : jumpGroup(alert, sources, memory, nowMs);
  if (group === undefined) return [decideAgain(alert, sources, memory, nowMs) ?? []].flat();
  const { leader, others, services } = group;
  const ended = others.map((other) => {
    memory.keep(mergedAlert(other, leader, nowMs));
    return decisionOn(other, endOf(other, nowMs), "resolved", []);
  });
  const joined = others.reduce(withMembersOf, {
    ...leader,
    services,
    state: { ...leader.state, tier: severityOfServices(highestOf([leader, ...others])) },
  });
  if (isNotified(leader)) {
    const change = { atMs: nowMs, kind: "updated", tier: joined.state.tier, by: null, note: alsoOn(others.flatMap(servicesOf)) } as const;
    memory.keep(withChange(joined, change));
    return ended;
  }
  memory.keep(notified(joined, nowMs));
  return [...ended, decisionOn(joined, endOf(joined, nowMs), "paged", [])];
}

/** The largest of the groups that an alert may be a part of, by one of its metrics. */
function jumpGroup(alert: Alert, sources: PagingSources, memory: PagingMemory, nowMs: number): JumpGroup | undefined {
  const groups = jumpsOf(alert).flatMap((jump) => groupOf(jump, alert, sources, memory, nowMs) ?? []);
  return groups.reduce<JumpGroup | undefined>(
    (most, group) => (group.services.length > (most?.services.length ?? 0) ? group : most),
    undefined,
  );
}

function groupOf({ name, metric }: Jump, alert: Alert, sources: PagingSources, memory: PagingMemory, nowMs: number): JumpGroup | undefined {
  const peers = [...memory.jumps.of(name)];
  if (!isOfEnough([alert, ...peers], metric)) return undefined; // what holds each of them is dear to ask
  // What people know of takes in what departs with it for as long as the onsets of a cascade may be apart.
  const known = peers.filter((other) => isKnownLately(other, nowMs)).sort(byOpening);
  const others = peers.filter((other) => other !== alert && isWaiting(other) && !isSuppressed(other, sources, memory, nowMs));
  const waiting = [alert, ...others].sort(byOpening);
  if (!isOfEnough([...known, ...waiting], metric)) return undefined;
  const leader = known[0] ?? (waiting[0] as Alert);
  const services = [...new Set([leader, ...waiting].flatMap(servicesOf))].slice(0, GROUP_SERVICES_PER_ALERT_MAX);
  return { leader, others: waiting.filter((other) => other !== leader), services };
}

/** Whether something else than the wait holds it by now. */
function isSuppressed({ state, labels }: Alert, sources: PagingSources, memory: PagingMemory, nowMs: number): boolean {
  const subject = { tenant: state.key.tenant, labels, openedAtMs: state.createdAtMs };
  return holdGates(subject, sources, memory, nowMs).gates.some(({ passed }) => !passed);
}

function servicesOf({ services, state }: Alert): readonly string[] {
  return services.length > 0 ? services : [state.key.serviceId];
}

function highestOf(alerts: readonly Alert[]): Tier {
  return alerts.map(({ state }) => state.tier).reduce((highest, tier) => (tierRank(tier) > tierRank(highest) ? tier : highest));
}

function byOpening(one: Alert, other: Alert): number {
  return one.state.createdAtMs - other.state.createdAtMs || (one.state.id < other.state.id ? -1 : 1);
}

function endOf({ peak, state }: Alert, atMs: number) {
  return { ...peak, alertId: state.id, by: null, atMs };
}
