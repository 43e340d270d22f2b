// What metrics say of each service: a resource of its own that departs, symptoms that it shows, and what those that call it feel.
//
//   own resource        largest novelty of cpu, memory, disk, network, pools (PRISM, arXiv 2601.21359: internal)
//   symptom             largest of latency and errors, half of what it feels of those it calls (external)
//   felt by callers     what all of its callers feel of those they call: it stands between them, or its network
//   explained           symptoms that its callers show with it
//
// What half of all services have is no departure of one. The same sum of the windows before says how large it gets without an incident.
import { selectIndex } from "../../core/collections/selection.ts";
import { familyOfMetric } from "../series/metric-family.ts";
import { joinedWith } from "../topology/reach.ts";
import { waitShares } from "./callee-waits.ts";
import type { IncidentEvidence } from "./evidence.ts";
import { type MetricKind, meaningOf, RESOURCE_KINDS, SYMPTOM_KINDS } from "./metric-kind.ts";
import { NoveltyTable } from "./novelty-table.ts";
import { factsOf } from "./series-facts.ts";
import type { NodeTie } from "./shared-nodes.ts";

/** Weights of the sum, chosen on Online Boutique and held on PetShop (ADR 97). */
const FELT_ITSELF = 0.5;
export const FELT_BY_CALLERS = 0.5;
const EXPLAINED = 0.5;
/** Parts of what a service shows that are those of others: of the share that it waits, and of the novelty of its own calls for what fills meanwhile. */
const WAITED = 0.5;
const POOL_BY_WAIT = 0.7;
/** What fills while nothing else of the service departs waits for somebody else: who takes from it too slowly. */
const POOL_ALONE = 0.6;
const ALONE_MAX = 2;
const NOT_POOLS: readonly MetricKind[] = ["cpu", "memory", "disk", "latency", "errors"];
/** Weight of the other symptom, when one of a known kind is asked for. */
const OTHER_SYMPTOM = 0.3;
/** Share of windows before whose largest sum is at most the usual one; more is called unusual. */
const USUAL_SHARE = 0.93;
const USUAL_MIN = 4;
const TAIL_WINDOWS_MIN = 10;
const FAR_ABOVE = 2;

/** One service's sum and its parts. */
export interface ServiceMetrics {
  readonly serviceId: string;
  readonly resource: number;
  readonly resourceKind: MetricKind;
  readonly symptom: number;
  readonly feltByCallers: number;
  readonly explained: number;
  readonly total: number;
}

/** All services, and what their largest sum usually is. */
export interface MetricsView {
  readonly table: NoveltyTable;
  readonly services: readonly ServiceMetrics[];
  readonly usualTop: number;
  /** Windows before that are known. */
  readonly windows: number;
  /** Share of windows before whose largest sum reaches the one now. */
  readonly tailShare: number;
  /** The metric that shows a service's symptom. */
  symptomName(serviceId: string): string;
  /** Novelty of its symptom, whoever causes it. */
  symptomNovelty(serviceId: string): number;
  /** The same with what most services have in common. */
  symptomShown(serviceId: string): number;
  /** Whether it sends something that would show one. */
  knowsSymptoms(serviceId: string): boolean;
}

interface Neighbours {
  readonly callers: readonly number[][];
  /** Peers outside that each service says it waits for. */
  readonly peers: readonly number[][];
}

interface Surroundings extends Neighbours {
  /** Share of each service's growth that it waits for others, where spans tell. */
  readonly waitShares: readonly number[];
  /** Largest novelty of each service's series of calls that name their callee. */
  readonly namedCalls: readonly number[];
  /** By how much less each service is asked while calls of it fail at those that call it. */
  readonly starved: readonly number[];
  /** What those on each service's machine show while it takes their resource. */
  readonly ties: readonly number[];
  readonly lateMs: number;
}

function namedCallsOf(table: NoveltyTable, series: IncidentEvidence["series"]): number[] {
  const found = table.services.map(() => 0);
  for (const { serviceId, peer, departure } of factsOf(series).ofPeers) {
    const service = peer === null || peer === serviceId || departure.shift <= 0 ? undefined : table.numberOf(serviceId);
    if (service !== undefined) found[service] = Math.max(found[service]!, departure.novelty);
  }
  return found;
}

/** A callee that gets fewer calls while series of its callers count more that fail: they fail before they reach it. */
function starvedOf(table: NoveltyTable, series: IncidentEvidence["series"]): number[] {
  const failing = table.services.map(() => 0);
  for (const { metricName, serviceId, peer, departure } of factsOf(series).ofPeers) {
    const callee = peer === null || peer === serviceId || departure.shift <= 0 ? undefined : table.numberOf(peer);
    if (callee !== undefined && familyOfMetric(metricName) === "errors") failing[callee] = Math.max(failing[callee]!, departure.novelty);
  }
  return failing.map((novelty, service) => {
    const rate = table.leading(service, "rate");
    return rate === undefined || rate.departure.shift >= 0 ? 0 : Math.min(novelty, table.novelty(service, "rate", 0));
  });
}

