// Where a cause lies: in the infrastructure, in the application, or outside. Rules over what speaks for the first candidate, the strongest first.

import { hostOf, isAddress, isInside } from "../trace/span-peer.ts";
import type { IncidentEvidence } from "./evidence.ts";
import { saysShortage } from "./line-findings.ts";
import { meaningOf } from "./metric-kind.ts";
import type { RankedService, Ranking } from "./ranking.ts";

export type RootCauseCategory = "infrastructure" | "application" | "external" | "unknown";

/** A resource that departs so far, and is felt so much, is short. */
const SHORT_MIN = 3;
export const FELT_MIN = 3;
/** A machine whose own metrics depart so far is behind what runs on it. */
const HOST_MIN = 6;
const SLOW_SHARE_MIN = 0.5;

/** The category of the first candidate. */
export function categoryOf(ranking: Ranking, evidence: IncidentEvidence, first: RankedService): RootCauseCategory {
  const { metrics, line, span } = first;
  if (ranking.surge?.serviceId === first.serviceId) return "external";
  if (ranking.peers.has(first.serviceId)) return isOutside(first.serviceId, evidence) ? "external" : "infrastructure";
  const resource = metrics?.resource ?? 0;
  const isSlow = (span?.kind === "self_time" ? span.strength : 0) >= ranking.usualSpan;
  const ofWay = span?.kind === "call_gap" || span?.kind === "refused_calls";
  const ofOthers = ranking.tied.has(first.serviceId) ? SHORT_MIN : 0;
  const felt = Math.max(metrics?.symptom ?? 0, isSlow ? SHORT_MIN : 0, ofWay ? span.strength : 0, ofOthers);
  const isShort = first.saturated || (resource >= SHORT_MIN && felt >= SHORT_MIN);
  const speaks = Math.max(line?.strength ?? 0, span?.kind === "origin_errors" ? span.strength : 0) / ranking.usualLine;
  const presses = (metrics?.total ?? 0) / ranking.metrics.usualTop;
  if (speaks >= 1 && !(isShort && presses > speaks))
    return line !== undefined && saysShortage(line.template) ? "infrastructure" : "application";
  if (first.change !== undefined && !first.saturated) return "application";
  if (isShort || first.silent || (metrics?.feltByCallers ?? 0) >= FELT_MIN) return "infrastructure";
  if (ofWay && span.strength >= ranking.usualSpan) return "infrastructure";
  if (isSlow && ranking.slowShare(first.serviceId) >= SLOW_SHARE_MIN && resource > 0) return "infrastructure";
  return hostDeparts(evidence, first.serviceId) ? "infrastructure" : "application";
}

/** Words of the names of stores and brokers, which are one's own even where somebody else runs them. */
const STORES = new Set(
  "db database sql mysql mariadb postgres postgresql pg redis valkey memcached cache mongo mongodb cassandra elasticsearch opensearch rds kafka rabbitmq broker queue nats pulsar".split(
    " ",
  ),
);

/** Whether a peer's name is that of a host elsewhere; a bare word, an address, a name like those of one's services, a store or a broker is one's own. */
function isOutside(peer: string, { senders, series }: IncidentEvidence): boolean {
  const host = hostOf(peer);
  if (isAddress(host) || isInside(host) || host.split(/[.\-_\d]+/).some((word) => STORES.has(word))) return false;
  const head = host.split(".").slice(0, 2).join(".");
  const isLikePeer = (serviceId: string) => serviceId !== peer && serviceId.toLowerCase().startsWith(`${head}.`);
  return !senders.some(isLikePeer) && !series.some(({ serviceId }) => isLikePeer(serviceId));
}

function hostDeparts({ series }: IncidentEvidence, serviceId: string): boolean {
  return series.some(
    (one) =>
      one.serviceId === serviceId &&
      meaningOf(one.metricName).ofHost &&
      one.departure.novelty >= HOST_MIN &&
      one.departure.shift > SHORT_MIN,
  );
}
