// Candidates for the cause of an incident, by service. Each source is measured by what it usually reaches without an incident, so that a source that is
// loud by nature does not drown one that is not: ln(1 + x^2) of x = strength / usual strength, and the sum over the sources.
import { median } from "../detection/robust.ts";
import { STALE_METRIC } from "../detection/service/stale-finding.ts";
import { callersOf, joinedWith } from "../topology/reach.ts";
import type { ChangeEvidence, IncidentEvidence } from "./evidence.ts";
import { type LineFinding, lineFindings } from "./line-findings.ts";
import { SYMPTOM_MIN } from "./metric-kind.ts";
import { withPeers } from "./peers.ts";
import { factsOf } from "./series-facts.ts";
import { FELT_BY_CALLERS, type MetricsView, metricsView, type ServiceMetrics } from "./service-metrics.ts";
import { type NodeTie, nodeTies } from "./shared-nodes.ts";
import { type SpanFinding, slowOperations, spanFindings } from "./span-findings.ts";

/** Strengths, in standard deviations, that a line or a span reaches without an incident among some hundreds of others. */
const USUAL_STRENGTH_MIN = 4;
const USUAL_STRENGTH_MARGIN = 0.5;
/** Strengths of a service that fell silent, a resource near its end, a change just before, in the same measure. */
const SILENCE = 3;
const SATURATION = 2;
const CHANGE = 1.5;
/** Spreads above what is usual from which on a resource near its end departs. */
const RESOURCE_DEPARTS_MIN = 1.5;
/** A change counts when it came so long before the onset at most, and its service has something else to show. */
const CHANGE_MINUTES_MAX = 30;
const CHANGE_SUPPORT_MIN = 0.7;
/** Spreads above what is usual by which requests must have risen at the front door, and half of that in the middle of all services. */
const SURGE_USUAL = 4;
const SURGE_SERVICES_MIN = 3;
/** The mean of the window must have risen, not one value: standard deviations. */
const SURGE_SHIFT_MIN = 3;
/** And what is asked at the door by so much: much more than usual is not yet many more. */
const SURGE_TIMES_MIN = 1.3;
/** Load at the door outweighs what it does to others by so much of the best of them. */
const SURGE_OUTWEIGHS = 0.8;

/** A service, and what speaks for it. */
export interface RankedService {
  readonly serviceId: string;
  readonly score: number;
  readonly metrics: ServiceMetrics | undefined;
  readonly line: LineFinding | undefined;
  readonly span: SpanFinding | undefined;
  readonly silent: boolean;
  readonly saturated: boolean;
  readonly change: ChangeEvidence | undefined;
}

/** All that ranking found. */
export interface Ranking {
  readonly services: readonly RankedService[];
  readonly metrics: MetricsView;
  readonly lines: readonly LineFinding[];
  readonly spans: readonly SpanFinding[];
  /** Strengths that the strongest line and span usually reach, by how many there are. */
  readonly usualLine: number;
  readonly usualSpan: number;
  /** Load that rose at a front door and with it everywhere. */
  readonly surge: Surge | undefined;
  /** Callees that send nothing themselves: a third party, a managed service. */
  readonly peers: ReadonlySet<string>;
  /** Services that have taken a machine's resource, with those that lack it. */
  readonly tied: ReadonlyMap<string, NodeTie>;
  /** Calls, with those to peers. */
  readonly edges: IncidentEvidence["edges"];
  /** Share of a service's operations that became slower by themselves. */
  slowShare(serviceId: string): number;
}

/** Candidates, the likeliest first; services that nothing speaks for are left out. */
export function rankServices(input: IncidentEvidence): Ranking {
  const { evidence, peers } = withPeers(input);
  const tied = nodeTies(evidence);
  const metrics = metricsView(evidence, peers, tied);
  const lines = lineFindings(evidence);
  const spans = spanFindings(evidence);
  const usualLine = usualStrength(evidence.lines.length);
  const usualSpan = usualStrength(evidence.operations.length);
  const surge = surgeOf(metrics, evidence.edges);
  const parts = {
    usualLine,
    usualSpan,
    surge,
    metrics: new Map(metrics.services.map((service) => [service.serviceId, service])),
    lines: firstByService(lines),
    spans: firstByService(spans),
    felt: feltOfPeers(evidence, peers, metrics),
    silent: new Set(silentServices(evidence, metrics)),
    saturated: new Set(saturatedServices(evidence, metrics)),
    changes: changesBefore(evidence),
  };
  const serviceIds = new Set([...parts.metrics.keys(), ...parts.lines.keys(), ...parts.spans.keys(), ...parts.silent, ...parts.saturated]);
  const scored = [...serviceIds].filter(mayBeLinked(evidence)).map((serviceId) => ranked(serviceId, parts, metrics.usualTop));
  const services = withSurge(scored, surge)
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.serviceId < b.serviceId ? -1 : 1));
  const slowShare = (serviceId: string) => {
    const { slow, known } = slowOperations(spans, evidence.operations, serviceId);
    return known === 0 ? 0 : slow / known;
  };
  return { services, metrics, lines, spans, usualLine, usualSpan, surge, peers, tied, edges: evidence.edges, slowShare };
}

