// What history may come as: CSV, Prometheus JSON, OTLP JSON, plain series; and what is said of the rest.
import { describe, expect, it } from "vitest";
import { ATTRIBUTES_MAX, IMPORT_LINE_LENGTH_MAX, IMPORT_PROBLEMS_SHOWN } from "../../../../src/core/config/limits.ts";
import { CsvHistory, cellTime } from "../../../../src/domain/history/csv-history.ts";
import { HistoryCollector, HistoryError } from "../../../../src/domain/history/history-collector.ts";
import { readJsonHistory } from "../../../../src/domain/history/json-history.ts";
import { generator } from "../../../support/generator.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const HOUR_MS = 3600 * 1000;

interface Read {
  readonly series: ReadonlyArray<{ name: [string, string, unknown]; samples: Array<[number, number]> }>;
  readonly refused: number;
  readonly problems: readonly string[];
}

function collect(read: (collector: HistoryCollector) => void, samplesMax = 1_000): Read {
  const collector = new HistoryCollector({ nowMs: NOW_MS, samplesMax });
  read(collector);
  const series = collector.finish().map(({ serviceId, metricName, attributes, times, values, length }) => ({
    name: [serviceId, metricName, attributes] as [string, string, unknown],
    samples: Array.from({ length }, (_, i): [number, number] => [times[i] as number, values[i] as number]),
  }));
  return { series, refused: collector.refused, problems: collector.problems.map(({ at, error }) => `${at} ${error}`) };
}

function csv(text: string, pieces: readonly number[] = []): Read {
  return collect((collector) => {
    const reader = new CsvHistory(collector);
    let from = 0;
    for (const end of [...pieces, text.length]) {
      reader.push(text.slice(from, end));
      from = end;
    }
    reader.end();
  });
}

const json = (document: unknown) => collect((collector) => readJsonHistory(document, collector));
const HEADER = "timestamp,service_id,metric_name,value";

