// Peers: what is called and sends nothing itself. What is known of them is what their callers say of their calls. A name inside the network, or an address, that
// is no service's is no peer: it may be any of them.
import type { IncidentEvidence, SeriesEvidence } from "./evidence.ts";

const ADDRESS = /^\[?[\d.:a-f]+\]?$/i;
const INSIDE = /^(?:localhost|[^.]+)$|\.(?:local|internal|lan|svc|cluster\.local|localdomain)$/i;
const PORT = /:\d{1,5}$/;

/** Evidence with its peers told apart. */
interface PeerEvidence {
  readonly evidence: IncidentEvidence;
  /** Those outside. */
  readonly peers: ReadonlySet<string>;
}

/** The evidence with peers outside as services of their own, called by those that name them; calls that name a service get an edge to it. */
export function withPeers(evidence: IncidentEvidence): PeerEvidence {
  const services = new Set([...evidence.series, ...evidence.lines, ...evidence.operations].map(({ serviceId }) => serviceId));
  const edges = new Map(evidence.edges.map((edge) => [JSON.stringify(edge), edge]));
  const peers = new Set<string>();
  const series: SeriesEvidence[] = [];
  for (const one of evidence.series) {
    const named = one.peer === null ? null : resolved(one.peer, services);
    series.push(one.peer === named ? one : { ...one, peer: named });
    if (named === null) continue;
    const edge = [one.serviceId, named] as const;
    edges.set(JSON.stringify(edge), edge);
    if (services.has(named)) continue;
    peers.add(named);
    series.push({ ...one, serviceId: named, peer: named });
  }
  return { evidence: { ...evidence, series, edges: [...edges.values()] }, peers };
}

/** The service or the host outside that a peer's name stands for. */
function resolved(peer: string, services: ReadonlySet<string>): string | null {
  if (services.has(peer)) return peer;
  const host = peer.replace(PORT, "").toLowerCase();
  if (services.has(host)) return host;
  const label = host.slice(0, host.includes(".") ? host.indexOf(".") : undefined);
  if (!ADDRESS.test(host) && services.has(label) && INSIDE.test(host)) return label;
  return ADDRESS.test(host) || INSIDE.test(host) ? null : host;
}
