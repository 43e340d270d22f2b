/** What an ingest keeps of OTLP besides rows and records: dead letters in the form of records, and what metrics say of themselves. */
import { describe, expect, it } from "vitest";
import { FRAME_METADATA } from "../../../../src/core/protocol/coordinator-frame.ts";
import type { OtlpSignal } from "../../../../src/core/protocol/otlp-kind.ts";
import { rfc3339OrNumber } from "../../../../src/core/time/rfc3339.ts";
import { recordOfDeadLetter } from "../../../../src/domain/series/dead-letter-record.ts";
import { judgeRecord } from "../../../../src/domain/series/telemetry-record.ts";
import {
  bodyOf,
  counter,
  deadLetters,
  gauge,
  logsOf,
  metricsOf,
  NOW,
  ns,
  point,
  rejected,
  span,
  spansOf,
  text,
} from "../../../support/otlp-requests.ts";
import { OTLP_NOW_MS, OtlpRig } from "../../../support/otlp-rig.ts";

describe.each(["protobuf", "json"] as const)("OTLP in %s", (encoding) => {
  const take = (request: object, rig = new OtlpRig(), signal: OtlpSignal = "metrics") =>
    rig.take(bodyOf(signal, encoding, request), signal, encoding);

  it("takes types and units of metrics, once, whether the kernel reads the points or not", () => {
    const delta = { name: "sent", unit: "By", sum: { aggregationTemporality: 1, isMonotonic: true, dataPoints: [point()] } };
    const histogram = {
      name: "took",
      unit: "ms",
      histogram: {
        aggregationTemporality: 2,
        dataPoints: [{ timeUnixNano: NOW, count: "1", sum: 2, explicitBounds: [1], bucketCounts: ["0", "1"] }],
      },
    };
    const known = [
      { ...gauge([point()]), unit: "items" },
      { ...counter([point()]), unit: "1" },
      delta,
      histogram,
      gauge([point()], "bare"),
    ];
    const rig = new OtlpRig();
    const reported = (metrics: readonly unknown[]) =>
      take(metricsOf(metrics), rig)
        .frames.filter(({ frame }) => frame === FRAME_METADATA)
        .map(({ envelope: { metricName, type, unit } }) => [metricName, type, unit].join(" "));
    const expected = ["depth gauge items", "orders counter 1", "sent counter By", "took histogram ms", "bare gauge "];
    expect(reported(known).sort()).toEqual([...expected].sort());
    expect(reported(known)).toEqual([]);
    // Without a histogram the kernel's walk reads all points.
    expect(reported([{ ...gauge([point({ attributes: [text("a", "b")] })]), unit: "cars" }])).toEqual(["depth gauge cars"]);
  });

  it("keeps points that are equal and refused for the same as one dead letter, with their number and places", () => {
    const bad = Array.from({ length: 5_000 }, () => point({ timeUnixNano: ns(1) }));
    const refused = take(metricsOf([gauge([...bad, point({ asDouble: 7, timeUnixNano: ns(1) }), ...bad])]));
    expect(rejected(refused)).toBe(10_001);
    expect(refused.units).toBeGreaterThan(5);
    expect(deadLetters(refused).map(({ count, places }) => [count, places])).toEqual([
      [
        10_000,
        [
          [0, 4_999],
          [5_001, 10_000],
        ],
      ],
      [undefined, undefined],
    ]);
  });

  it("buries logs and spans in the form of records, in which they are corrected", () => {
    const old = { timeUnixNano: ns(1), traceId: span().traceId, spanId: span().spanId, severityNumber: 17, body: { stringValue: "late" } };
    const [log] = deadLetters(take(logsOf([old]), new OtlpRig(), "logs"));
    expect(log).toMatchObject({
      field: "timestamp",
      payload: {
        service_id: "shop",
        type: "log",
        body: "late",
        trace_id: span().traceId,
        timestamp: "1970-01-01T00:00:00.001Z",
        attributes: { span_id: span().spanId, severity_number: 17 },
      },
    });
    const corrected = { ...(log?.payload as object), timestamp: new Date(OTLP_NOW_MS).toISOString() };
    expect(judgeRecord(recordOfDeadLetter(corrected), OTLP_NOW_MS)).toMatchObject({ type: "log", body: "late" });
    const [late] = deadLetters(take(spansOf([span({ startTimeUnixNano: ns(1), endTimeUnixNano: ns(11) })]), new OtlpRig(), "traces"));
    expect(late?.payload).toMatchObject({ type: "trace", metric_name: "GET /", value: 10, timestamp: "1970-01-01T00:00:00.011Z" });
    const again = { ...(late?.payload as object), timestamp: new Date(OTLP_NOW_MS).toISOString() };
    expect(judgeRecord(recordOfDeadLetter(again), OTLP_NOW_MS)).toMatchObject({ type: "trace", value: 10 });
  });
});

it("writes the time of a letter as RFC 3339 where four digits can say its year, and leaves any other number", () => {
  const cases: Array<[number, string | number]> = [
    [-1, "1969-12-31T23:59:59.999Z"],
    [1.9, "1970-01-01T00:00:00.001Z"],
    [-0.5, "1969-12-31T23:59:59.999Z"],
    [-62_167_219_200_000, "0000-01-01T00:00:00.000Z"],
    [-62_167_219_200_001, -62_167_219_200_001],
    [253_402_300_799_999.5, "9999-12-31T23:59:59.999Z"],
    [253_402_300_800_000, 253_402_300_800_000],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  ];
  for (const [ms, expected] of cases) {
    expect(rfc3339OrNumber(ms)).toBe(expected);
    expect(recordOfDeadLetter({ labels: { __name__: "a" }, value: 1, timestamp: ms })).toMatchObject({ timestamp: expected });
  }
});
