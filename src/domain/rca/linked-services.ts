// Who may be the cause of an incident by what is known of calls and machines: two systems that break in the same second and do not call each other have a cause each.
import { joinedWith } from "../topology/reach.ts";
import type { IncidentEvidence } from "./evidence.ts";

type Links = Pick<IncidentEvidence, "target" | "members" | "edges" | "series">;

/**
 * Whether a service may be the cause: calls, by whatever way, or a machine join it with the services of the incident. Of whom no calls are known, nothing speaks
 * against it; where none are known of the incident's own services, against nobody.
 */
export function mayBeLinked({ target, members, edges, series }: Links): (serviceId: string) => boolean {
  const placed = new Set(edges.flat());
  const own = new Set(target === null ? members : [target.serviceId, ...members]);
  if (![...own].some((serviceId) => placed.has(serviceId))) return () => true;
  const joined = joinedWith(edges, own);
  const nodes = new Set<string>();
  for (const { serviceId, node } of series) if (node !== null && joined.has(serviceId)) nodes.add(node);
  const beside = new Set<string>();
  for (const { serviceId, node } of series) if (node !== null && nodes.has(node)) beside.add(serviceId);
  return (serviceId) => !placed.has(serviceId) || joined.has(serviceId) || beside.has(serviceId);
}
