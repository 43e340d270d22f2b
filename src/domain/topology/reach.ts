// Who is reached over calls, and over how many of them.

type Edge = readonly [caller: string, callee: string];
/** Hops that are followed. */
export const HOPS_MAX = 10;

/** Services that call a service, by whatever way, with the number of hops. */
export function callersOf(edges: readonly Edge[], serviceId: string, hopsMax = HOPS_MAX): ReadonlyMap<string, number> {
  return reached(
    edges.map(([caller, callee]) => [callee, caller]),
    serviceId,
    hopsMax,
  );
}

/** Services that a service calls, by whatever way, with the number of hops. */
export function calleesOf(edges: readonly Edge[], serviceId: string, hopsMax = HOPS_MAX): ReadonlyMap<string, number> {
  return reached(edges, serviceId, hopsMax);
}

/** Services that calls join with any of these, whoever calls whom; themselves too. */
export function joinedWith(edges: readonly Edge[], services: Iterable<string>): ReadonlySet<string> {
  const both = edges.flatMap(([caller, callee]): Edge[] => [
    [caller, callee],
    [callee, caller],
  ]);
  const joined = new Set<string>();
  for (const serviceId of services) {
    if (joined.has(serviceId)) continue;
    joined.add(serviceId);
    for (const found of reached(both, serviceId, Number.POSITIVE_INFINITY).keys()) joined.add(found);
  }
  return joined;
}

function reached(edges: readonly Edge[], start: string, hopsMax: number): ReadonlyMap<string, number> {
  const next = new Map<string, string[]>();
  for (const [from, to] of edges) {
    const list = next.get(from);
    if (list === undefined) next.set(from, [to]);
    else list.push(to);
  }
  const hops = new Map<string, number>();
  let front = [start];
  for (let hop = 1; hop <= hopsMax && front.length > 0; hop++) {
    const found: string[] = [];
    for (const at of front) {
      for (const to of next.get(at) ?? []) {
        if (to === start || hops.has(to)) continue;
        hops.set(to, hop);
        found.push(to);
      }
    }
    front = found;
  }
  return hops;
}