/** Load that rises at a door and with it everywhere explains what the others show. */
function withSurge(services: readonly RankedService[], surge: Surge | undefined): readonly RankedService[] {
  const most = services.reduce((best, { score }) => Math.max(best, score), 0);
  return services.map((service) =>
    service.serviceId === surge?.serviceId ? { ...service, score: service.score + SURGE_OUTWEIGHS * most } : service,
  );
}

/** The largest of so many standard normal numbers, with a margin. */
function usualStrength(count: number): number {
  return Math.max(USUAL_STRENGTH_MIN, Math.sqrt(2 * Math.log(Math.max(1, count))) + USUAL_STRENGTH_MARGIN);
}

interface Parts {
  readonly usualLine: number;
  readonly usualSpan: number;
  readonly surge: Surge | undefined;
  readonly metrics: ReadonlyMap<string, ServiceMetrics>;
  readonly lines: ReadonlyMap<string, LineFinding>;
  readonly spans: ReadonlyMap<string, SpanFinding>;
  /** Of peers, what their callers show. */
  readonly felt: ReadonlyMap<string, number>;
  readonly silent: ReadonlySet<string>;
  readonly saturated: ReadonlySet<string>;
  readonly changes: ReadonlyMap<string, ChangeEvidence>;
}

function ranked(serviceId: string, parts: Parts, usualTop: number): RankedService {
  const metrics = parts.metrics.get(serviceId);
  const line = parts.lines.get(serviceId);
  const span = parts.spans.get(serviceId);
  const silent = parts.silent.has(serviceId);
  const saturated = parts.saturated.has(serviceId);
  // What callers show is a peer's only where spans say that they wait for it.
  const felt = span === undefined || span.strength < parts.usualSpan / 2 ? 0 : (parts.felt.get(serviceId) ?? 0);
  const support =
    weight((metrics?.total ?? felt) / usualTop) +
    weight((line?.strength ?? 0) / parts.usualLine) +
    weight((span?.strength ?? 0) / parts.usualSpan) +
    (parts.surge?.serviceId === serviceId ? weight(parts.surge.strength / SURGE_USUAL) : 0) +
    (silent ? weight(SILENCE) : 0) +
    (saturated ? weight(SATURATION) : 0);
  const change = support < CHANGE_SUPPORT_MIN ? undefined : parts.changes.get(serviceId);
  return { serviceId, score: support + (change === undefined ? 0 : weight(CHANGE)), metrics, line, span, silent, saturated, change };
}

/** By peer the sum of what its callers show. */
function feltOfPeers({ edges }: IncidentEvidence, peers: ReadonlySet<string>, metrics: MetricsView): Map<string, number> {
  const felt = new Map<string, number>();
  for (const [caller, callee] of edges)
    if (peers.has(callee)) felt.set(callee, (felt.get(callee) ?? 0) + FELT_BY_CALLERS * metrics.symptomNovelty(caller));
  return felt;
}

/** Services whose silence explains something: what others show that still send. A silence never explains itself, nor other silences. */
function silentServices({ silent, target, members, edges }: IncidentEvidence, metrics: MetricsView): readonly string[] {
  if (silent.length === 0 || target?.metricName === STALE_METRIC) return [];
  const quiet = new Set(silent);
  return silent.filter((serviceId) => {
    const callers = callersOf(edges, serviceId);
    const others = callers.size === 0 ? members : [...callers.keys()];
    return others.some((other) => other !== serviceId && !quiet.has(other) && metrics.symptomNovelty(other) >= SYMPTOM_MIN);
  });
}

/** Services whose resource near its end may explain the incident: one that departs, or of a service that calls or the incident itself join with it. Disks fill for days. */
function saturatedServices({ saturated, target, members, edges }: IncidentEvidence, { services }: MetricsView): readonly string[] {
  const joined = joinedWith(edges, ownServices({ target, members }));
  const departs = new Set(services.filter(({ resource }) => resource >= RESOURCE_DEPARTS_MIN).map(({ serviceId }) => serviceId));
  return saturated.map(({ serviceId }) => serviceId).filter((serviceId) => joined.has(serviceId) || departs.has(serviceId));
}

