// Peers: what is called and sends nothing itself. What is known of them is what their callers say of their calls. Callers may have another name for a service than
// it has itself: its host in the network, with a port, in other letters. An address in a series of calls that is no service's is no peer: it may be any of them.
import { hostOf, isAddress, isInside, isLoopback, withoutPort } from "../trace/span-peer.ts";
import type { CallEvidence, IncidentEvidence, SeriesEvidence } from "./evidence.ts";
import { factsOf } from "./series-facts.ts";

/** Evidence with its peers told apart. */
interface PeerEvidence {
  readonly evidence: IncidentEvidence;
  /** Those that send nothing. */
  readonly peers: ReadonlySet<string>;
}

/** The evidence with peers as services of their own, called by those that name them; calls that name a service get an edge to it. */
export function withPeers(evidence: IncidentEvidence): PeerEvidence {
  const sending = new Set(evidence.senders);
  for (const serviceId of factsOf(evidence.series).services) sending.add(serviceId);
  for (const { serviceId } of evidence.lines) sending.add(serviceId);
  for (const { serviceId } of evidence.operations) sending.add(serviceId);
  const services = new ServiceNames(sending);
  const traced = new Set(evidence.operations.map(({ serviceId }) => serviceId));
  const calls = evidence.calls.map((call) => ofKnownCallee(call, services, traced));
  const named = new Map(calls.filter(({ callee }) => !services.has(callee)).map(({ callee }) => [hostOf(callee), callee]));
  const edges = new Map<string, readonly [string, string]>();
  const addEdge = (caller: string, callee: string) => caller !== callee && edges.set(JSON.stringify([caller, callee]), [caller, callee]);
  for (const [caller, callee] of evidence.edges) addEdge(caller, serviceNamed(callee, services) ?? callee);
  const peers = new Set(named.values());
  const withPeer = (one: SeriesEvidence, name: string): readonly SeriesEvidence[] => {
    const peer = resolved(name, services, named);
    const own = one.peer === peer ? one : ofPeer(one, one.serviceId, peer);
    if (peer === null) return [own];
    addEdge(one.serviceId, peer);
    if (services.has(peer)) return [own];
    peers.add(peer);
    return [own, ofPeer(one, peer, peer)];
  };
  const series = withPeerSeries(evidence.series, withPeer);
  return { evidence: { ...evidence, series, calls, edges: [...edges.values()] }, peers };
}

/** The series under other names; field by field, since what engines have told has no fields of its own. */
function ofPeer(one: SeriesEvidence, serviceId: string, peer: string | null): SeriesEvidence {
  const { metricName, instance, node, departure, onsetMs, intervalMs } = one;
  return { serviceId, metricName, instance, node, peer, departure, onsetMs, intervalMs };
}

/** The series, those of calls that name a peer as `withPeer` makes them; the same list where there is none, as on most systems. */
function withPeerSeries(
  series: readonly SeriesEvidence[],
  withPeer: (one: SeriesEvidence, name: string) => readonly SeriesEvidence[],
): readonly SeriesEvidence[] {
  if (factsOf(series).ofPeers.length === 0) return series;
  const made: SeriesEvidence[] = [];
  for (const one of series) {
    if (one.peer === null) made.push(one);
    else made.push(...withPeer(one, one.peer));
  }
  return made;
}

/** Calls that series name, with services under their own names; `called` are the callees that spans know. */
export function namedEdges(
  named: ReadonlyArray<readonly [caller: string, callee: string]>,
  serviceIds: ReadonlySet<string>,
  called: readonly string[],
): Array<readonly [caller: string, callee: string]> {
  const services = new ServiceNames(serviceIds);
  const peers = new Map(called.filter((callee) => !services.has(callee)).map((callee) => [hostOf(callee), callee]));
  const edges = named.flatMap(([caller, name]) => {
    const callee = resolved(name, services, peers);
    return callee === null || callee === caller ? [] : [[caller, callee] as const];
  });
  return [...new Map(edges.map((edge) => [JSON.stringify(edge), edge])).values()];
}

/** A call whose callee is a service under another name is one to that service; of one who sends no spans it is a peer's. */
function ofKnownCallee(call: CallEvidence, services: ServiceNames, traced: ReadonlySet<string>): CallEvidence {
  const callee = serviceNamed(call.callee, services) ?? call.callee;
  const isPeer = !traced.has(callee);
  return callee === call.callee && isPeer === call.isPeer ? call : { ...call, callee, isPeer };
}

/** The service that a name stands for, whole or as the first labels of a host in the network; undefined where it is none's. */
function serviceNamed(name: string, services: ServiceNames): string | undefined {
  const host = hostOf(name);
  const known = services.of(name) ?? services.of(host);
  if (known !== undefined || isAddress(host) || !isInside(host)) return known;
  for (let end = host.lastIndexOf("."); end > 0; end = host.lastIndexOf(".", end - 1)) {
    const label = services.of(host.slice(0, end));
    if (label !== undefined) return label;
  }
  return undefined;
}

/** Services by their names, in whatever letters. */
class ServiceNames {
  readonly #names: ReadonlySet<string>;
  readonly #lower = new Map<string, string>();

  constructor(names: ReadonlySet<string>) {
    this.#names = names;
    for (const name of names) this.#lower.set(name.toLowerCase(), name);
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  of(name: string): string | undefined {
    return this.#names.has(name) ? name : this.#lower.get(name.toLowerCase());
  }
}

/** The service, the peer that spans know, or the host that a peer's name in a series stands for. */
function resolved(peer: string, services: ServiceNames, named: ReadonlyMap<string, string>): string | null {
  const host = hostOf(peer);
  return serviceNamed(peer, services) ?? named.get(host) ?? (isAddress(host) || isLoopback(host) ? null : withoutPort(peer));
}
