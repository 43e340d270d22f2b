// One tenant's anomalies in memory, in the order of lists: what filters, totals and pages need, so that only the rows of a page are read
// from the store. About 280 bytes an anomaly, names shared; at most ANOMALIES_MAX of them. Sketch: a filter over all of them takes 1 to 4 ms, an order by score 30.

import { LeastItems } from "../../core/collections/selection.ts";
import { firstIndex } from "../../core/collections/sorted-search.ts";
import { type Tier, tierRank } from "../../domain/detection/anomaly-score.ts";

/** Index entry of an anomaly. */
export interface AnomalyEntry {
  readonly id: string;
  readonly detectedAtMs: number;
  readonly serviceId: string;
  readonly metricName: string;
  readonly environment: string;
  readonly detector: string;
  readonly alertId: string | null;
  readonly tier: Tier;
  readonly score: number;
  readonly triggersAnalysis: boolean;
  /** Key of its pair and direction while it is open. */
  readonly openKey: string | null;
}

/** Filters of the list; an absent one selects all. `sinceMs` is inclusive, `untilMs` exclusive. */
export interface AnomalyFilter {
  readonly serviceId?: string | undefined;
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  readonly minScore?: number | undefined;
  /** A part of the service's or the metric's name, in lower case. */
  readonly part?: string | undefined;
  readonly metricName?: string | undefined;
  readonly environment?: string | undefined;
  readonly severity?: Tier | undefined;
  readonly state?: "open" | "resolved" | undefined;
  readonly detector?: string | undefined;
  readonly alertId?: string | undefined;
  /** True: only what belongs to an alert. */
  readonly isInAlert?: boolean | undefined;
}

/** Orders of the list. */
export const ANOMALY_ORDERS = ["newest", "oldest", "score", "severity"] as const;
export type AnomalyOrder = (typeof ANOMALY_ORDERS)[number];

/** Place in time, then by id; in a list by score also the score, in one by severity that too. */
export interface AnomalyPosition {
  readonly detectedAtMs: number;
  readonly id: string;
  readonly score?: number;
  readonly tier?: Tier;
}

/** Negative when a is older. */
function compare(a: AnomalyPosition, b: AnomalyPosition): number {
  if (a.detectedAtMs !== b.detectedAtMs) return a.detectedAtMs - b.detectedAtMs;
  return a.id === b.id ? 0 : a.id < b.id ? -1 : 1;
}

/** The highest score first, then the newest. */
function compareScores(a: AnomalyPosition, b: AnomalyPosition): number {
  return (b.score ?? 0) - (a.score ?? 0) || compare(b, a);
}

/** The most severe first, among equals the highest score. */
function compareSeverities(a: AnomalyPosition, b: AnomalyPosition): number {
  return tierRank(b.tier) - tierRank(a.tier) || compareScores(a, b);
}

const COMPARISONS = { oldest: compare, score: compareScores, severity: compareSeverities } as const;

