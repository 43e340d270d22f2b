// A backtest as it leaves the server, and the command line.

import { BACKTEST_EXAMPLES_MAX, BACKTEST_ROWS_MAX } from "../core/config/backtest-limits.ts";
import { formatRfc3339 } from "../core/time/rfc3339.ts";
import { sentenceText } from "../domain/anomaly/sentence.ts";
import type { BacktestOutcome } from "../domain/backtest/backtest.ts";
import type { LabelledOutcome, LabelledRun } from "../domain/backtest/labelled-incidents.ts";
import type { LonePage } from "../domain/backtest/page-difference.ts";
import type { RoutedPages } from "../domain/backtest/routed-pages.ts";

/** Period and series of the backtest. */
export interface BacktestScope {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly series: number;
  readonly samples: number;
}

const DATE_CHARACTERS = "2026-01-31".length;

/** `routed` is empty where nobody routes: on the command line. */
export function backtestView(
  outcome: BacktestOutcome & { readonly routed?: readonly RoutedPages[] },
  { sinceMs, untilMs, series, samples }: BacktestScope,
) {
  const { before, after, newly, noLonger, days, findingsBefore, findingsAfter } = outcome;
  const { analysesBefore, analysesAfter, layers, labelled } = outcome;
  return {
    since: formatRfc3339(sinceMs),
    until: formatRfc3339(untilMs),
    series,
    samples,
    pages: { before, after, newly: newly.length, no_longer: noLonger.length },
    findings: { before: findingsBefore, after: findingsAfter },
    analyses: { before: analysesBefore, after: analysesAfter },
    layers,
    labelled: labelledView(labelled),
    newly: newly.slice(0, BACKTEST_EXAMPLES_MAX).map(pageView),
    no_longer: noLonger.slice(0, BACKTEST_EXAMPLES_MAX).map(pageView),
    routing: (outcome.routed ?? [])
      .slice(0, BACKTEST_ROWS_MAX)
      .map(({ team, channel, before: was, after: would, newly: more, noLonger: less }) => ({
        team,
        channel,
        before: was,
        after: would,
        newly: more,
        no_longer: less,
      })),
    by_service: days.slice(0, BACKTEST_ROWS_MAX).map((day) => ({
      service_id: day.serviceId,
      environment: day.environment,
      day: formatRfc3339(day.dayMs).slice(0, DATE_CHARACTERS),
      before: day.before,
      after: day.after,
      newly: day.newly,
      no_longer: day.noLonger,
    })),
  };
}

function labelledView({ incidents, falseAlarms, before, after, missed }: LabelledOutcome) {
  const runView = ({ found, missed: count, falsePages }: LabelledRun) => ({ found, missed: count, false_pages: falsePages });
  return {
    incidents,
    false_alarms: falseAlarms,
    before: runView(before),
    after: runView(after),
    missed: missed.slice(0, BACKTEST_EXAMPLES_MAX).map(({ label, foundBefore, foundAfter }) => ({
      anomaly_id: label.anomalyId,
      service_id: label.serviceId,
      environment: label.environment,
      metric_name: label.metricName,
      started_at: formatRfc3339(label.startedMs),
      ended_at: formatRfc3339(label.endedMs),
      found_before: foundBefore,
      found_after: foundAfter,
    })),
  };
}

export type BacktestView = ReturnType<typeof backtestView>;

function pageView({ page, reason }: LonePage) {
  return {
    timestamp: formatRfc3339(page.atMs),
    service_id: page.serviceId,
    metric_name: page.metricName,
    environment: page.environment,
    family: page.family,
    detector: page.detector,
    severity: page.tier,
    z_score: page.z,
    explanation: sentenceText(page.explanation),
    reason,
  };
}
