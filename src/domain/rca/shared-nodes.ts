// What a machine ties: services that do not call each other and depart together where they share one. The one whose resource there departs most has taken what the others
// lack. A neighbour counts that is hit on that machine and not elsewhere, and whose callees do not explain it.
import { calleesOf, callersOf } from "../topology/reach.ts";
import type { IncidentEvidence, SeriesEvidence } from "./evidence.ts";
import { meaningOf, type ResourceKind } from "./metric-kind.ts";
import { factsOf } from "./series-facts.ts";

/** From here on a resource is taken, and a neighbour hit. */
const TAKEN_MIN = 3;
const HIT_MIN = 3;
/** Neighbours that say something by themselves, and where the machine's own metrics depart. */
const NEIGHBOURS_MIN = 2;
const NEIGHBOURS_OF_LOUD_NODE_MIN = 1;
/** A service that is hit as much on another machine is not hit by this one. */
const ELSEWHERE_MAX = 0.6;
/** Resources that a machine's services take from each other. */
const SHARED: ReadonlySet<string> = new Set<ResourceKind>(["cpu", "memory", "disk", "network"]);

/** What ties a service with others on a machine. */
export interface NodeTie {
  readonly node: string;
  readonly neighbours: readonly string[];
  /** Sum of what the neighbours show, each by no more than the resource departs. */
  readonly strength: number;
}

/** What is known of one service on one machine. */
interface Tenant {
  resource: number;
  symptom: number;
}

/** By service that has taken a machine's resource the tie to its neighbours. */
export function nodeTies({ series, edges }: Pick<IncidentEvidence, "series" | "edges">): ReadonlyMap<string, NodeTie> {
  const [nodes, loud] = tenantsByNode(series);
  const ties = new Map<string, NodeTie>();
  for (const [node, tenants] of nodes) {
    const [first] = [...tenants].sort(([a, x], [b, y]) => y.resource - x.resource || (a < b ? -1 : 1));
    if (first === undefined || tenants.size < 2 || first[1].resource < TAKEN_MIN) continue;
    const [serviceId, { resource }] = first;
    const joined = new Set([...callersOf(edges, serviceId).keys(), ...calleesOf(edges, serviceId).keys()]);
    const hit = [...tenants].filter(([other, { symptom }]) => {
      return other !== serviceId && symptom >= HIT_MIN && !joined.has(other) && isHitHere(nodes, node, other, symptom);
    });
    const neighbours = hit
      .map(([other]) => other)
      .filter((other) => !edges.some(([caller, callee]) => caller === other && isHit(nodes, callee)));
    if (neighbours.length < ((loud.get(node) ?? 0) >= TAKEN_MIN ? NEIGHBOURS_OF_LOUD_NODE_MIN : NEIGHBOURS_MIN)) continue;
    const strength = neighbours.reduce((sum, other) => sum + Math.min(resource, tenants.get(other)!.symptom), 0);
    if (strength > (ties.get(serviceId)?.strength ?? 0)) ties.set(serviceId, { node, neighbours: neighbours.sort(), strength });
  }
  return ties;
}

type Nodes = ReadonlyMap<string, ReadonlyMap<string, Tenant>>;

/** Services by machine, and by machine how far its own metrics depart. */
function tenantsByNode(series: readonly SeriesEvidence[]): [Nodes, ReadonlyMap<string, number>] {
  const nodes = new Map<string, Map<string, Tenant>>();
  const loud = new Map<string, number>();
  for (const { node, serviceId, metricName, peer, departure } of factsOf(series).onNodes) {
    if (node === null || peer !== null) continue;
    const { kind, harm, ofHost } = meaningOf(metricName);
    const novelty = harm !== 0 && Math.sign(departure.shift) !== harm ? 0 : departure.novelty;
    if (ofHost) {
      if (SHARED.has(kind)) loud.set(node, Math.max(novelty, loud.get(node) ?? 0));
      continue;
    }
    const tenants = nodes.get(node) ?? new Map<string, Tenant>();
    nodes.set(node, tenants);
    const tenant = tenants.get(serviceId) ?? { resource: 0, symptom: 0 };
    tenants.set(serviceId, tenant);
    if (SHARED.has(kind)) tenant.resource = Math.max(tenant.resource, novelty);
    else if (kind === "latency" || kind === "errors") tenant.symptom = Math.max(tenant.symptom, novelty);
  }
  return [nodes, loud];
}

function isHitHere(nodes: Nodes, node: string, serviceId: string, symptom: number): boolean {
  for (const [other, tenants] of nodes)
    if (other !== node && (tenants.get(serviceId)?.symptom ?? 0) > ELSEWHERE_MAX * symptom) return false;
  return true;
}

function isHit(nodes: Nodes, serviceId: string): boolean {
  return [...nodes.values()].some((tenants) => (tenants.get(serviceId)?.symptom ?? 0) >= HIT_MIN);
}
