// What else breaks when a service does. A caller fails with the service that it calls with the probability of the share of its requests that need it,
// corrected by what happened in past incidents: the mean of a Beta distribution that the share opens with four observations. Over several calls the
// probabilities of the likeliest way multiply (Dijkstra on -ln p).

/** Calls between two services in the time that is looked at. */
export interface GraphCall {
  readonly caller: string;
  readonly callee: string;
  readonly calls: number;
  readonly errors: number;
}

/** Calls that were counted, and those that are only known to be made, since metrics name their callees. */
export interface CallGraph {
  readonly calls: readonly GraphCall[];
  readonly named: ReadonlyArray<readonly [caller: string, callee: string]>;
}

/** Past incidents in which `callee` was the cause, and those of them in which `caller` showed symptoms. */
export interface PastFailures {
  readonly incidents: number;
  readonly failed: number;
}

/** Blast radius as it is reported. */
export interface BlastRadius {
  readonly direct: readonly string[];
  readonly transitive: readonly string[];
  readonly severity: "none" | "low" | "medium" | "high";
  readonly confidence: number;
}

const SHARE_OBSERVATIONS = 4;
const DIRECT_MIN = 0.1;
const TRANSITIVE_MIN = 0.05;
/** Shares of the requests at the front doors, or services, from which on a failure is severe. */
const HIGH = { entry: 0.5, services: 10 };
const MEDIUM = { entry: 0.15, services: 3 };
/** Share of a caller's requests that need a callee, where calls are not counted. */
const SHARE_UNKNOWN = 0.5;
/** Calls, by their decimal logarithm, and past incidents that make an edge half sure. */
const SURE_HALF = 4;

/** Probability that a caller fails when what it calls does. */
function failureProbability(share: number, { incidents, failed }: PastFailures): number {
  return (1 + failed + SHARE_OBSERVATIONS * Math.min(1, share)) / (2 + incidents + SHARE_OBSERVATIONS);
}

/** The services that fail with `origin`. */
export function blastRadius(origin: string, graph: CallGraph, past: (caller: string, callee: string) => PastFailures): BlastRadius {
  const { calls } = graph;
  const requests = requestsOf(calls);
  const callersOf = callersByCallee(graph, requests);
  const reached = likeliestWays(origin, (callee) =>
    (callersOf.get(callee) ?? []).map(({ caller, share }) => ({ caller, probability: failureProbability(share, past(caller, callee)) })),
  );
  const direct = [...reached].filter(([, { hops, probability }]) => hops === 1 && probability >= DIRECT_MIN);
  const transitive = [...reached].filter(([, { hops, probability }]) => hops > 1 && probability >= TRANSITIVE_MIN);
  const affected = [...direct, ...transitive];
  const called = new Set([...calls.map(({ callee }) => callee), ...graph.named.map(([, callee]) => callee)]);
  const doors = [...requests].filter(([serviceId]) => !called.has(serviceId));
  const atDoors = doors.reduce((sum, [, count]) => sum + count, 0);
  const lost = affected.reduce((sum, [serviceId, { probability }]) => {
    return sum + (called.has(serviceId) ? 0 : probability * (requests.get(serviceId) ?? 0));
  }, 0);
  const expected = affected.reduce((sum, [, { probability }]) => sum + probability, 0);
  const evidence = (callersOf.get(origin) ?? []).map(({ caller, count }) => Math.log10(1 + count) + past(caller, origin).incidents);
  return {
    direct: names(direct),
    transitive: names(transitive),
    severity: severityOf(affected.length, atDoors === 0 ? 0 : lost / atDoors, expected),
    confidence: evidence.length === 0 ? 0 : evidence.reduce((sum, n) => sum + n / (n + SURE_HALF), 0) / evidence.length,
  };
}

/** A caller of a service: the share of its requests that need it, and the number of its calls. */
interface CallerShare {
  readonly caller: string;
  readonly share: number;
  readonly count: number;
}

function callersByCallee({ calls, named }: CallGraph, requests: ReadonlyMap<string, number>): Map<string, CallerShare[]> {
  const callers = new Map<string, Map<string, CallerShare>>();
  const add = (callee: string, of: CallerShare) => {
    if (of.caller === callee) return;
    const known = callers.get(callee);
    if (known === undefined) callers.set(callee, new Map([[of.caller, of]]));
    else known.set(of.caller, of);
  };
  for (const [caller, callee] of named) add(callee, { caller, share: SHARE_UNKNOWN, count: 0 });
  for (const { caller, callee, calls: count } of calls)
    add(callee, { caller, share: count / Math.max(1, requests.get(caller) ?? 0), count });
  return new Map([...callers].map(([callee, of]) => [callee, [...of.values()]]));
}

/** Requests of each service: what it is called, at a front door what it calls most. */
function requestsOf(calls: readonly GraphCall[]): Map<string, number> {
  const received = new Map<string, number>();
  const sent = new Map<string, number>();
  for (const { caller, callee, calls: count } of calls) {
    received.set(callee, (received.get(callee) ?? 0) + count);
    sent.set(caller, Math.max(sent.get(caller) ?? 0, count));
  }
  return new Map([...sent, ...received]);
}

interface Way {
  readonly hops: number;
  readonly probability: number;
}

type Callers = (callee: string) => ReadonlyArray<{ readonly caller: string; readonly probability: number }>;

/** Likeliest way in which each service fails, without the origin. */
function likeliestWays(origin: string, callersOf: Callers): Map<string, Way> {
  const known = new Map<string, Way>();
  const open = new Map<string, Way>([[origin, { hops: 0, probability: 1 }]]);
  while (open.size > 0) {
    const [at, way] = [...open].reduce((best, entry) => (entry[1].probability > best[1].probability ? entry : best));
    open.delete(at);
    known.set(at, way);
    for (const { caller, probability } of callersOf(at)) {
      const through = way.probability * probability;
      if (known.has(caller) || through < TRANSITIVE_MIN || through <= (open.get(caller)?.probability ?? 0)) continue;
      open.set(caller, { hops: way.hops + 1, probability: through });
    }
  }
  known.delete(origin);
  return known;
}

function names(reached: ReadonlyArray<readonly [string, Way]>): string[] {
  return [...reached].sort((a, b) => b[1].probability - a[1].probability || (a[0] < b[0] ? -1 : 1)).map(([serviceId]) => serviceId);
}

function severityOf(affected: number, entryShare: number, services: number): BlastRadius["severity"] {
  if (affected === 0) return "none";
  if (entryShare >= HIGH.entry || services >= HIGH.services) return "high";
  return entryShare >= MEDIUM.entry || services >= MEDIUM.services ? "medium" : "low";
}
