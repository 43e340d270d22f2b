/** What an OTLP file says of a series beside its samples, its scope and when counting began, is the same by `vedette import` as by the file itself. */
import { expect, it } from "vitest";
import { importRequests } from "../../../../src/cli/import/import-requests.ts";
import { HistoryCollector } from "../../../../src/domain/history/history-collector.ts";
import { readJsonHistory } from "../../../../src/domain/history/json-history.ts";

const NOW = Date.UTC(2026, 0, 5, 12);
const text = (key: string, value: string) => ({ key, value: { stringValue: value } });
const collector = () => new HistoryCollector({ nowMs: NOW, samplesMax: 1_000 });

function metricsOf(base: number) {
  const points = [1, 2].map((minute) => ({
    timeUnixNano: `${NOW - 60_000 * (3 - minute)}000000`,
    startTimeUnixNano: `${NOW - 1_000_000}000000`,
  }));
  const counted = points.map((point, i) => ({
    ...point,
    count: String(base + i),
    sum: i,
    bucketCounts: [String(base + i), "0"],
    explicitBounds: [1],
  }));
  return [
    {
      name: "calls",
      sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: points.map((point, i) => ({ ...point, asInt: base + i })) },
    },
    { name: "wait", histogram: { aggregationTemporality: 2, dataPoints: counted } },
  ];
}

const FILE = {
  resourceMetrics: [
    {
      resource: { attributes: [text("service.name", "shop")] },
      scopeMetrics: [
        { scope: { name: "one", version: "1" }, metrics: metricsOf(10) },
        { scope: { name: "two" }, metrics: metricsOf(500) },
      ],
    },
  ],
};

it("keeps scopes apart and the starts of counters", () => {
  const direct = collector();
  readJsonHistory(FILE, direct);
  const series = direct.finish();
  expect(direct.problems).toEqual([]);
  const said = series.map(({ metricName, scope, starts, values, length }) => [
    metricName,
    scope,
    starts?.[0] ?? 0,
    [...values.slice(0, length)],
  ]);
  const started = NOW - 1_000_000;
  expect(said.filter(([name]) => name === "calls" || name === "wait.count")).toEqual([
    ["calls", { name: "one", metricName: "calls" }, started, [10, 11]],
    ["calls", { name: "two", metricName: "calls" }, started, [500, 501]],
    ["wait.count", { name: "one", metricName: "wait" }, 0, [1]],
    ["wait.count", { name: "two", metricName: "wait" }, 0, [1]],
  ]);
  const sent = collector();
  for (const { body } of importRequests(series, 0)) readJsonHistory(JSON.parse(body), sent);
  const again = sent.finish();
  const told = (all: typeof series) =>
    all.map(({ metricName, scope, starts, length }) => [metricName, scope, [...(starts ?? []).slice(0, length)]]);
  expect(told(again)).toEqual(told(series));
});
