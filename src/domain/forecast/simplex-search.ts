// Minimum of a function of a few variables without derivatives (Nelder & Mead 1965, with the usual weights 1, 2, 1/2, 1/2).

interface Vertex {
  readonly at: number[];
  readonly value: number;
}

/** The best point found from `start` with first steps of `step`, after `evaluationsMax` evaluations at most. Values that are no numbers count as infinite. */
export function simplexSearch(
  f: (at: readonly number[]) => number,
  start: readonly number[],
  step: number,
  evaluationsMax: number,
): number[] {
  let evaluations = 0;
  const measure = (at: number[]): Vertex => {
    evaluations++;
    const value = f(at);
    return { at, value: Number.isNaN(value) ? Number.POSITIVE_INFINITY : value };
  };
  let vertices = [measure([...start]), ...start.map((_, i) => measure(start.map((x, j) => (i === j ? x + step : x))))];
  while (evaluations < evaluationsMax) {
    vertices.sort((a, b) => a.value - b.value);
    const [best, worst] = [vertices[0] as Vertex, vertices.at(-1) as Vertex];
    if (Math.abs(worst.value - best.value) <= 1e-10 * (Math.abs(best.value) + 1e-10)) break;
    const retained = vertices.slice(0, -1);
    const center = start.map((_, j) => retained.reduce((sum, { at }) => sum + (at[j] as number), 0) / retained.length);
    const along = (weight: number) => measure(center.map((x, j) => x + weight * ((worst.at[j] as number) - x)));
    const next = nextVertex(along, { best, second: retained.at(-1) as Vertex, worst });
    vertices = next === undefined ? [best, ...shrunk(vertices, best, measure)] : [...retained, next];
  }
  return (vertices.reduce((a, b) => (b.value < a.value ? b : a)) as Vertex).at;
}

/** The vertex that takes the place of the worst; undefined where all are to move to the best. */
function nextVertex(
  along: (weight: number) => Vertex,
  { best, second, worst }: { readonly best: Vertex; readonly second: Vertex; readonly worst: Vertex },
): Vertex | undefined {
  const reflected = along(-1);
  if (reflected.value < best.value) {
    const expanded = along(-2);
    return expanded.value < reflected.value ? expanded : reflected;
  }
  if (reflected.value < second.value) return reflected;
  const contracted = along(reflected.value < worst.value ? -0.5 : 0.5);
  return contracted.value < Math.min(reflected.value, worst.value) ? contracted : undefined;
}

function shrunk(vertices: readonly Vertex[], best: Vertex, measure: (at: number[]) => Vertex): Vertex[] {
  return vertices.slice(1).map(({ at }) => measure(at.map((x, j) => ((best.at[j] as number) + x) / 2)));
}
