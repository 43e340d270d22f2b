// What joins an anomaly with an incident: evidence, never time alone. Within a minute and a half of the incident's onset it is the same service, calls, a shared node or
// instance, one jump of one metric over three services or more; within five minutes a report whose cause explains it, as a symptom. What begins later, or is not explained,
// has an onset of its own to be looked at.
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import { INSTANCE_NAMES } from "../series/instance-name.ts";
import { meaningOf, RESOURCE_KINDS } from "./metric-kind.ts";

export interface IncidentAnomaly {
  readonly id: string;
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly startedAtMs: number;
  readonly direction?: "high" | "low";
  readonly attributes?: Attributes;
}

/** Evidence that an incident has gathered, and by which it takes anomalies in. */
export interface IncidentTraits {
  readonly services: Set<string>;
  /** Nodes and instances of its anomalies. */
  readonly nodes: Set<string>;
  /** Each metric that jumped, by metric and direction. */
  readonly jumps: Map<string, MetricJump>;
  /** Services that calls join with it; null before the first look. */
  graph: { readonly joined: ReadonlySet<string> } | null;
  /** The first candidate of its newest report, and whom it hits; null where it names no cause. */
  cause: { readonly serviceId: string; readonly explained: ReadonlySet<string> } | null;
}

/** When a metric jumped last, and on which services, as many as make it one event. */
export interface MetricJump {
  readonly atMs: number;
  readonly services: readonly string[];
}

/** Onsets of one incident lie so close together: by what they share, and where a cause explains the later one. */
const JOIN_MS = 90_000;
const EXPLAINED_MS = 5 * 60_000;
/** So many services whose one metric jumps the same way within so long have one cause; two may be a chance, as names of metrics are everybody's. */
const JUMP_MS = 10_000;
/** So many services make a jump of one metric one event; two may be a chance. */
export const JUMP_SERVICES_MIN = 3;
/** Attributes that name a machine; of an address the host counts. */
const NODE_NAMES = [...INSTANCE_NAMES, "node", "host", "k8s.node.name"] as const;
const PORT = /:\d{1,5}$/;

/** Traits of an incident that an anomaly begins. */
export function traitsOf(anomaly: IncidentAnomaly): IncidentTraits {
  return {
    services: new Set([anomaly.serviceId]),
    nodes: new Set(nodesOf(anomaly)),
    jumps: new Map([[jumpOf(anomaly), metricJump(anomaly)]]),
    graph: null,
    cause: null,
  };
}

/** Whether evidence makes an anomaly a part of an incident of that onset. */
export function isEvident(traits: IncidentTraits, onsetMs: number, anomaly: IncidentAnomaly): boolean {
  if (!isOfTime(onsetMs, anomaly.startedAtMs)) return false;
  return isExplained(traits.cause, anomaly) || (isOfOnset(onsetMs, anomaly.startedAtMs) && shares(traits, anomaly));
}

/** Whether a cause explains an anomaly: one of the cause itself, or a symptom of whom it hits. A resource of another service is something else. */
function isExplained(cause: IncidentTraits["cause"], { serviceId, metricName }: IncidentAnomaly): boolean {
  if (cause === null || !cause.explained.has(serviceId)) return false;
  return serviceId === cause.serviceId || !RESOURCE_KINDS.some((kind) => kind === meaningOf(metricName).kind);
}

function shares({ services, nodes, jumps, graph }: IncidentTraits, anomaly: IncidentAnomaly): boolean {
  const { serviceId } = anomaly;
  if (services.has(serviceId) || graph?.joined.has(serviceId) === true) return true;
  if (isOneJump([jumps.get(jumpOf(anomaly)), metricJump(anomaly)])) return true;
  return nodes.size > 0 && nodesOf(anomaly).some((node) => nodes.has(node));
}

