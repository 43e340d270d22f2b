// Native histograms in answers of Prometheus: what they become, that each is taken or named, and that nothing of an answer is left out without a word.
import { describe, expect, it } from "vitest";
import { HistoryCollector, HistoryError } from "../../../../src/domain/history/history-collector.ts";
import { readJsonHistory } from "../../../../src/domain/history/json-history.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const second = (minute: number) => NOW_MS / 1000 - (100 - minute) * 60;
const LABELS = { __name__: "lat_seconds", job: "api", zone: "a" };

type Bucket = readonly [sides: number, lower: string, upper: string, count: string];
const histogram = (count: number | string, sum: number | string, buckets: readonly Bucket[] = []) => ({
  count: String(count),
  sum: String(sum),
  buckets,
});

function read(result: readonly unknown[], samplesMax = 1_000) {
  const collector = new HistoryCollector({ nowMs: NOW_MS, samplesMax });
  readJsonHistory({ status: "success", data: { resultType: "matrix", result } }, collector);
  const series = Object.fromEntries(
    collector.finish().map(({ metricName, values, length }) => [metricName, [...values.subarray(0, length)]]),
  );
  return { series, refused: collector.refused, problems: collector.problems.map(({ at, error }) => `${at} ${error}`) };
}

describe("native histograms of an answer", () => {
  it("that are cumulative give what was added from each to the next, with quantiles by their exponential buckets", () => {
    const at = (n: number) =>
      histogram(4 * n, 8 * n, [
        [0, "1", "2", String(2 * n)],
        [0, "4", "8", String(2 * n)],
      ]); // prettier-ignore
    const { series, problems } = read([
      {
        metric: LABELS,
        histograms: [
          [second(0), at(1)],
          [second(1), at(2)],
          [second(2), at(4)],
        ],
      },
    ]);
    expect(problems).toEqual([]);
    expect(series["lat_seconds.count"]).toEqual([4, 8]);
    expect(series["lat_seconds.sum"]).toEqual([8, 16]);
    expect(series["lat_seconds.p50"]).toEqual([2, 2]);
    // 0.9 of the way from 4 to 8 on a logarithmic scale
    for (const p95 of series["lat_seconds.p95"] as number[]) expect(p95).toBeCloseTo(4 * 2 ** 0.9, 9);
  });

  it("of fractions, as rates are, stand for themselves", () => {
    const at = (n: number) => histogram(n / 10, n, [[0, "1", "2", String(n / 10)]]);
    const { series } = read([
      {
        metric: LABELS,
        histograms: [
          [second(0), at(5)],
          [second(1), at(3)],
          [second(2), at(4)],
        ],
      },
    ]);
    expect(series["lat_seconds.count"]).toEqual([0.5, 0.3, 0.4]);
    expect(series["lat_seconds.sum"]).toEqual([5, 3, 4]);
  });

  it("have a zero bucket, negative buckets, a change of schema, and points without any", () => {
    const fine = 2 ** 0.5;
    const zero: Bucket = [3, "-0.001", "0.001", "2"];
    const { series, problems } = read([
      {
        metric: LABELS,
        histograms: [
          [second(0), histogram(0, 0)],
          [second(1), histogram(4, 1, [[1, "-2", `-${fine}`, "1"], zero, [0, `${fine}`, "2", "1"]])],
          [second(2), histogram(6, 5, [[1, "-2", "-1", "1"], zero, [0, "1", "2", "3"]])],
        ],
      },
    ]);
    expect(problems).toEqual([]);
    expect(series["lat_seconds.count"]).toEqual([4, 2]);
    expect(series["lat_seconds.p99"]?.[1]).toBeCloseTo(2 ** 0.99, 9); // both came into (1, 2]
    expect(series["lat_seconds.p50"]?.[0]).toBeCloseTo(0, 9);
  });

  it("with bounds of their own are compared by all bounds of the series", () => {
    const { series, problems } = read([
      {
        metric: LABELS,
        histograms: [
          [second(0), histogram(1, 1, [[0, "-Inf", "3", "1"]])],
          [
            second(1),
            histogram(5, 1, [
              [0, "-Inf", "3", "1"],
              [0, "3", "5", "2"],
              [0, "5", "+Inf", "2"],
            ]),
          ],
        ],
      },
    ]); // prettier-ignore
    expect(problems).toEqual([]);
    expect([series["lat_seconds.count"], series["lat_seconds.p50"], series["lat_seconds.p99"]]).toEqual([[4], [5], [5]]);
  });

  it("go on over results of one series, and stand beside its values", () => {
    const at = (n: number) => histogram(n, n, [[0, "1", "2", String(n)]]);
    const { series, problems } = read([
      { metric: LABELS, values: [[second(0), "7"]], histograms: [[second(1), at(2)]] },
      { metric: LABELS, histograms: [[second(2), at(5)]] },
    ]);
    expect(problems).toEqual([]);
    expect([series.lat_seconds, series["lat_seconds.count"]]).toEqual([[7], [3]]);
  });

  it("that say nothing, or are none, are named", () => {
    const one = histogram(1, 1, [[0, "1", "2", "1"]]);
    const many = Array.from({ length: 1_100 }, (_, i): Bucket => [0, String(3 * i), String(3 * i + 3), "1"]);
    const { series, refused, problems } = read([
      { metric: LABELS, histogram: [second(0), one] },
      {
        metric: { ...LABELS, zone: "b" },
        histograms: [
          [second(0), null],
          ["x", one],
          [second(1), { count: "x" }],
          [second(2), { ...one, count: "0x1" }],
        ],
      },
      {
        metric: { ...LABELS, zone: "c" },
        histograms: [
          [second(0), histogram(1_100, 1, many)],
          [second(1), one],
        ],
      },
      { metric: { ...LABELS, zone: "d" }, histograms: [[second(0), histogram(1, 1, [[0, "2", "1", "1"]])]] },
      {
        metric: { job: "api" },
        histograms: [
          [second(0), one],
          [second(1), histogram(3, 1, [[0, "1", "2", "3"]])],
        ],
      },
      { metric: { ...LABELS, zone: 5 }, values: [[second(0), "1"]], histograms: [[second(0), one]] },
      { metric: LABELS },
      { metric: LABELS, values: [] },
    ]); // prettier-ignore
    expect(series).toEqual({});
    expect(new Set(problems)).toEqual(
      new Set([
        "result 0, histogram 0 invalid_record",
        "result 1, histogram 0 invalid_record",
        "result 1, histogram 1 invalid_record",
        "result 1, histogram 2 invalid_record",
        "result 1, histogram 3 invalid_record",
        "result 2, histogram 0 invalid_value",
        "result 3, histogram 0 invalid_record",
        "result 4, histogram 0 missing_metric_name",
        "result 5 invalid_attributes",
        "result 6 invalid_record",
      ]),
    );
    expect(refused).toBeGreaterThanOrEqual(12);
  });

  it("are at most as many as samples", () => {
    const one = histogram(1, 1);
    expect(() => read([{ metric: LABELS, histograms: Array.from({ length: 11 }, (_, i) => [second(i), one]) }], 10)).toThrow(HistoryError);
  });
});

it("times of answers are exact to the millisecond", () => {
  const collector = new HistoryCollector({ nowMs: NOW_MS, samplesMax: 1_000 });
  const times = Array.from({ length: 1_000 }, (_, i) => NOW_MS - 1_000 + i);
  const values = times.map((ms) => [ms / 1000, "1"]);
  readJsonHistory({ data: { result: [{ metric: LABELS, values }] } }, collector);
  const [series] = collector.finish();
  expect([...(series?.times ?? [])].slice(0, series?.length)).toEqual(times);
});