/** Novelty that may be the cause's: of what began late a part, which is never enough to be one. */
function timelyNovelty(table: NoveltyTable, service: number, kind: MetricKind, window: number, lateMs: number): number {
  const novelty = table.novelty(service, kind, window);
  const series = window === 0 ? table.leading(service, kind) : undefined;
  const isLate = series !== undefined && series.onsetMs > lateMs + LATE_INTERVALS * series.intervalMs;
  return isLate ? Math.min(OF_LATE * novelty, OF_LATE_MAX) : novelty;
}

/** When the large symptoms of the incident began: the anomaly that asks may have been a small one before them. */
function symptomsMs({ series, onsetMs, target, members, edges }: IncidentEvidence): number {
  const joined = joinedWith(edges, target === null ? members : [target.serviceId, ...members]);
  const symptoms = factsOf(series).departed.filter(({ serviceId, metricName, departure: { shift } }) => {
    const { kind, harm } = meaningOf(metricName);
    return joined.has(serviceId) && SYMPTOM_KINDS.some((each) => each === kind) && Math.sign(shift) === harm;
  });
  const largest = symptoms.reduce((most, { departure }) => Math.max(most, departure.novelty), 0);
  const large = symptoms.filter(({ departure }) => departure.novelty >= LARGE * largest);
  return large.length === 0
    ? onsetMs
    : Math.max(
        onsetMs,
        large.reduce((first, one) => Math.min(first, one.onsetMs), Number.POSITIVE_INFINITY),
      );
}

/** By so much of the largest a symptom is a large one. */
const LARGE = 0.5;
/** What begins after its symptom is no cause by itself: so much later than what clocks of hosts differ by, and intervals of its own on top. */
const LATE_MS = 60_000;
const LATE_INTERVALS = 2;
const OF_LATE = 0.25;
const OF_LATE_MAX = 1;

/** What metrics say; `ties` are the services that have taken a machine's resource from others. */
export function metricsView(
  evidence: IncidentEvidence,
  peers: ReadonlySet<string> = new Set(),
  ties: ReadonlyMap<string, NodeTie> = new Map(),
): MetricsView {
  const table = new NoveltyTable(evidence.series);
  const shares = waitShares(evidence);
  const neighbours = {
    ...neighboursOf(table, evidence.edges, peers),
    namedCalls: namedCallsOf(table, evidence.series),
    starved: starvedOf(table, evidence.series),
    ties: table.services.map((serviceId) => ties.get(serviceId)?.strength ?? 0),
    waitShares: table.services.map((serviceId) => shares.get(serviceId) ?? 0),
    lateMs: evidence.target === null ? Number.POSITIVE_INFINITY : symptomsMs(evidence) + LATE_MS,
  };
  const symptom = symptomOf(evidence.target);
  const services = scoresOf(table, neighbours, symptom, 0);
  const now = services.reduce((most, { total }) => Math.max(most, total), 0);
  const tops = Array.from({ length: table.windows - 1 }, (_, i) => topOf(table, neighbours, symptom, i + 1));
  const reached = tops.filter((top) => top >= now).length;
  const usual = tops.length === 0 ? 0 : selectIndex(Float64Array.from(tops), tops.length, Math.floor(USUAL_SHARE * (tops.length - 1)));
  const usualTop = Math.max(USUAL_MIN, usual);
  // Of fewer windows no share is small enough: what none of them comes near is unusual all the same.
  const isFarAbove = tops.length < TAIL_WINDOWS_MIN && reached === 0 && now >= FAR_ABOVE * usualTop;
  return {
    table,
    services,
    usualTop,
    windows: tops.length,
    tailShare: isFarAbove ? 0 : (reached + 1) / (tops.length + 1),
    symptomName: (serviceId) => symptomName(table, serviceId),
    symptomNovelty: (serviceId) => symptomNovelty(table, serviceId),
    symptomShown: (serviceId) => symptomShown(table, serviceId),
    knowsSymptoms: (serviceId) => {
      const service = table.numberOf(serviceId);
      return service !== undefined && SYMPTOM_KINDS.some((kind) => table.leading(service, kind) !== undefined);
    },
  };
}

function symptomNovelty(table: NoveltyTable, serviceId: string): number {
  const service = table.numberOf(serviceId);
  return service === undefined ? 0 : Math.max(...SYMPTOM_KINDS.map((kind) => table.novelty(service, kind, 0)));
}

function symptomShown(table: NoveltyTable, serviceId: string): number {
  const service = table.numberOf(serviceId);
  const shown = SYMPTOM_KINDS.map((kind) => (service === undefined ? undefined : table.leading(service, kind)));
  return shown.reduce((most, series) => {
    const isWorse = series !== undefined && Math.sign(series.departure.shift) === meaningOf(series.metricName).harm;
    return isWorse ? Math.max(most, series.departure.novelty) : most;
  }, 0);
}

