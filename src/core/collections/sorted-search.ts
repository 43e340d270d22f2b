// A long list sorted in steps, so that nobody who shares the thread waits for the whole of it: short runs are sorted, then merged, a run's length at a time.

/** Entries of a run, and entries merged between two steps: some 0.5 ms. */
const RUN = 1_000;

/** The first place of [from, to) for which `isBefore` does not hold, by halving; `to` where it holds for all. It holds for none behind one for which it does not. */
export function firstIndex(from: number, to: number, isBefore: (index: number) => boolean): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The place of the first of ascending values that is not below `least`; their number where all are. */
export function lowerBound(values: Float64Array, least: number): number {
  return firstIndex(0, values.length, (index) => (values[index] as number) < least);
}

/** The list in order, equals in the order in which they came; yields between steps. */
export function* sortedSteps<V>(list: readonly V[], compare: (a: V, b: V) => number): Generator<void, V[]> {
  let runs: V[][] = [];
  for (let from = 0; from < list.length; from += RUN) {
    runs.push(list.slice(from, from + RUN).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: V[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      const [a, b] = [runs[index] as V[], runs[index + 1]];
      merged.push(b === undefined ? a : yield* mergedSteps(a, b, compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergedSteps<V>(a: readonly V[], b: readonly V[], compare: (a: V, b: V) => number): Generator<void, V[]> {
  const merged: V[] = [];
  for (let [i, j] = [0, 0]; i < a.length || j < b.length; ) {
    const isFirst = j >= b.length || (i < a.length && compare(a[i] as V, b[j] as V) <= 0);
    merged.push((isFirst ? a[i++] : b[j++]) as V);
    if (merged.length % RUN === 0) yield;
  }
  return merged;
}