describe("a CSV", () => {
  it("has columns in any order, quotes, empty cells, line ends of both kinds, and times of three", () => {
    const text = [
      "\ufeffzone,value,metric_name,service_id,timestamp,note\r",
      `a,1,m,"shop, north",${NOW_MS / 1000 - 60},"say ""hi""\nagain"\r`,
      `,2.5e1,m,shop,${NOW_MS - 30_000},\r`,
      `"",-0.5,m,shop,2026-11-21T11:00:00Z,`,
      "",
    ].join("\n");
    const read = csv(text);
    expect(read).toEqual({
      refused: 0,
      problems: [],
      series: [
        { name: ["shop, north", "m", { zone: "a", note: 'say "hi"\nagain' }], samples: [[NOW_MS - 60_000, 1]] },
        {
          name: ["shop", "m", {}],
          samples: [
            [NOW_MS - HOUR_MS, -0.5],
            [NOW_MS - 30_000, 25],
          ],
        },
      ],
    });
  });

  it("reads the same in whatever pieces it comes", () => {
    const { uniform } = generator(3);
    const rows = Array.from({ length: 50 }, (_, i) => `${NOW_MS - i * 1000},"s,${i % 3}",m,${i},"a ""${i % 2}""\nb"`);
    const text = `${HEADER},x\r\n${rows.join("\r\n")}\r\n`;
    const whole = csv(text);
    expect(whole.series.length).toBe(6);
    for (let round = 0; round < 100; round++) {
      const pieces = Array.from({ length: 8 }, () => Math.floor(uniform() * text.length)).sort((a, b) => a - b);
      expect(csv(text, pieces)).toEqual(whole);
    }
  });

  it("takes a quote within a cell as a character: no row is lost by it", () => {
    const note = (i: number) => (i === 3 ? '6" pipe' : i === 15 ? '8" pipe' : i === 7 ? 'say ""' : "x");
    const rows = Array.from({ length: 20 }, (_, i) => `${NOW_MS - i * 1000},s,m,${i},${note(i)}`);
    const read = csv(`${HEADER},note\n${rows.join("\r\n")}\n`);
    expect(read.problems).toEqual([]);
    expect(read.series.map(({ name, samples }) => [name[2], samples.length])).toEqual([
      [{ note: "x" }, 17],
      [{ note: '6" pipe' }, 1],
      [{ note: 'say ""' }, 1],
      [{ note: '8" pipe' }, 1],
    ]);
  });

  it("ends a row whose quotes are at fault with its line, and goes on behind it", () => {
    const row = (i: number, note: string) => `${NOW_MS - i * 1000},s,m,${i},${note}`;
    const taken = (read: Read) => read.series.flatMap(({ samples }) => samples.map(([, value]) => value)).sort((a, b) => a - b);
    // Closed by another row's quote, behind which there is text.
    const crossed = csv([`${HEADER},note`, row(0, "a"), row(1, '"6 pipe'), row(2, "b"), row(3, '8" pipe'), row(4, "c")].join("\n"));
    expect([crossed.problems, taken(crossed)]).toEqual([["line 3 invalid_record"], [0, 2, 3, 4]]);
    // Closed by another row's quote, with which the row has too many cells.
    const longer = csv([`${HEADER},note`, row(1, '"6 pipe'), row(2, 'pipe 8",'), row(3, "b")].join("\n"));
    expect([longer.problems, taken(longer)]).toEqual([["line 2 invalid_record", "line 3 invalid_record"], [3]]);
    // Never closed, to the end of the text and beyond all that is read of a row.
    const open = csv([`${HEADER},note`, row(0, "a"), row(1, '"6 pipe'), row(2, "b")].join("\r\n"));
    expect([open.problems, taken(open)]).toEqual([["line 3 invalid_record"], [0, 2]]);
    const rows = Array.from({ length: 900 }, (_, i) => row(i + 2, "n".repeat(200)));
    const long = csv([`${HEADER},note`, row(1, '"6 pipe'), ...rows].join("\n"));
    expect([long.problems, taken(long).length]).toEqual([["line 2 invalid_record"], 900]);
    const behind = csv([`${HEADER},note`, row(1, '"a"b'), row(2, '"a" '), row(3, ' "a"')].join("\n"));
    expect([behind.problems, taken(behind)]).toEqual([["line 2 invalid_record", "line 3 invalid_record"], [3]]);
  });

  it.each(["", " ", "0x10", "0b1", "1_000", "Infinity", "NaN", "1e5000", "1,5", "１"])("has no number %j", (value) => {
    const read = csv(`${HEADER}\n${NOW_MS},s,m,"${value}"`);
    expect([read.series, read.problems]).toEqual([[], ["line 2 invalid_value"]]);
  });

  it("names the line of each row that it leaves out, and goes on", () => {
    const read = csv(
      [
        HEADER,
        `x,s,m,1`,
        `${NOW_MS},s,m,1e999`,
        `${NOW_MS},s,m`,
        `${NOW_MS},,m,1`,
        `"${NOW_MS}",s,m,"\n1"`,
        `${NOW_MS + HOUR_MS},s,m,1`,
        "1990-01-01T00:00:00Z,s,m,1",
        `${NOW_MS},s,m,0x10`,
        `${NOW_MS},,m,2`,
      ].join("\n"),
    );
    expect(read.problems).toEqual([
      "line 2 invalid_timestamp",
      "line 3 invalid_value",
      "line 4 invalid_record",
      "line 5 missing_service_id",
      "line 8 timestamp_in_future",
      "line 9 timestamp_too_old",
      "line 10 invalid_value",
      "line 11 missing_service_id",
    ]);
    expect(read.series).toEqual([{ name: ["s", "m", {}], samples: [[NOW_MS, 1]] }]);
  });

  it.each([
    ["nothing", "", /empty/],
    ["no header", "1,2,3,4\n", /line 1: the header does not name timestamp/],
    ["a column twice", `${HEADER},a,a\n`, /names "a" twice/],
    ["a column without a name", `${HEADER},\n`, /without a name/],
    ["too many attributes", `${HEADER},${Array.from({ length: ATTRIBUTES_MAX + 1 }, (_, i) => `a${i}`).join()}\n`, /129 attributes/],
    ["a line of any length", `${HEADER}\n${"x".repeat(IMPORT_LINE_LENGTH_MAX + 1)}`, /line 2 has more than/],
    ["a header that opens a quote", `"${HEADER}\n${NOW_MS},s,m,1\n`, /line 1: the header opens a quote/],
  ])("with %s is refused as a whole", (_, text, message) => {
    expect(() => csv(text)).toThrow(HistoryError);
    expect(() => csv(text)).toThrow(message);
  });

  it("of hostile size ends at its bound, and shows some of its problems", () => {
    const many = `${HEADER}\n${Array.from({ length: 1_001 }, (_, i) => `${NOW_MS - i},s,m,1`).join("\n")}`;
    expect(() => csv(many)).toThrow(/1000 samples at a time/);
    const bad = csv(`${HEADER}\n${"x,s,m,1\n".repeat(5_000)}`);
    expect([bad.refused, bad.problems.length]).toEqual([5_000, IMPORT_PROBLEMS_SHOWN]);
  });
});

