// What two runs over the same history have paged, side by side.
import { groupBy } from "../../core/collections/grouping.ts";
import { compareTexts } from "../../core/text/text-order.ts";
import { DAY_MS } from "../../core/time/durations.ts";
import { CONFIRMATION_GATE } from "../alerting/paging/confirmation-gate.ts";
import type { PageDecision } from "../alerting/paging/page-decision.ts";

/** Pages of one incident may come so far apart in the two runs and are one page: a higher threshold declares it some samples later. */
const MATCH_MS = 15 * 60_000;

/** A page of one run alone, and why the other has none. */
export interface LonePage {
  readonly page: PageDecision;
  /** `not_declared`: the other run found nothing there; `logged`, `absorbed`, or the gate that held it back. */
  readonly reason: string;
}

/** Pages of one service on one day (UTC). */
export interface ServiceDay {
  readonly serviceId: string;
  readonly environment: string;
  readonly dayMs: number;
  before: number;
  after: number;
  newly: number;
  noLonger: number;
}

export interface PageDifference {
  /** Pages of each run, and which of the other's each is; those of one alone stand for themselves. */
  readonly pagesBefore: readonly PageDecision[];
  readonly pagesAfter: readonly PageDecision[];
  readonly same: ReadonlyMap<PageDecision, PageDecision>;
  readonly before: number;
  readonly after: number;
  /** Ascending by time. */
  readonly newly: readonly LonePage[];
  readonly noLonger: readonly LonePage[];
  /** By service, environment and day; those on which something paged. */
  readonly days: readonly ServiceDay[];
}

/** Compares two runs; decisions in the order in which they were made. */
export function pageDifference(before: readonly PageDecision[], after: readonly PageDecision[]): PageDifference {
  const [pagesBefore, pagesAfter] = [before.filter(isPage), after.filter(isPage)];
  const matched = matchPages(pagesBefore, pagesAfter);
  const noLonger = pagesBefore.filter((page) => !matched.has(page)).map((page) => ({ page, reason: reasonIn(after, page) }));
  const newly = pagesAfter.filter((page) => !matched.has(page)).map((page) => ({ page, reason: reasonIn(before, page) }));
  const days = new Map<string, ServiceDay>();
  for (const page of pagesBefore) dayOf(days, page).before++;
  for (const page of pagesAfter) dayOf(days, page).after++;
  for (const { page } of newly) dayOf(days, page).newly++;
  for (const { page } of noLonger) dayOf(days, page).noLonger++;
  const sorted = [...days.values()].sort(
    (a, b) => compareTexts(a.serviceId, b.serviceId) || compareTexts(a.environment, b.environment) || a.dayMs - b.dayMs,
  );
  const pages = { pagesBefore, pagesAfter, same: matched };
  return { ...pages, before: pagesBefore.length, after: pagesAfter.length, newly, noLonger, days: sorted };
}

function isPage({ outcome }: PageDecision): boolean {
  return outcome === "paged";
}

/** Pairs each page with the first of the other run, not yet paired, of the same service and family and about the same time. */
function matchPages(before: readonly PageDecision[], after: readonly PageDecision[]): Map<PageDecision, PageDecision> {
  const matched = new Map<PageDecision, PageDecision>();
  const byScope = groupBy(after, scopeKey);
  for (const page of before) {
    const others = byScope.get(scopeKey(page)) ?? [];
    const other = others.find((each) => !matched.has(each) && Math.abs(each.atMs - page.atMs) <= MATCH_MS);
    if (other === undefined) continue;
    matched.set(page, other);
    matched.set(other, page);
  }
  return matched;
}

/**
 * What became of the page's anomaly in the other run; that of its service and family where that run has none on the metric. What another detector has found
 * and nothing has confirmed says nothing of why this one is gone.
 */
function reasonIn(decisions: readonly PageDecision[], page: PageDecision): string {
  const near = decisions.filter(
    (each) =>
      scopeKey(each) === scopeKey(page) &&
      each.outcome !== "resolved" &&
      Math.abs(each.atMs - page.atMs) <= MATCH_MS &&
      (each.suppressedBy !== CONFIRMATION_GATE || each.detector === page.detector),
  );
  const same = furthestOf(near.filter(({ metricName }) => metricName === page.metricName)) ?? furthestOf(near);
  if (same === undefined) return "not_declared";
  return same.suppressedBy ?? (same.outcome === "paged" ? "absorbed" : same.outcome);
}

/** The first that was confirmed, since what holds an unconfirmed finding back says nothing of the settings; else the first. */
function furthestOf(decisions: readonly PageDecision[]): PageDecision | undefined {
  return decisions.find(({ suppressedBy }) => suppressedBy !== CONFIRMATION_GATE) ?? decisions[0];
}

function dayOf(days: Map<string, ServiceDay>, { serviceId, environment, atMs }: PageDecision): ServiceDay {
  const dayMs = Math.floor(atMs / DAY_MS) * DAY_MS;
  const key = JSON.stringify([serviceId, environment, dayMs]);
  const known = days.get(key) ?? { serviceId, environment, dayMs, before: 0, after: 0, newly: 0, noLonger: 0 };
  days.set(key, known);
  return known;
}

function scopeKey({ serviceId, environment, family }: PageDecision): string {
  return JSON.stringify([serviceId, environment, family]);
}
