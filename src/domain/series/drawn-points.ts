// Which of many values a picture needs: of each of equal parts of the time the least and the greatest, so that no peak is lost, and the first and the last of all.

/** Places of `values` in [first, end), ascending; at most two a part and two more. */
export function drawnPlaces(times: Float64Array, values: Float64Array, first: number, parts: number): number[] {
  const end = times.length;
  if (end - first <= 2 * parts) return Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
  const fromMs = times[first] as number;
  const widthMs = Math.max(1, ((times[end - 1] as number) - fromMs + 1) / parts);
  const places: number[] = [first];
  const take = (place: number) => {
    if (place !== places.at(-1)) places.push(place);
  };
  for (let at = first; at < end; ) {
    const part = Math.floor(((times[at] as number) - fromMs) / widthMs);
    let least = at;
    let most = at;
    for (; at < end && Math.floor(((times[at] as number) - fromMs) / widthMs) === part; at++) {
      if ((values[at] as number) < (values[least] as number)) least = at;
      if ((values[at] as number) > (values[most] as number)) most = at;
    }
    take(Math.min(least, most));
    take(Math.max(least, most));
  }
  take(end - 1);
  return places;
}
