// Services around one, step by step along calls in both directions, as many as can be shown: the nearest first, then those with most to tell.

/** Calls between two services, by keys that name them. */
export interface NeighbourEdge {
  readonly from: string;
  readonly to: string;
  readonly calls: number;
}

export interface Neighbour {
  readonly key: string;
  /** Steps from the service that was asked for; 0 for all where none was. */
  readonly depth: number;
  /** That it made and took. */
  readonly calls: number;
}

export interface NeighbourhoodOptions {
  /** Whether a service is where it begins; absent: everywhere. */
  readonly roots: ((key: string) => boolean) | undefined;
  readonly depth: number;
  readonly most: number;
  /** Rank of a service by what is open at it: the greater is kept first. */
  rankOf(key: string): number;
}

/** The neighbourhood, and how many services it has in all. A service without calls is in none. */
export function neighbourhood(
  edges: readonly NeighbourEdge[],
  { roots, depth, most, rankOf }: NeighbourhoodOptions,
): { readonly nodes: Neighbour[]; readonly total: number } {
  const calls = new Map<string, number>();
  const next = new Map<string, string[]>();
  for (const { from, to, calls: count } of edges) {
    for (const [key, other] of [
      [from, to],
      [to, from],
    ] as const) {
      calls.set(key, (calls.get(key) ?? 0) + count);
      const known = next.get(key);
      if (known === undefined) next.set(key, [other]);
      else known.push(other);
    }
  }
  const depths = new Map<string, number>();
  let ring = [...calls.keys()].filter((key) => roots?.(key) ?? true);
  for (let step = 0; ring.length > 0 && step <= depth; step++) {
    for (const key of ring) if (!depths.has(key)) depths.set(key, step);
    ring = [...new Set(ring.flatMap((key) => next.get(key) ?? []))].filter((key) => !depths.has(key));
  }
  const nodes = [...depths].map(([key, at]) => ({ key, depth: at, calls: calls.get(key) ?? 0 }));
  nodes.sort((a, b) => a.depth - b.depth || rankOf(b.key) - rankOf(a.key) || b.calls - a.calls || (a.key < b.key ? -1 : 1));
  return { nodes: nodes.slice(0, most), total: nodes.length };
}