describe("times", () => {
  it.each([
    ["1795219200", 1_795_219_200_000],
    ["1795219200.25", 1_795_219_200_250],
    ["1795219200123", 1_795_219_200_123],
    ["2026-11-21T01:00:00+01:00", Date.UTC(2026, 10, 21)],
    ["", undefined],
    ["-5", undefined],
    ["1e9", undefined],
    ["2026-11-21", undefined],
  ])("%s", (cell, expected) => expect(cellTime(cell)).toBe(expected));
});

describe("JSON", () => {
  it("of Prometheus gives series by their labels, counters by their names", () => {
    const seconds = NOW_MS / 1000;
    const result = [
      {
        metric: { __name__: "http_requests_total", job: "api", instance: "a:1" },
        values: [
          [seconds - 30, "7"],
          [seconds - 15, "NaN"],
          [seconds, "9.5"],
        ],
      },
      { metric: { __name__: "up", job: "api", env: "prod" }, value: [seconds, "1"] },
      { metric: { job: "api" }, values: [[seconds, "1"]] },
      7,
    ];
    const read = json({ status: "success", data: { resultType: "matrix", result } });
    expect(read.series).toEqual([
      {
        name: ["api", "http_requests_total", { instance: "a:1", metric_type: "counter" }],
        samples: [
          [NOW_MS - 30_000, 7],
          [NOW_MS, 9.5],
        ],
      },
      { name: ["api", "up", { env: "prod" }], samples: [[NOW_MS, 1]] },
    ]);
    expect(read.problems).toEqual(["result 0, sample 1 invalid_value", "result 2 missing_metric_name", "result 3 invalid_record"]);
    expect(() => json({ status: "error", error: "bad query" })).toThrow(/bad query/);
  });

  it.each([" ", "", "0x10", "0b1", "0o7", "1_000", "1e5000", "x", null, true, [], undefined])("of any form has no number %j", (value) => {
    const second = NOW_MS / 1000;
    const answered = json({
      data: {
        result: [
          {
            metric: { __name__: "m", job: "s" },
            values: [
              [second, value],
              [second - 1, "+1.5e1"],
            ],
          },
        ],
      },
    });
    expect([answered.series[0]?.samples, answered.problems]).toEqual([[[NOW_MS - 1000, 15]], ["result 0, sample 0 invalid_record"]]);
    const plain = json({
      series: [
        {
          service_id: "s",
          metric_name: "m",
          samples: [
            [NOW_MS, value],
            [NOW_MS - 1, 2],
          ],
        },
      ],
    });
    expect([plain.series[0]?.samples, plain.problems]).toEqual([[[NOW_MS - 1, 2]], ["series 0, sample 0 invalid_record"]]);
  });

  it("of OTLP gives gauges and sums, and names what cannot be read", () => {
    const point = (fields: object) => ({
      timeUnixNano: `${NOW_MS}000000`,
      attributes: [{ key: "zone", value: { stringValue: "a" } }],
      ...fields,
    });
    const metrics = [
      {
        name: "g",
        gauge: {
          dataPoints: [point({ asDouble: 1.5 }), point({ asInt: "3", timeUnixNano: `${NOW_MS - 1000}000000` }), point({ flags: 1 })],
        },
      },
      { name: "c", sum: { isMonotonic: true, aggregationTemporality: 2, dataPoints: [point({ asInt: 4 })] } },
      {
        name: "d",
        sum: { isMonotonic: true, aggregationTemporality: "AGGREGATION_TEMPORALITY_DELTA", dataPoints: [point({ asInt: "5" })] },
      },
      { name: "h", histogram: { dataPoints: [{}, {}] } },
      { name: "e", gauge: { dataPoints: [point({}), { asInt: 1 }] } },
      { name: "k", gauge: { dataPoints: [point({ asInt: 1, attributes: [{ key: 5 }] })] } },
    ];
    const resource = {
      attributes: [
        { key: "service.name", value: { stringValue: "shop" } },
        { key: "service.version", value: { stringValue: "1" } },
        { key: "host.name", value: { stringValue: "h1" } },
        { key: "deployment.environment", value: { stringValue: "prod" } },
      ],
    };
    const read = json({ resourceMetrics: [{ resource, scopeMetrics: [{ metrics }] }] });
    const attributes = { "deployment.environment": "prod", "host.name": "h1", zone: "a" };
    expect(read.series.map(({ name, samples }) => [name, samples.map(([, value]) => value)])).toEqual([
      [
        ["shop", "g", attributes],
        [3, 1.5],
      ],
      [["shop", "c", { ...attributes, metric_type: "counter" }], [4]],
      [["shop", "d", attributes], [5]],
    ]);
    expect([read.refused, read.problems.length]).toEqual([5, 5]);
    expect(read.problems.at(-1)).toContain("invalid_record");
  });

  it("of OTLP gives histograms as the series that they give live, whichever temporality they have", () => {
    const minute = (i: number) => `${NOW_MS - (3 - i) * 60_000}000000`;
    const counts = [
      [10, 0, 0],
      [4, 6, 0],
      [0, 0, 5],
    ];
    const sums = [5, 17, 50];
    const upTo = (i: number) => counts.slice(0, i + 1).reduce((sum, row) => sum.map((value, b) => value + (row[b] as number)), [0, 0, 0]);
    const total = (row: readonly number[]) => row.reduce((sum, value) => sum + value, 0);
    const points = (isDelta: boolean) =>
      counts.map((row, i) => {
        const buckets = isDelta ? row : upTo(i);
        const sum = isDelta ? sums[i] : total(sums.slice(0, i + 1));
        const begin = { startTimeUnixNano: minute(isDelta ? i - 1 : -1), timeUnixNano: minute(i) };
        return { ...begin, count: total(buckets), sum, explicitBounds: [1, 4], bucketCounts: buckets };
      });
    const metric = (name: string, aggregationTemporality: number, dataPoints: readonly object[]) => ({
      name,
      histogram: { aggregationTemporality, dataPoints },
    });
    // Files may hold points in any order.
    const metrics = [metric("delta", 1, points(true)), metric("total", 2, points(false).reverse())];
    const read = json({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] });
    const valuesOf = (name: string) =>
      read.series
        .filter(({ name: [, metricName] }) => metricName.startsWith(name))
        .map(({ name: [, metricName], samples }) => [metricName.slice(name.length), samples.map(([, value]) => value)]);
    expect(read.problems).toEqual([]);
    expect(valuesOf("delta")).toContainEqual([".count", [10, 10, 5]]);
    expect(valuesOf("delta")).toContainEqual([".sum", sums]);
    expect(valuesOf("delta")).toContainEqual([".p50", [0.5, 1.5, 4]]);
    expect(valuesOf("total")).toEqual(valuesOf("delta"));
  });

  it("of OTLP gives summaries their quantiles, and refuses points that are none", () => {
    const point = { timeUnixNano: `${NOW_MS}000000`, count: "7", sum: 9, quantileValues: [{ quantile: 0.9, value: 3 }] };
    const broken = { timeUnixNano: `${NOW_MS}000000`, count: 1, explicitBounds: [2, 1], bucketCounts: [1, 0, 0] };
    const metrics = [
      { name: "s", summary: { dataPoints: [point] } },
      { name: "h", histogram: { aggregationTemporality: 1, dataPoints: [broken, { count: 1 }] } },
    ];
    const read = json({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] });
    expect(read.series).toEqual([{ name: ["unknown_service", "s.p90", {}], samples: [[NOW_MS, 3]] }]);
    expect(read.problems).toEqual(["point 2 (h) invalid_timestamp", "point 1 (h) invalid_value"]);
  });

  it("of plain series is refused sample by sample", () => {
    const read = json({
      series: [
        { service_id: "s", metric_name: "m", kind: "counter", samples: [[NOW_MS, 1], [NOW_MS, 2], [1, "x"], "x", [NOW_MS]] },
        { service_id: "s", samples: [[NOW_MS, 1]] },
        { service_id: "s", metric_name: "m", attributes: [], samples: [] },
        null,
      ],
    });
    expect(read.series).toEqual([{ name: ["s", "m", { metric_type: "counter" }], samples: [[NOW_MS, 2]] }]);
    expect(read.problems.length).toBe(6);
    for (const document of [null, 7, [], {}, { series: 7 }]) expect(() => json(document)).toThrow(HistoryError);
  });
});
