// What the parts of an analysis ask of all series of an incident, found in one pass: there are thousands, and few of them have anything to say to most of the parts.
import type { SeriesEvidence } from "./evidence.ts";
import { SYMPTOM_MIN } from "./metric-kind.ts";

/** Facts of one list of series; lists are in its order. */
export interface SeriesFacts {
  readonly services: ReadonlySet<string>;
  /** Series of calls that name whom they call. */
  readonly ofPeers: readonly SeriesEvidence[];
  /** Series of which the machine is known. */
  readonly onNodes: readonly SeriesEvidence[];
  /** Those that depart as far as a symptom does, whatever they tell of. */
  readonly departed: readonly SeriesEvidence[];
}

/** The last facts of each list that somebody holds. */
const known = new WeakMap<readonly SeriesEvidence[], SeriesFacts>();

/** Facts of a list, which never changes. */
export function factsOf(series: readonly SeriesEvidence[]): SeriesFacts {
  const before = known.get(series);
  if (before !== undefined) return before;
  const services = new Set<string>();
  const [ofPeers, onNodes, departed]: [SeriesEvidence[], SeriesEvidence[], SeriesEvidence[]] = [[], [], []];
  let last: string | undefined;
  for (const one of series) {
    const { serviceId, peer, node, departure } = one;
    if (serviceId !== last) services.add(serviceId);
    last = serviceId;
    if (peer !== null) ofPeers.push(one);
    if (node !== null) onNodes.push(one);
    if (departure.novelty >= SYMPTOM_MIN) departed.push(one);
  }
  const facts = { services, ofPeers, onNodes, departed };
  known.set(series, facts);
  return facts;
}