/** Whether what jumped, here and there, is one event together. */
function isOneJump(jumps: ReadonlyArray<MetricJump | undefined>): boolean {
  const known = jumps.filter((jump) => jump !== undefined);
  if (known.length < jumps.length || new Set(known.flatMap(({ services }) => services)).size < JUMP_SERVICES_MIN) return false;
  const times = known.map(({ atMs }) => atMs);
  return Math.max(...times) - Math.min(...times) <= JUMP_MS;
}

/** Those of several incidents that an anomaly makes one by the jump of its metric: none where too few services had it. */
export function ofOneJump<Incident extends Pick<IncidentTraits, "jumps">>(
  incidents: readonly Incident[],
  anomaly: IncidentAnomaly,
): Incident[] {
  const own = metricJump(anomaly);
  const having = incidents.filter(
    ({ jumps }) => Math.abs((jumps.get(jumpOf(anomaly))?.atMs ?? Number.NEGATIVE_INFINITY) - own.atMs) <= JUMP_MS,
  );
  const services = new Set([...own.services, ...having.flatMap(({ jumps }) => jumps.get(jumpOf(anomaly))?.services ?? [])]);
  return services.size < JUMP_SERVICES_MIN ? [] : having;
}

/** Whether two onsets are near enough for one incident where one cause explains both. */
export function isOfTime(oneMs: number, otherMs: number): boolean {
  return Math.abs(oneMs - otherMs) <= EXPLAINED_MS;
}

/** Whether they are near enough for one whatever joins them. */
export function isOfOnset(oneMs: number, otherMs: number): boolean {
  return Math.abs(oneMs - otherMs) <= JOIN_MS;
}

/** Whether calls, a node or a jump join two incidents. */
export function areOne(one: IncidentTraits, other: IncidentTraits): boolean {
  for (const serviceId of other.services) if (one.services.has(serviceId) || one.graph?.joined.has(serviceId) === true) return true;
  for (const node of other.nodes) if (one.nodes.has(node)) return true;
  for (const [name, jump] of other.jumps) if (isOneJump([one.jumps.get(name), jump])) return true;
  return false;
}

/** Adds what an anomaly shows, up to `most` of each kind; true where its service is new. */
export function addTraits({ services, nodes, jumps }: IncidentTraits, anomaly: IncidentAnomaly, most: number): boolean {
  const isNew = !services.has(anomaly.serviceId);
  if (services.size < most) services.add(anomaly.serviceId);
  for (const node of nodesOf(anomaly)) if (nodes.size < most) nodes.add(node);
  addJump(jumps, jumpOf(anomaly), metricJump(anomaly), most);
  return isNew;
}

/** Adds what another incident shows. */
export function addAllTraits(into: IncidentTraits, other: IncidentTraits, most: number): void {
  for (const serviceId of other.services) if (into.services.size < most) into.services.add(serviceId);
  for (const node of other.nodes) if (into.nodes.size < most) into.nodes.add(node);
  for (const [name, jump] of other.jumps) addJump(into.jumps, name, jump, most);
}

/** One that comes long behind another of its metric is another jump. */
function addJump(jumps: Map<string, MetricJump>, name: string, jump: MetricJump, most: number): void {
  const known = jumps.get(name);
  if (known === undefined && jumps.size >= most) return;
  const before = known !== undefined && Math.abs(jump.atMs - known.atMs) <= JUMP_MS ? known.services : [];
  const services = [...new Set([...before, ...jump.services])].slice(0, JUMP_SERVICES_MIN);
  jumps.set(name, { atMs: Math.max(jump.atMs, known?.atMs ?? 0), services });
}

function metricJump({ serviceId, startedAtMs }: IncidentAnomaly): MetricJump {
  return { atMs: startedAtMs, services: [serviceId] };
}

function nodesOf({ attributes = {} }: IncidentAnomaly): string[] {
  return NODE_NAMES.flatMap((name) => {
    const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    return typeof value === "string" && value !== "" ? [value.replace(PORT, "")] : [];
  });
}

function jumpOf({ metricName, direction = "high" }: IncidentAnomaly): string {
  return `${direction} ${metricName}`;
}
