// Evidence over several looks at one incident: a ring forgets what was before the onset, so the largest departure that was seen of a series stays.
import type { SeriesEvidence } from "./evidence.ts";

/** Evidence of series with that of looks before, where it is larger or no other is to be had; what is taken here counts for the next look. */
export function withEarlier(earlier: Map<string, SeriesEvidence>, fresh: readonly SeriesEvidence[]): SeriesEvidence[] {
  const counts = new Map<string, number>();
  for (const one of fresh) {
    const name = JSON.stringify([one.serviceId, one.metricName, one.instance, one.peer]);
    const serial = counts.get(name) ?? 0;
    counts.set(name, serial + 1);
    const key = `${serial} ${name}`;
    const known = earlier.get(key);
    if (known === undefined || known.departure.novelty < one.departure.novelty) earlier.set(key, one);
  }
  return [...earlier.values()];
}
