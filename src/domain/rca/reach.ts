// Who is reached over calls.

type Edges = ReadonlyArray<readonly [caller: string, callee: string]>;
/** Hops that are followed. */
const HOPS_MAX = 10;

/** Services that call a service, by whatever way, with the number of hops. */
export function callersOf(edges: Edges, serviceId: string): ReadonlyMap<string, number> {
  return reached(edges, serviceId, ([caller, callee]) => [callee, caller]);
}

function reached(
  edges: Edges,
  start: string,
  step: (edge: Edges[number]) => readonly [from: string, to: string],
): ReadonlyMap<string, number> {
  const next = new Map<string, string[]>();
  for (const edge of edges) {
    const [from, to] = step(edge);
    const list = next.get(from);
    if (list === undefined) next.set(from, [to]);
    else list.push(to);
  }
  const hops = new Map<string, number>();
  let front = [start];
  for (let hop = 1; hop <= HOPS_MAX && front.length > 0; hop++) {
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
