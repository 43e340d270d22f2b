// How much of what a service has become slower by is the wait for those that it calls, as spans tell it. Its latency, and what fills while it waits (connections, threads,
// work queues), are symptoms of theirs by that share.
import type { IncidentEvidence } from "./evidence.ts";
import { SPANS_MIN } from "./span-findings.ts";

/** Growth in ms of a request that is nothing, and as a share of what a request took. */
const GROWTH_MS_MIN = 1;
const GROWTH_SHARE_MIN = 0.5;
/** A smaller share of the growth explains nothing. */
const WAITS_MIN = 0.7;

/** Growth of a request's time in ms, by where it is spent. */
interface Growth {
  waits: number;
  own: number;
  before: number;
}

/** By service the share of its growth that it waits, 0 to 1; services that did not become slower, or not chiefly by waiting, or of which too little is known, are left out. */
export function waitShares({ operations, calls }: Pick<IncidentEvidence, "operations" | "calls">): ReadonlyMap<string, number> {
  const requests = requestCounts(operations);
  const growths = new Map<string, Growth>();
  const of = (serviceId: string) => {
    const known = growths.get(serviceId) ?? { waits: 0, own: 0, before: 0 };
    growths.set(serviceId, known);
    return known;
  };
  for (const { caller, past, now } of calls) {
    const count = requests.get(caller);
    if (count === undefined || now.calls < SPANS_MIN) continue;
    const total = (windows: typeof past) => windows.reduce((sum, each) => sum + each.calls * (each.duration.meanMs + each.gap.meanMs), 0);
    add(of(caller), "waits", total(past) / count.past, total([now]) / count.now);
  }
  for (const { serviceId, isEntry, past, now } of operations) {
    const count = requests.get(serviceId);
    if (isEntry || count === undefined) continue;
    const total = (windows: typeof past) => windows.reduce((sum, each) => sum + each.spans * each.self.meanMs, 0);
    add(of(serviceId), "own", total(past) / count.past, total([now]) / count.now);
  }
  return new Map([...growths].flatMap(([serviceId, growth]) => shareOf(serviceId, growth)));
}

function add(growth: Growth, part: "waits" | "own", before: number, now: number): void {
  growth[part] += now - before;
  growth.before += before;
}

function shareOf(serviceId: string, { waits, own, before }: Growth): Array<[string, number]> {
  const more = Math.max(0, waits) + Math.max(0, own);
  if (waits <= 0 || more < Math.max(GROWTH_MS_MIN, GROWTH_SHARE_MIN * before)) return [];
  return waits < WAITS_MIN * more ? [] : [[serviceId, waits / more]];
}

/** Requests of services before and since, where there were enough of both. */
function requestCounts(operations: IncidentEvidence["operations"]): Map<string, { past: number; now: number }> {
  const counts = new Map<string, { past: number; now: number }>();
  for (const { serviceId, isEntry, past, now } of operations) {
    if (!isEntry) continue;
    const known = counts.get(serviceId) ?? { past: 0, now: 0 };
    counts.set(serviceId, { past: known.past + past.reduce((sum, { spans }) => sum + spans, 0), now: known.now + now.spans });
  }
  return new Map([...counts].filter(([, { past, now }]) => past >= SPANS_MIN && now >= SPANS_MIN));
}
