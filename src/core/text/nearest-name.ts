// The name that a misspelt one was probably meant to be: Damerau-Levenshtein distance over a short list (optimal string alignment: a swap of two neighbours
// is one edit). Work: length of both times the number of names, a millisecond for 100 settings.

/** A misspelling has at most a third of its letters wrong. */
const SHARE_MAX = 1 / 3;
const LENGTH_MAX = 64;

/** Number of insertions, deletions, substitutions and swaps of neighbours between two words. */
export function editDistance(a: string, b: string): number {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      let least = Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, (row[j - 1] as number) + (isSame ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, (before[j - 2] as number) + 1);
      next.push(least);
    }
    [before, row] = [row, next];
  }
  return row[b.length] as number;
}

/** The name of `names` that is nearest to `given`; undefined where none is near. */
export function nearestName(input: string, names: Iterable<string>): string | undefined {
  if (input.length > LENGTH_MAX) return undefined;
  let [nearest, least]: [string | undefined, number] = [undefined, Math.max(1, Math.floor(input.length * SHARE_MAX)) + 1];
  for (const name of names) {
    if (Math.abs(name.length - input.length) >= least) continue;
    const distance = editDistance(input, name);
    if (distance < least) [nearest, least] = [name, distance];
  }
  return nearest;
}

/** "; did you mean X?", or nothing where no name is near. */
export function suggestion(input: string, names: Iterable<string>, prefix = ""): string {
  const nearest = nearestName(input, names);
  return nearest === undefined ? "" : `; did you mean ${prefix}${nearest}?`;
}
