/** The first place of [from, to) for which `isBefore` does not hold, by halving; `to` where it holds for all. It holds for none behind one for which it does not. */
export function firstPlace(from: number, to: number, isBefore: (place: number) => boolean): number {
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
  return firstPlace(0, values.length, (place) => (values[place] as number) < least);
}
