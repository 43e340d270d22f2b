// One tenant's alerts in memory, in the order of lists: what filters and pages need. About 300 bytes an alert; at most ALERTS_MAX of them. An entry is changed
// where it stands: one that lives for long and is replaced is work for full collections.
import { LeastItems } from "../../core/collections/selection.ts";
import { firstIndex } from "../../core/collections/sorted-search.ts";
import type { DetectorFamily } from "../../domain/alerting/ensemble.ts";
import type { Alert } from "../../domain/alerting/paging/alert.ts";
import { type Tier, tierRank } from "../../domain/detection/anomaly-score.ts";

/** Index entry of an alert. */
export interface AlertEntry {
  readonly id: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly isFiring: boolean;
  readonly tier: Tier;
  readonly serviceId: string;
  readonly environment: string;
  readonly family: DetectorFamily;
  /** Metric of its peak. */
  readonly metricName: string;
  readonly isAcknowledged: boolean;
}

/** Filters of the list; an absent one selects all. `sinceMs` is inclusive, `untilMs` exclusive, both of when it was found: a value that came late began before. */
export interface AlertFilter {
  readonly state?: "firing" | "resolved" | undefined;
  readonly severity?: Tier | undefined;
  readonly serviceId?: string | undefined;
  readonly environment?: string | undefined;
  readonly family?: DetectorFamily | undefined;
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  /** A part of the service's or the metric's name, in lower case. */
  readonly part?: string | undefined;
  readonly acknowledged?: boolean | undefined;
  /** Whether a service is one of those that are asked for. */
  readonly ofService?: ((serviceId: string) => boolean) | undefined;
}

/** Place in the list: newest first, then by descending id; in a list by severity also that. */
export interface AlertPosition {
  readonly createdAtMs: number;
  readonly id: string;
  readonly tier?: Tier;
}

export class AlertIndex {
  /** Ascending. */
  readonly #order: AlertEntry[] = [];
  readonly #byId = new Map<string, AlertEntry>();

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): AlertEntry | undefined {
    return this.#byId.get(id);
  }

  /** Adds an alert, or takes over its new state. */
  put(alert: Alert): void {
    const entry = entryOf(alert);
    const known = this.#byId.get(entry.id);
    if (known !== undefined) {
      Object.assign(known, entry);
      return;
    }
    this.#byId.set(entry.id, entry);
    const at = this.#lowerBound(entry);
    if (at === this.#order.length) this.#order.push(entry);
    else this.#order.splice(at, 0, entry);
  }

  remove(id: string): void {
    const entry = this.#byId.get(id);
    if (entry === undefined) return;
    this.#byId.delete(id);
    this.#order.splice(this.#lowerBound(entry), 1);
  }

  /** The oldest entries, those that are resolved first. */
  oldest(count: number): AlertEntry[] {
    const resolved: AlertEntry[] = [];
    const firing: AlertEntry[] = [];
    for (let at = 0; at < this.#order.length && resolved.length < count; at++) {
      const entry = this.#order[at] as AlertEntry;
      (entry.isFiring ? firing : resolved).push(entry);
    }
    return [...resolved, ...firing].slice(0, Math.max(0, count));
  }

  /** Entries in which nothing has happened since, at most `most`. */
  untouchedSince(beforeMs: number, most: number): AlertEntry[] {
    const untouched: AlertEntry[] = [];
    for (const entry of this.#order) {
      if (entry.createdAtMs >= beforeMs || untouched.length >= most) break;
      if (entry.updatedAtMs < beforeMs) untouched.push(entry);
    }
    return untouched;
  }

  count(filter: AlertFilter): number {
    let count = 0;
    for (const entry of this.#byId.values()) if (matches(entry, filter)) count++;
    return count;
  }

  /** Goes over the entries that match, oldest first. */
  each(filter: AlertFilter, take: (entry: AlertEntry) => void): void {
    for (const entry of this.#order) if (matches(entry, filter)) take(entry);
  }

  /** The most severe `limit` entries that match and come after `position` in that list; among equals the newest. */
  worst(filter: AlertFilter, position: AlertPosition | undefined, limit: number): AlertEntry[] {
    const page = new LeastItems<AlertEntry>(limit, compareSeverities);
    this.each(filter, (entry) => {
      if (position === undefined || compareSeverities(entry, position) > 0) page.add(entry);
    });
    return [...page.sorted];
  }

  /** The newest `limit` entries that match and come after `position` in the list. */
  page(filter: AlertFilter, position: AlertPosition | undefined, limit: number): AlertEntry[] {
    const page: AlertEntry[] = [];
    const behind = position === undefined ? this.#order.length : this.#lowerBound(position);
    for (let at = behind - 1; at >= 0 && page.length < limit; at--) {
      const entry = this.#order[at] as AlertEntry;
      if (matches(entry, filter)) page.push(entry);
    }
    return page;
  }

  /** The first place whose entry is not older than `position`. */
  #lowerBound({ createdAtMs, id }: AlertPosition): number {
    return firstIndex(0, this.#order.length, (index) => {
      const at = this.#order[index] as AlertPosition;
      return at.createdAtMs < createdAtMs || (at.createdAtMs === createdAtMs && at.id < id);
    });
  }
}

/** Negative where the first comes before the other. */
function compareSeverities(one: AlertPosition, other: AlertPosition): number {
  const severity = tierRank(other.tier) - tierRank(one.tier);
  return severity || other.createdAtMs - one.createdAtMs || (one.id === other.id ? 0 : one.id < other.id ? 1 : -1);
}

function entryOf({ state, updatedAtMs, acknowledged, peak }: Alert): AlertEntry {
  const { id, createdAtMs, resolvedAtMs, tier, key } = state;
  const { serviceId, environment, family } = key;
  return {
    id,
    createdAtMs,
    updatedAtMs,
    isFiring: resolvedAtMs === null,
    tier,
    serviceId,
    environment,
    family: family as DetectorFamily,
    metricName: peak.metricName,
    isAcknowledged: acknowledged !== null,
  };
}

function matches(entry: AlertEntry, filter: AlertFilter): boolean {
  const { state, severity, serviceId, environment, family, sinceMs, untilMs, part, acknowledged, ofService } = filter;
  return (
    (state === undefined || (state === "firing") === entry.isFiring) &&
    (severity === undefined || severity === entry.tier) &&
    (serviceId === undefined || serviceId === entry.serviceId) &&
    (environment === undefined || environment === entry.environment) &&
    (family === undefined || family === entry.family) &&
    (sinceMs === undefined || entry.createdAtMs >= sinceMs) &&
    (untilMs === undefined || entry.createdAtMs < untilMs) &&
    (acknowledged === undefined || acknowledged === entry.isAcknowledged) &&
    (part === undefined || entry.serviceId.toLowerCase().includes(part) || entry.metricName.toLowerCase().includes(part)) &&
    (ofService?.(entry.serviceId) ?? true)
  );
}