function symptomName(table: NoveltyTable, serviceId: string): string {
  const service = table.numberOf(serviceId);
  if (service === undefined) return "";
  const kinds = [...SYMPTOM_KINDS].sort((a, b) => table.novelty(service, b, 0) - table.novelty(service, a, 0));
  return table.leading(service, kinds[0]!)?.metricName ?? "";
}

function neighboursOf(table: NoveltyTable, edges: IncidentEvidence["edges"], outside: ReadonlySet<string>): Neighbours {
  const callers: number[][] = table.services.map(() => []);
  const peers: number[][] = table.services.map(() => []);
  for (const [caller, callee] of edges) {
    const from = table.numberOf(caller);
    const to = table.numberOf(callee);
    if (from !== undefined && to !== undefined && from !== to) callers[to]!.push(from);
    if (from !== undefined && to !== undefined && outside.has(callee)) peers[from]!.push(to);
  }
  return { callers, peers };
}

type Symptom = "latency" | "errors" | null;

function symptomOf(target: IncidentEvidence["target"]): Symptom {
  const kind = target === null ? null : meaningOf(target.metricName).kind;
  return kind === "latency" || kind === "errors" ? kind : null;
}

function symptomOfKinds(noveltyOf: (kind: "latency" | "errors") => number, symptom: Symptom): number {
  const [latency, errors] = [noveltyOf("latency"), noveltyOf("errors")];
  if (symptom === null) return Math.max(latency, errors);
  return symptom === "latency" ? latency + OTHER_SYMPTOM * errors : errors + OTHER_SYMPTOM * latency;
}

function topOf(table: NoveltyTable, neighbours: Surroundings, symptom: Symptom, window: number): number {
  return scoresOf(table, neighbours, symptom, window).reduce((most, { total }) => Math.max(most, total), 0);
}

function scoresOf(
  table: NoveltyTable,
  { callers, peers, waitShares: shares, namedCalls, starved, ties, lateMs }: Surroundings,
  symptom: Symptom,
  window: number,
): ServiceMetrics[] {
  const symptoms = Float64Array.from(table.services, (_, service) =>
    symptomOfKinds((kind) => table.novelty(service, kind, window), symptom),
  );
  return table.services.map((serviceId, service) => {
    // What is known of waiting is known of now alone.
    const ownShare = window === 0 ? 1 - WAITED * shares[service]! : 1;
    const [resourceKind, resource] = strongest(table, service, window, {
      ownShare,
      calls: window === 0 ? namedCalls[service]! : 0,
      lateMs,
    });
    const own = symptoms[service]!;
    // Time that a service says it waits for somebody outside is not its own.
    const waited = peers[service]!.reduce((most, peer) => Math.max(most, symptoms[peer]!), 0);
    const timely = symptomOfKinds((kind) => timelyNovelty(table, service, kind, window, lateMs), symptom);
    const felts = FELT_ITSELF * table.novelty(service, "dependency", window);
    const shown = ownShare * Math.max(0, Math.max(timely, felts) - waited);
    let felt = callers[service]!.length === 0 ? 0 : Number.POSITIVE_INFINITY;
    let explained = 0;
    for (const caller of callers[service]!) {
      felt = Math.min(felt, table.novelty(caller, "dependency", window));
      explained += Math.min(own, symptoms[caller]!);
    }
    const tied = window === 0 ? starved[service]! + EXPLAINED * ties[service]! : 0;
    const total = resource + shown + FELT_BY_CALLERS * felt + EXPLAINED * explained + tied;
    return { serviceId, resource, resourceKind, symptom: shown, feltByCallers: felt, explained, total };
  });
}

/** What tells a service's own departures from those of others now. */
interface Own {
  readonly ownShare: number;
  /** Largest novelty of its series of calls that name their callee. */
  readonly calls: number;
  readonly lateMs: number;
}

/** The strongest resource; connections, threads and work queues fill while a service waits, for whom it waits and by how much they outgrow that. */
function strongest(table: NoveltyTable, service: number, window: number, { ownShare, calls, lateMs }: Own): [MetricKind, number] {
  let best: MetricKind = "other";
  let most = 0;
  const isAlone = NOT_POOLS.every((kind) => table.novelty(service, kind, window) < ALONE_MAX);
  for (const kind of RESOURCE_KINDS) {
    const known = timelyNovelty(table, service, kind, window, lateMs);
    const byWait = POOL_BY_WAIT * Math.max(calls, table.novelty(service, "dependency", window));
    const novelty = kind === "pool" ? (isAlone ? POOL_ALONE : 1) * Math.max(0, ownShare * known - byWait) : known;
    if (novelty <= most) continue;
    most = novelty;
    best = kind;
  }
  return [best, most];
}
