// Evidence over several looks at one incident: a ring forgets what was before the onset, so the largest departure that was seen of a series stays.
import type { SeriesEvidence } from "./evidence.ts";

/** Evidence of series with that of the looks before, where it is larger or no other is to be had. The first look, for which somebody waits, costs nothing. */
export function withEarlier(earlier: readonly SeriesEvidence[], fresh: readonly SeriesEvidence[]): readonly SeriesEvidence[] {
  if (earlier.length === 0) return fresh;
  const largest = new Map<string, SeriesEvidence>();
  for (const looked of [earlier, fresh]) {
    const counts = new Map<string, number>();
    for (const one of looked) {
      const name = JSON.stringify([one.serviceId, one.metricName, one.instance, one.peer]);
      const serial = counts.get(name) ?? 0;
      counts.set(name, serial + 1);
      const key = `${serial} ${name}`;
      const known = largest.get(key);
      if (known === undefined || known.departure.novelty < one.departure.novelty) largest.set(key, one);
    }
  }
  return [...largest.values()];
}
