// One value by its rank, in linear time and without memory.

/**
 * The value that sorting the first `count` values, none of them NaN, would put at `place` (0 to count - 1). Reorders them: those before it become no
 * larger, those behind no smaller (Hoare's FIND, 1961).
 */
export function selectPlace(values: Float64Array, count: number, place: number): number {
  let first = 0;
  let last = count - 1;
  while (first < last) {
    const pivot = values[place] as number;
    let i = first;
    let j = last;
    while (i <= j) {
      while ((values[i] as number) < pivot) i++;
      while (pivot < (values[j] as number)) j--;
      if (i > j) break;
      const swapped = values[i] as number;
      values[i++] = values[j] as number;
      values[j--] = swapped;
    }
    if (j < place) first = i;
    if (place < i) last = j;
  }
  return values[place] as number;
}
