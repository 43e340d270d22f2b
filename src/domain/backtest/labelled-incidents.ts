// What people have labelled, held against the pages of both runs: incidents that are found or missed, and pages of what was no incident.
import type { PageDecision } from "../alerting/paging/page-decision.ts";

/** Cycles before an incident's beginning, and behind its end, in which a page is of it: a rule may see it coming, and must be sure of it. */
const CYCLES_BEFORE = 3;
const CYCLES_BEHIND = 12;

/** A time of a service that somebody has called an incident, or none. */
export interface IncidentLabel {
  /** Id of the anomaly of which it was said; null for one that was given with the question. */
  readonly anomalyId: string | null;
  readonly serviceId: string;
  readonly environment: string;
  /** Null for any. */
  readonly metricName: string | null;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly isIncident: boolean;
}

/** Score of one run by the labels. */
export interface LabelledRun {
  readonly found: number;
  readonly missed: number;
  /** Pages of what people have called no incident. */
  readonly falsePages: number;
}

/** An incident that one of the runs misses. */
export interface MissedIncident {
  readonly label: IncidentLabel;
  readonly foundBefore: boolean;
  readonly foundAfter: boolean;
}

export interface LabelledOutcome {
  readonly incidents: number;
  readonly falseAlarms: number;
  readonly before: LabelledRun;
  readonly after: LabelledRun;
  /** In the order of their times. */
  readonly missed: readonly MissedIncident[];
}

export function labelledOutcome(
  labels: readonly IncidentLabel[],
  runs: { readonly before: readonly PageDecision[]; readonly after: readonly PageDecision[] },
  intervalMs: number,
): LabelledOutcome {
  const [before, after] = [pagesByService(runs.before), pagesByService(runs.after)];
  const incidents = labels.filter(({ isIncident }) => isIncident).sort((a, b) => a.startedMs - b.startedMs);
  const alarms = labels.filter(({ isIncident }) => !isIncident);
  const runOf = (pages: PagesByService): LabelledRun => {
    const found = incidents.filter((label) => pagesOf(pages, label, intervalMs).length > 0).length;
    const falsePages = new Set(alarms.flatMap((label) => pagesOf(pages, label, intervalMs))).size;
    return { found, missed: incidents.length - found, falsePages };
  };
  const missed = incidents
    .map((label) => ({
      label,
      foundBefore: pagesOf(before, label, intervalMs).length > 0,
      foundAfter: pagesOf(after, label, intervalMs).length > 0,
    }))
    .filter(({ foundBefore, foundAfter }) => !foundBefore || !foundAfter);
  return { incidents: incidents.length, falseAlarms: alarms.length, before: runOf(before), after: runOf(after), missed };
}

type PagesByService = ReadonlyMap<string, readonly PageDecision[]>;

function pagesByService(decisions: readonly PageDecision[]): PagesByService {
  const pages = new Map<string, PageDecision[]>();
  for (const decision of decisions) {
    if (decision.outcome !== "paged") continue;
    const key = scopeKey(decision);
    const known = pages.get(key);
    if (known === undefined) pages.set(key, [decision]);
    else known.push(decision);
  }
  return pages;
}

/** Pages of the label's service and environment, in its time: any page reports an incident, and one of the metric that was no incident is a false one. */
function pagesOf(pages: PagesByService, label: IncidentLabel, intervalMs: number): readonly PageDecision[] {
  const { startedMs, endedMs, metricName, isIncident } = label;
  return (pages.get(scopeKey(label)) ?? []).filter(
    (page) =>
      page.atMs >= startedMs - CYCLES_BEFORE * intervalMs &&
      page.atMs <= endedMs + CYCLES_BEHIND * intervalMs &&
      (isIncident || metricName === null || page.metricName === metricName),
  );
}

function scopeKey({ serviceId, environment }: Pick<IncidentLabel, "serviceId" | "environment">): string {
  return JSON.stringify([serviceId, environment]);
}