/** The entries of one tenant. */
export class AnomalyIndex {
  /** Ascending from `#head` on; what lies before was dropped. */
  #entries: AnomalyEntry[] = [];
  #head = 0;
  readonly #byId = new Map<string, AnomalyEntry>();

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): AnomalyEntry | undefined {
    return this.#byId.get(id);
  }

  /** Adds an entry. One with the same id and time is changed where it stands: what lives for long and is replaced is work for full collections. */
  put(entry: AnomalyEntry): void {
    const known = this.#byId.get(entry.id);
    if (known !== undefined) {
      Object.assign(known, entry);
      return;
    }
    const at = this.#lowerBound(entry);
    this.#byId.set(entry.id, entry);
    if (at === this.#entries.length) this.#entries.push(entry);
    else this.#entries.splice(at, 0, entry);
  }

  /** Removes an entry; cheap for the oldest. */
  remove(id: string): void {
    const entry = this.#byId.get(id);
    if (entry === undefined) return;
    this.#byId.delete(id);
    const at = this.#lowerBound(entry);
    if (at > this.#head) this.#entries.splice(at, 1);
    else this.#dropHead();
  }

  /** The oldest entries, at most `count`, as far as they were detected before `beforeMs`. */
  oldest(count: number, beforeMs: number = Number.POSITIVE_INFINITY): AnomalyEntry[] {
    const first = this.#entries.slice(this.#head, this.#head + count);
    return first.filter((entry) => entry.detectedAtMs < beforeMs);
  }

  /** Number of entries that match. */
  count(filter: AnomalyFilter): number {
    let matches = 0;
    const last = this.#end(filter);
    for (let at = this.#begin(filter); at < last; at++) if (matchesRest(this.#entries[at] as AnomalyEntry, filter)) matches++;
    return matches;
  }

  /** The newest `limit` entries that match and come after `position` in the list. */
  page(filter: AnomalyFilter, position: AnomalyPosition | undefined, limit: number): AnomalyEntry[] {
    const page: AnomalyEntry[] = [];
    const first = this.#begin(filter);
    const behind = position === undefined ? this.#entries.length : this.#lowerBound(position);
    for (let at = Math.min(this.#end(filter), behind) - 1; at >= first && page.length < limit; at--) {
      const entry = this.#entries[at] as AnomalyEntry;
      if (matchesRest(entry, filter)) page.push(entry);
    }
    return page;
  }

  /** A page in another order than the newest first; those after `position`. */
  pageBy(order: AnomalyOrder, filter: AnomalyFilter, position: AnomalyPosition | undefined, limit: number): AnomalyEntry[] {
    if (order === "newest") return this.page(filter, position, limit);
    const compareBy = COMPARISONS[order];
    const page = new LeastItems<AnomalyEntry>(limit, compareBy);
    this.each(filter, (entry) => {
      if (position === undefined || compareBy(entry, position) > 0) page.add(entry);
    });
    return [...page.sorted];
  }

  /** Goes over the entries that match, oldest first. */
  each(filter: AnomalyFilter, take: (entry: AnomalyEntry) => void): void {
    const last = this.#end(filter);
    for (let at = this.#begin(filter); at < last; at++) {
      const entry = this.#entries[at] as AnomalyEntry;
      if (matchesRest(entry, filter)) take(entry);
    }
  }

  #begin({ sinceMs }: AnomalyFilter): number {
    return sinceMs === undefined ? this.#head : this.#lowerBound({ detectedAtMs: sinceMs, id: "" });
  }

  #end({ untilMs }: AnomalyFilter): number {
    return untilMs === undefined ? this.#entries.length : this.#lowerBound({ detectedAtMs: untilMs, id: "" });
  }

  #dropHead(): void {
    this.#head++;
    if (this.#head < 1024 || this.#head * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#head);
    this.#head = 0;
  }

  /** The first place whose entry is not older than `position`. */
  #lowerBound(position: AnomalyPosition): number {
    return firstIndex(this.#head, this.#entries.length, (index) => compare(this.#entries[index] as AnomalyEntry, position) < 0);
  }
}

function matchesRest(entry: AnomalyEntry, filter: AnomalyFilter): boolean {
  const { serviceId, minScore, part, metricName, environment, severity, state, detector, alertId, isInAlert } = filter;
  return (
    (serviceId === undefined || entry.serviceId === serviceId) &&
    (minScore === undefined || entry.score >= minScore) &&
    (metricName === undefined || entry.metricName === metricName) &&
    (environment === undefined || entry.environment === environment) &&
    (severity === undefined || entry.tier === severity) &&
    (state === undefined || (state === "open") === (entry.openKey !== null)) &&
    (detector === undefined || entry.detector === detector) &&
    (alertId === undefined || entry.alertId === alertId) &&
    (isInAlert === undefined || isInAlert === (entry.alertId !== null)) &&
    (part === undefined || entry.serviceId.toLowerCase().includes(part) || entry.metricName.toLowerCase().includes(part))
  );
}
