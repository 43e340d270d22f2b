// Files of history as the command reads them.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readHistoryFile } from "../../../../src/cli/import/history-file.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const folder = mkdtempSync(join(tmpdir(), "vedette-history-"));
afterAll(() => rmSync(folder, { recursive: true }));

function read(content: string) {
  const file = join(folder, "history.json");
  writeFileSync(file, content);
  return readHistoryFile({ file, format: "json" }, { nowMs: NOW_MS, samplesMax: 1_000_000 });
}

describe("a file of OTLP, a document a line", () => {
  const line = (minutesAgo: number, count: number) => {
    const nanos = (ago: number) => `${NOW_MS - ago * 60_000}000000`;
    const point = { startTimeUnixNano: nanos(60), timeUnixNano: nanos(minutesAgo), count, explicitBounds: [10], bucketCounts: [count, 0] };
    const metrics = [{ name: "h", histogram: { aggregationTemporality: 2, dataPoints: [point] } }];
    return JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] });
  };

  it("measures cumulative histograms from line to line", () => {
    const { series, problems } = read([line(3, 100), line(2, 110), line(1, 125)].join("\n"));
    expect(problems).toEqual([]);
    const count = series.find(({ metricName }) => metricName === "h.count");
    expect([...(count?.values ?? [])].slice(0, count?.length)).toEqual([10, 15]);
  });

  it("says which line is no JSON", () => {
    expect(() => read(`${line(3, 1)}\n{`)).toThrow(/line 2: not JSON/);
  });
});

describe("a file of Prometheus' answers, one a line", () => {
  it("measures native histograms from line to line", () => {
    const line = (minutesAgo: number, count: number) => {
      const histogram = { count: String(count), sum: "1", buckets: [[0, "1", "2", String(count)]] };
      const series = { metric: { __name__: "h", job: "s" }, histograms: [[NOW_MS / 1000 - minutesAgo * 60, histogram]] };
      return JSON.stringify({ status: "success", data: { resultType: "matrix", result: [series] } });
    };
    const { series, problems } = read([line(3, 100), line(2, 110), line(1, 125)].join("\n"));
    expect(problems).toEqual([]);
    const count = series.find(({ metricName }) => metricName === "h.count");
    expect([...(count?.values ?? [])].slice(0, count?.length)).toEqual([10, 15]);
  });
});
