// Layered layout of a call graph: callers left of what they call. Deterministic, so that the picture does not jump when it is drawn again; at most
// NODES_DRAWN nodes, those with most to tell. Cycles are cut where the walk meets itself.

export interface GraphNode {
  readonly id: string;
  /** Priority where not all can be shown: larger comes first. */
  readonly weight: number;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly weight: number;
}

export interface PlacedNode {
  readonly id: string;
  readonly layer: number;
  /** Place within the layer, from the top. */
  readonly row: number;
}

export interface Layout {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly GraphEdge[];
  readonly layers: number;
  /** Nodes of the fullest layer. */
  readonly rows: number;
  /** Nodes that are not drawn. */
  readonly left: number;
}

export const NODES_DRAWN = 150;
const SWEEPS = 4;

/** Places the nodes. Edges to nodes that are not drawn are left out. */
export function layoutGraph(nodes: readonly GraphNode[], edges: readonly GraphEdge[], most = NODES_DRAWN): Layout {
  const drawn = [...nodes].sort((a, b) => b.weight - a.weight || (a.id < b.id ? -1 : 1)).slice(0, most);
  const ids = drawn.map(({ id }) => id).sort();
  const known = new Set(ids);
  const retained = edges.filter(({ from, to }) => from !== to && known.has(from) && known.has(to));
  const layerOf = layersOf(ids, withoutCycles(ids, retained));
  const columns = columnsOf(ids, layerOf);
  order(columns, retained);
  const placed = columns.flatMap((column, layer) => column.map((id, row) => ({ id, layer, row })));
  return {
    nodes: placed,
    edges: retained,
    layers: columns.length,
    rows: columns.reduce((most, column) => Math.max(most, column.length), 0),
    left: nodes.length - drawn.length,
  };
}

/** Edges that a walk by depth does not meet backwards. Callers that nobody calls are visited first. */
function withoutCycles(ids: readonly string[], edges: readonly GraphEdge[]): GraphEdge[] {
  const outgoing = new Map<string, GraphEdge[]>();
  const called = new Set(edges.map(({ to }) => to));
  for (const edge of edges) outgoing.set(edge.from, [...(outgoing.get(edge.from) ?? []), edge]);
  const state = new Map<string, "open" | "done">();
  const forward: GraphEdge[] = [];
  const starts = [...ids.filter((id) => !called.has(id)), ...ids];
  for (const start of starts) {
    if (state.has(start)) continue;
    const stack = [{ id: start, next: 0 }];
    state.set(start, "open");
    while (stack.length > 0) {
      const top = stack.at(-1) as { id: string; next: number };
      const edge = outgoing.get(top.id)?.[top.next++];
      if (edge === undefined) {
        state.set(top.id, "done");
        stack.pop();
      } else if (state.get(edge.to) !== "open") {
        forward.push(edge);
        if (!state.has(edge.to)) {
          state.set(edge.to, "open");
          stack.push({ id: edge.to, next: 0 });
        }
      }
    }
  }
  return forward;
}

/** The longest way from a node that nobody calls. */
function layersOf(ids: readonly string[], edges: readonly GraphEdge[]): Map<string, number> {
  const layer = new Map(ids.map((id) => [id, 0]));
  for (let iteration = 0, isChanged = true; isChanged && iteration < ids.length; iteration++) {
    isChanged = false;
    for (const { from, to } of edges) {
      const least = (layer.get(from) as number) + 1;
      if ((layer.get(to) as number) >= least) continue;
      layer.set(to, least);
      isChanged = true;
    }
  }
  return layer;
}

function columnsOf(ids: readonly string[], layerOf: ReadonlyMap<string, number>): string[][] {
  const columns: string[][] = [];
  for (const id of ids) {
    const layer = layerOf.get(id) as number;
    while (columns.length <= layer) columns.push([]);
    (columns[layer] as string[]).push(id);
  }
  return columns.filter((column) => column.length > 0);
}

/** Nodes move to the mean place of their neighbours, forwards and backwards in turns: fewer edges cross. */
function order(columns: string[][], edges: readonly GraphEdge[]): void {
  const neighbours = new Map<string, string[]>();
  for (const { from, to } of edges) {
    neighbours.set(from, [...(neighbours.get(from) ?? []), to]);
    neighbours.set(to, [...(neighbours.get(to) ?? []), from]);
  }
  const indexes = new Map<string, number>();
  const note = (column: readonly string[]) => {
    for (const [row, id] of column.entries()) indexes.set(id, column.length === 1 ? 0.5 : row / (column.length - 1));
  };
  for (const column of columns) note(column);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const column of sweep % 2 === 0 ? columns : [...columns].reverse()) {
      const mean = new Map(column.map((id) => [id, meanIndex(id, neighbours.get(id) ?? [], indexes)]));
      column.sort((a, b) => (mean.get(a) as number) - (mean.get(b) as number) || (a < b ? -1 : 1));
      note(column);
    }
  }
}

function meanIndex(id: string, neighbours: readonly string[], indexes: ReadonlyMap<string, number>): number {
  if (neighbours.length === 0) return indexes.get(id) as number;
  return neighbours.reduce((sum, one) => sum + (indexes.get(one) as number), 0) / neighbours.length;
}
