// The feed: many anomalies as few rows. Those of one alert are one row, and so are those of one metric that come within seconds over many services.

/** Members of an anomaly that the feed reads. */
export interface FeedAnomaly {
  readonly anomaly_id: string;
  readonly alert_id: string | null;
  readonly service_id: string;
  readonly metric_name: string;
  readonly environment: string;
  readonly severity: "low" | "medium" | "high";
  readonly direction: "high" | "low";
  readonly anomaly_score: number;
  readonly detected_at: string;
  readonly resolved: boolean;
  readonly detector: string;
  readonly explanation: string;
  readonly outcome: string | null;
  readonly suppressed_by: string | null;
}

/** One row: an anomaly alone, or several under one heading. */
export interface FeedRow<A extends FeedAnomaly> {
  /** Stays the same while members come: the id of the first that was seen. */
  readonly key: string;
  readonly kind: "one" | "alert" | "burst";
  readonly worst: A;
  readonly members: readonly A[];
  readonly services: number;
  readonly metrics: number;
  readonly open: number;
  readonly newestMs: number;
  readonly oldestMs: number;
}

/** Gap between neighbours of a burst. */
export const BURST_GAP_MS = 10_000;
const BURST_SERVICES_MIN = 5;
const RANKS = { low: 0, medium: 1, high: 2 } as const;

/** Rows of a list that is newest first, in the order of their newest member. */
export function feedRows<A extends FeedAnomaly>(anomalies: readonly A[]): FeedRow<A>[] {
  const groups = new Map<string, A[]>();
  for (const anomaly of anomalies) {
    const key = anomaly.alert_id ?? anomaly.anomaly_id;
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [anomaly]);
    else known.push(anomaly);
  }
  const rows = [...groups.values()].map((members) => rowOf(members, members.length === 1 ? "one" : "alert"));
  return mergeBursts(rows);
}

/** Each anomaly in a row of its own, as the list came. */
export function singleRows<A extends FeedAnomaly>(anomalies: readonly A[]): FeedRow<A>[] {
  return anomalies.map((anomaly) => rowOf([anomaly], "one"));
}

/** Rows of one metric and environment that follow each other closely become one, where they are of many services. */
function mergeBursts<A extends FeedAnomaly>(rows: readonly FeedRow<A>[]): FeedRow<A>[] {
  const chains = new Map<string, FeedRow<A>[][]>();
  for (const row of rows) {
    const key = `${row.worst.environment}\u0000${row.worst.metric_name}\u0000${row.worst.direction}`;
    const list = chains.get(key) ?? [];
    const last = list.at(-1);
    const before = last?.at(-1);
    if (last !== undefined && before !== undefined && Math.abs(before.oldestMs - row.newestMs) <= BURST_GAP_MS) last.push(row);
    else list.push([row]);
    chains.set(key, list);
  }
  const merged: FeedRow<A>[] = [];
  for (const list of chains.values()) {
    for (const chain of list) {
      const services = new Set(chain.flatMap(({ members }) => members.map(({ service_id }) => service_id)));
      if (services.size < BURST_SERVICES_MIN) merged.push(...chain);
      else
        merged.push(
          rowOf(
            chain.flatMap(({ members }) => members),
            "burst",
          ),
        );
    }
  }
  return merged.sort((a, b) => b.newestMs - a.newestMs || (a.key < b.key ? 1 : -1));
}

function rowOf<A extends FeedAnomaly>(members: readonly A[], kind: FeedRow<A>["kind"]): FeedRow<A> {
  const times = members.map(({ detected_at }) => Date.parse(detected_at));
  const worst = members.reduce((best, one) => (isWorse(one, best) ? one : best));
  const oldest = members.at(-1) as A;
  return {
    key: kind === "alert" ? (oldest.alert_id ?? oldest.anomaly_id) : oldest.anomaly_id,
    kind,
    worst,
    members,
    services: new Set(members.map(({ service_id }) => service_id)).size,
    metrics: new Set(members.map(({ metric_name }) => metric_name)).size,
    open: members.filter(({ resolved }) => !resolved).length,
    newestMs: times.reduce((most, time) => Math.max(most, time), Number.NEGATIVE_INFINITY),
    oldestMs: times.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY),
  };
}

function isWorse(a: FeedAnomaly, b: FeedAnomaly): boolean {
  if (a.severity !== b.severity) return RANKS[a.severity] > RANKS[b.severity];
  return a.anomaly_score > b.anomaly_score;
}

/** Rank of a severity, for sorting. */
export function severityRank(severity: "low" | "medium" | "high"): number {
  return RANKS[severity];
}

/** Takes changed objects over into a list by their id, without new rows; those that are new are given apart. Order stays as it is. */
export function takeChanges<T>(list: readonly T[], changes: readonly T[], idOf: (one: T) => string): { list: readonly T[]; fresh: T[] } {
  const byId = new Map(changes.map((one) => [idOf(one), one]));
  let isChanged = false;
  const next = list.map((one) => {
    const change = byId.get(idOf(one));
    if (change === undefined) return one;
    byId.delete(idOf(one));
    isChanged = true;
    return change;
  });
  return { list: isChanged ? next : list, fresh: [...byId.values()] };
}