/** A rise of what is asked at a door, and the series that says so. */
export interface Surge {
  readonly serviceId: string;
  readonly metricName: string;
  readonly strength: number;
}

/** The front door whose requests rose most, where those of most services rose with it: nobody calls it, and it calls others or is named so. */
function surgeOf({ table }: MetricsView, edges: IncidentEvidence["edges"]): Surge | undefined {
  const callers = new Set(edges.map(([caller]) => caller));
  const called = new Set(edges.map(([, callee]) => callee));
  const known = table.services.flatMap((serviceId, service) => riseOf(table, serviceId, service) ?? []);
  if (known.length < SURGE_SERVICES_MIN || median(known.map(({ strength }) => strength)) < SURGE_USUAL / 2) return undefined;
  const doors = known.filter(({ serviceId, strength }) => !called.has(serviceId) && strength > SURGE_USUAL);
  const named = doors.filter(({ serviceId }) => DOOR.test(serviceId));
  return (named.length > 0 ? named : doors.filter(({ serviceId }) => callers.has(serviceId))).reduce<Surge | undefined>(
    (most, door) => (door.strength > (most?.strength ?? 0) ? door : most),
    undefined,
  );
}

/** Names of what stands at the edge of a system. */
const DOOR =
  /(?:^|[^a-z])(?:gateway|gw|front-?end|edge|ingress|portal|proxy|nginx|envoy|lb|load-?balancer|web|www|bff|router)(?:$|[^a-z])|(?:Gateway|Frontend|Ingress|Portal|Proxy)/;

function riseOf(table: MetricsView["table"], serviceId: string, service: number): Surge | undefined {
  const series = table.leading(service, "rate");
  if (series === undefined) return undefined;
  const { mean, sd, shift, novelty } = series.departure;
  const rises = shift > SURGE_SHIFT_MIN && mean + shift * sd > SURGE_TIMES_MIN * mean;
  return { serviceId, metricName: series.metricName, strength: rises ? novelty : 0 };
}

function weight(times: number): number {
  return Math.log1p(times * times);
}

function firstByService<F extends { readonly serviceId: string }>(findings: readonly F[]): Map<string, F> {
  const first = new Map<string, F>();
  for (const finding of findings) if (!first.has(finding.serviceId)) first.set(finding.serviceId, finding);
  return first;
}

/** By service the last change before the onset; one behind it is no cause. */
function changesBefore({ changes, onsetMs }: IncidentEvidence): Map<string, ChangeEvidence> {
  const last = new Map<string, ChangeEvidence>();
  for (const change of changes) {
    if (change.atMs > onsetMs || change.atMs < onsetMs - CHANGE_MINUTES_MAX * 60_000) continue;
    const known = last.get(change.serviceId);
    if (known === undefined || known.atMs < change.atMs) last.set(change.serviceId, change);
  }
  return last;
}

// Who may be the cause of an incident by what is known of calls and machines: two systems that break in the same second and do not call each other have a cause each.

type Links = Pick<IncidentEvidence, "target" | "members" | "edges" | "series" | "lines" | "operations">;

/**
 * Whether a service may be the cause: calls, by whatever way, or a machine join it with the services of the incident. Of whom no calls are known, nothing speaks
 * against it; where none are known of the incident's own services, against nobody. But of services that show nothing themselves nothing tells that another has hit them.
 */
function mayBeLinked(evidence: Links): (serviceId: string) => boolean {
  const { edges, series } = evidence;
  const placed = new Set(edges.flat());
  const own = ownServices(evidence);
  const hides = showsNothing(own, evidence);
  if (!hides && ![...own].some((serviceId) => placed.has(serviceId))) return () => true;
  const joined = joinedWith(edges, own);
  const { onNodes } = factsOf(series);
  const nodes = new Set<string>();
  for (const { serviceId, node } of onNodes) if (node !== null && joined.has(serviceId)) nodes.add(node);
  const beside = new Set<string>();
  for (const { serviceId, node } of onNodes) if (node !== null && nodes.has(node)) beside.add(serviceId);
  return (serviceId) => (!hides && !placed.has(serviceId)) || joined.has(serviceId) || beside.has(serviceId);
}

function ownServices({ target, members }: Pick<IncidentEvidence, "target" | "members">): ReadonlySet<string> {
  return new Set(target === null ? members : [target.serviceId, ...members]);
}

/** Whether nothing has come of any of an incident's services since its onset: an alert of another system, a person's, or of what fell silent. */
function showsNothing(own: ReadonlySet<string>, { series, lines, operations }: Links): boolean {
  const { services } = factsOf(series);
  if (own.size === 0 || [...own].some((serviceId) => services.has(serviceId))) return false;
  return ![lines, operations].some((all) => all.some(({ serviceId }) => own.has(serviceId)));
}
