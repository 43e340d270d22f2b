// Pages by team and service, and where the pages of two runs would have gone.
import { expect, test } from "vitest";
import type { PageDecision } from "../../../../src/domain/alerting/paging/page-decision.ts";
import { pageDifference } from "../../../../src/domain/backtest/page-difference.ts";
import { routedPages } from "../../../../src/domain/backtest/routed-pages.ts";
import { pageRows } from "../../../../src/domain/notification/page-report.ts";

test("rows count pages, who has taken them after how long, and what people said of them", () => {
  const alert = (serviceId: string, pagesAtMs: number[], acknowledgedAtMs: number | null, isFalsePositive = false) => ({
    team: "a",
    serviceId,
    pagesAtMs,
    acknowledgedAtMs,
    isFalsePositive,
    isNotified: serviceId === "y",
  });
  expect(pageRows([])).toEqual([]);
  expect(pageRows([alert("x", [0], null), alert("y", [0, 9], 4_000), alert("y", [5_000], 7_000, true)])).toEqual([
    { team: "a", serviceId: "y", pages: 3, unnotified: 0, acknowledged: 2, medianAckSeconds: 3, falsePositives: 1 },
    { team: "a", serviceId: "x", pages: 1, unnotified: 1, acknowledged: 0, medianAckSeconds: null, falsePositives: 0 },
  ]);
});

test("a page of both runs is newly told to the channels of the second alone", () => {
  const page = (serviceId: string, atMs: number) =>
    ({ serviceId, atMs, environment: "", family: "metric", outcome: "paged", suppressedBy: null, metricName: "m" }) as PageDecision;
  const difference = pageDifference([page("x", 0), page("gone", 0)], [page("x", 60_000), page("new", 0)]);
  const routed = routedPages(
    difference,
    () => ({ team: "a", channels: ["chat:a", "pager"] }),
    ({ serviceId }) => ({ team: "a", channels: serviceId === "x" ? ["pager", "email:x@example.com"] : ["pager"] }),
  );
  expect(routed).toEqual([
    { team: "a", channel: "chat:a", before: 2, after: 0, newly: 0, noLonger: 2 },
    { team: "a", channel: "email:x@example.com", before: 0, after: 1, newly: 1, noLonger: 0 },
    { team: "a", channel: "pager", before: 2, after: 2, newly: 1, noLonger: 1 },
  ]);
});
