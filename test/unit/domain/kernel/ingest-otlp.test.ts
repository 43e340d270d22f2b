/** What one ingest makes of OTLP bodies: rows, records, dead letters and answers. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FLAG_COUNTER, FLAG_PERCENT } from "../../../../src/core/layout/stream-record.ts";
import type { OtlpEncoding, OtlpSignal } from "../../../../src/core/protocol/otlp-kind.ts";
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
  records,
  rejected,
  span,
  spansOf,
  text,
} from "../../../support/otlp-requests.ts";
import { OTLP_NOW_MS, type OtlpIntake, OtlpRig } from "../../../support/otlp-rig.ts";
import { encodeRequest } from "../../../support/otlp-schema.ts";

const ENCODINGS = ["protobuf", "json"] as const;
const captured = (signal: OtlpSignal, encoding: OtlpEncoding) =>
  readFileSync(encoding === "json" ? `test/golden/otlp-${signal}-json.json` : `test/golden/otlp-${signal}-proto.bin`);
const STALE = "7ff0000000000002";
const bitsOf = (value: number) => new BigUint64Array(Float64Array.of(value).buffer)[0]?.toString(16) as string;
/** Rows without what is common to the streams of one test. */
const short = (intake: OtlpIntake, metric: string) => intake.rows.map((row) => row.replace(`["tenant 0","","shop","${metric}",{}] `, ""));

describe.each(ENCODINGS)("OTLP in %s", (encoding) => {
  const take = (request: object, rig = new OtlpRig(), signal: OtlpSignal = "metrics") =>
    rig.take(bodyOf(signal, encoding, request), signal, encoding);

  it("stages the gauges and sums of a JavaScript SDK, and hands its histograms on", () => {
    const { rows, answer, messageBytes } = new OtlpRig().take(captured("metrics", encoding), "metrics", encoding);
    const values = rows.filter((row) => !row.includes(" start ")).sort();
    const streams = values.map((row) => row.replace(/^(\d+) \["tenant 0","production","checkout","(.*?)",.*$/, "$1 $2"));
    expect(streams).toEqual([
      "0 carts.open",
      "0 process.memory.usage",
      "0 queue.depth",
      `${FLAG_COUNTER} orders.placed`,
      `${FLAG_COUNTER} orders.placed`,
      `${FLAG_COUNTER} orders.placed`,
    ]);
    expect(values[2]).toContain('{"deployment.environment.name":"production","queue":"payments","service.instance.id":"checkout-7c9f"}]');
    expect([answer, messageBytes > 300]).toEqual([{ status: 200, body: null }, true]);
  });

  it("makes records of log records", () => {
    const intake = new OtlpRig().take(captured("logs", encoding), "logs", encoding);
    expect([intake.answer, intake.rows]).toEqual([{ status: 200, body: null }, []]);
    const [first, second, third] = records(intake);
    expect(first).toMatchObject({
      environment: "production",
      record: {
        service_id: "checkout",
        type: "log",
        body: "order placed",
        attributes: { amount: 42.5, severity: "INFO", severity_number: 9 },
      },
    });
    expect(second).toMatchObject({
      record: { body: "payment declined", trace_id: expect.stringMatching(/^[0-9a-f]{32}$/), attributes: { severity: "ERROR" } },
    });
    expect(third).toMatchObject({ record: { body: '{"event":"slow query","ms":812,"tags":["db","slow"]}' } });
  });

  it("makes records of spans", () => {
    const intake = new OtlpRig().take(captured("traces", encoding), "traces", encoding);
    expect(intake.answer).toEqual({ status: 200, body: null });
    const kinds = records(intake).map(
      ({ record }) => record as { metric_name: string; value: number; attributes: Record<string, unknown> },
    );
    expect(kinds.map(({ metric_name, attributes }) => [metric_name, attributes["span_kind"], attributes["status_code"]]).sort()).toEqual([
      ["POST /cart/checkout", "server", "error"],
      ["SELECT orders", "client", "unset"],
    ]);
    expect(kinds.every(({ value }) => value > 0.05 && value < 5)).toBe(true);
  });

  it("takes counters as such, other sums and gauges as they are", () => {
    const sum = (aggregationTemporality: number, isMonotonic: boolean) => ({
      name: "s",
      sum: { aggregationTemporality, isMonotonic, dataPoints: [point()] },
    });
    const flags = (metric: object, rig?: OtlpRig) => take(metricsOf([metric]), rig).rows.map((row) => Number(row.split(" ")[0]));
    expect(
      [sum(2, true), sum(2, false), sum(1, true), sum(1, false), gauge([point()], "cpu.utilization")].map((metric) => flags(metric)[0]),
    ).toEqual([FLAG_COUNTER, 0, 0, 0, FLAG_PERCENT]);
    expect(flags(sum(2, true), new OtlpRig({ convertsCounters: false }))).toEqual([0]);
  });

  it("tells a counter's start time with its first value and where it moved, of no other stream", () => {
    const rig = new OtlpRig();
    const at = (startMs: number, timeMs: number) => point({ startTimeUnixNano: ns(startMs), timeUnixNano: ns(timeMs) });
    const one = bitsOf(1);
    const [t0, t1, t2] = [OTLP_NOW_MS - 60_000, OTLP_NOW_MS - 30_000, OTLP_NOW_MS];
    expect(short(take(metricsOf([counter([at(t0 - 5, t0)])]), rig), "orders")).toEqual([`1 ${t0} start ${t0 - 5}`, `1 ${t0} ${one}`]);
    expect(short(take(metricsOf([counter([at(t0 - 5, t1)])]), rig), "orders")).toEqual([`1 ${t1} ${one}`]);
    expect(short(take(metricsOf([counter([at(t1 + 5, t2)])]), rig), "orders")).toEqual([`1 ${t2} start ${t1 + 5}`, `1 ${t2} ${one}`]);
    expect(short(take(metricsOf([gauge([at(t0, t1)])]), rig), "depth")).toEqual([`0 ${t1} ${one}`]);
    const raw = new OtlpRig({ convertsCounters: false });
    expect(short(take(metricsOf([counter([at(t0, t1)])]), raw), "orders")).toEqual([`0 ${t1} ${one}`]);
  });

  it("reads integers, absent times and points without a recorded value", () => {
    const points = [
      point({ asDouble: undefined, asInt: "-12" }),
      point({ timeUnixNano: "0" }),
      point({ asDouble: undefined, flags: 1, timeUnixNano: ns(OTLP_NOW_MS - 1) }),
    ];
    expect(short(take(metricsOf([gauge(points)])), "depth")).toEqual([
      `0 ${OTLP_NOW_MS} ${bitsOf(-12)}`,
      `0 ${OTLP_NOW_MS} ${bitsOf(1)}`,
      `0 ${OTLP_NOW_MS - 1} ${STALE}`,
    ]);
  });

  it("takes service, instance and environment from the resource, unless the point says them itself", () => {
    const resource = [text("env", "prod"), text("host.name", "h"), text("pod", "p"), text("service.version", "7")];
    const { rows } = take(metricsOf([gauge([point(), point({ attributes: [text("pod", "q")] })])], resource));
    expect(rows.map((row) => row.slice(2, row.lastIndexOf("]") + 1)).sort()).toEqual([
      '["tenant 0","prod","unknown_service","depth",{"env":"prod","host.name":"h"}]',
      '["tenant 0","prod","unknown_service","depth",{"env":"prod","pod":"q"}]',
    ]);
  });

  it("refuses bad points only, with a dead letter for each that can be corrected and sent again", () => {
    const points = [
      point(),
      point({ timeUnixNano: ns(OTLP_NOW_MS - 25 * 3_600_000) }),
      point({ timeUnixNano: ns(OTLP_NOW_MS + 11 * 60_000) }),
      point({ asDouble: undefined }),
      point({ asDouble: "Infinity" }),
      point({ attributes: Array.from({ length: 132 }, (_, i) => text(`a${i}`, "v")) }),
      point({ attributes: [text("x".repeat(1025), "v")] }),
      point({ timeUnixNano: ns(OTLP_NOW_MS - 1) }),
    ];
    const rig = new OtlpRig();
    for (const pass of ["first sight", "again"]) {
      const intake = take(metricsOf([gauge(points), gauge([point()], "")]), rig);
      expect(short(intake, "depth"), pass).toEqual([`0 ${OTLP_NOW_MS} ${bitsOf(1)}`, `0 ${OTLP_NOW_MS - 1} ${bitsOf(1)}`]);
      expect(JSON.parse(intake.answer.body as string), pass).toEqual({
        rejected: 6,
        message: expect.stringMatching(
          /^6 of 9 data points were refused, the others are stored; the first: timestamp_too_old: 2026-11-19T/,
        ),
      });
      expect(
        deadLetters(intake).map(({ reason }) => reason),
        pass,
      ).toEqual([
        "timestamp_too_old",
        "timestamp_in_future",
        "missing_value",
        "invalid_value",
        "invalid_attributes",
        "field_too_long",
        "missing_metric_name",
      ]);
      expect(deadLetters(intake)[0]).toMatchObject({
        tenant: "tenant 0",
        topic: "otlp_metrics",
        field: "timestamp",
        payload: { service_id: "shop", type: "metric", metric_name: "depth", value: 1, attributes: {} },
      });
      expect(new Set(deadLetters(intake).map(({ id }) => id)).size).toBe(7);
    }
  });

  it("refuses the points of a metric that cannot be read, or of new streams beyond the limit", () => {
    const limited = new OtlpRig({ seriesLimit: 1 });
    const intake = take(metricsOf([gauge([point()], "a"), gauge([point()], "b"), gauge([point()], "a")]), limited);
    expect([intake.rows.length, deadLetters(intake).map(({ reason }) => reason)]).toEqual([2, ["series_limit_exceeded"]]);
    const histogram = { name: "h", histogram: { dataPoints: [point({ asDouble: undefined }), point({ asDouble: undefined })] } };
    const unknown = take(metricsOf([histogram, gauge([point()])]));
    expect([unknown.rows.length, rejected(unknown)]).toEqual([1, 2]);
    expect(deadLetters(unknown)[0]).toMatchObject({ reason: "invalid_record", message: expect.stringContaining("temporality") });
  });

  it("goes on in further units where a body is large", () => {
    const many = metricsOf([
      counter(
        Array.from({ length: 45_000 }, (_, i) =>
          point({ attributes: [text("i", `${i % 7}`)], timeUnixNano: ns(OTLP_NOW_MS - 45_000 + i) }),
        ),
      ),
    ]);
    const intake = take(many);
    expect([intake.answer, intake.rows.length, intake.units >= 3]).toEqual([{ status: 200, body: null }, 45_000, true]);
    const logs = logsOf(Array.from({ length: 3_000 }, (_, i) => ({ timeUnixNano: NOW, body: { stringValue: `${i}`.padEnd(300) } })));
    const logged = take(logs, new OtlpRig(), "logs");
    expect([logged.answer.body, records(logged).length, logged.units >= 2]).toEqual([null, 3_000, true]);
    const refused = take(metricsOf([gauge(Array.from({ length: 5_000 }, (_, i) => point({ asDouble: i, timeUnixNano: ns(1) })))]));
    expect([rejected(refused), deadLetters(refused).length, refused.units >= 2]).toEqual([5_000, 5_000, true]);
  });

  it("gives a span or a log record that comes again the same id", () => {
    const rig = new OtlpRig();
    const ids = (request: object, signal: OtlpSignal) => records(take(request, rig, signal)).map(({ id }) => id);
    const request = spansOf([span(), span({ spanId: "b7ad6b7169203332" })]);
    const first = ids(request, "traces");
    expect([new Set(first).size, ids(request, "traces")]).toEqual([2, first]);
    const logs = logsOf([
      { timeUnixNano: NOW, body: { stringValue: "a" } },
      { timeUnixNano: NOW, body: { stringValue: "b" } },
    ]);
    const logged = ids(logs, "logs");
    expect([new Set(logged).size, ids(logs, "logs")]).toEqual([2, logged]);
  });

  it("refuses bad spans and log records only", () => {
    const spans = [
      span({ traceId: "00000000000000000000000000000000" }),
      span({ spanId: "b7" }),
      span({ name: "" }),
      span(),
      span({ endTimeUnixNano: ns(OTLP_NOW_MS - 21) }),
    ];
    const traces = take(spansOf(spans), new OtlpRig(), "traces");
    expect(deadLetters(traces).map(({ field }) => field)).toEqual(["trace_id", "attributes.span_id", "metric_name", "timestamp"]);
    expect(records(traces)).toMatchObject([
      { environment: "prod", timeMs: OTLP_NOW_MS, record: { metric_name: "GET /", value: 20, trace_id: span().traceId } },
    ]);
    const logs = logsOf([
      { body: { stringValue: "x".repeat(8193) }, timeUnixNano: NOW },
      { body: { stringValue: "y" }, observedTimeUnixNano: ns(OTLP_NOW_MS - 5) },
      {},
    ]);
    const logged = take(logs, new OtlpRig(), "logs");
    expect([deadLetters(logged).map(({ reason }) => reason), records(logged).map(({ timeMs }) => timeMs)]).toEqual([
      [],
      [OTLP_NOW_MS, OTLP_NOW_MS - 5, OTLP_NOW_MS],
    ]);
    const [{ body }] = records(logged).map(({ record }) => record as { body: string }) as [{ body: string }];
    expect([Buffer.byteLength(body), body.slice(-25)]).toEqual([8192, "x… [cut: 8193 bytes came]"]);
  });

  it("refuses a body that it cannot read, and takes an empty one", () => {
    const rig = new OtlpRig();
    for (const signal of ["metrics", "traces", "logs"] as const) {
      const bad =
        encoding === "json"
          ? ["", "{", "[]", "null", `{"resource${signal}": 7`, "\xff"]
          : ["\x08", "\x0a\x05ab", "\x0a\x02\x12\x05", "\x0b"];
      for (const given of bad) {
        const { answer, frames } = rig.take(Buffer.from(given, "latin1"), signal, encoding);
        expect([answer.status, JSON.parse(answer.body as string).error, frames], given).toEqual([
          400,
          encoding === "json" ? "invalid_json" : "invalid_protobuf",
          [],
        ]);
      }
      expect(rig.take(Buffer.from(encoding === "json" ? "{}" : ""), signal, encoding).answer).toEqual({ status: 200, body: null });
    }
  });
});

describe("OTLP in JSON", () => {
  it("takes number points by the kernel's walk, a body with histograms too", () => {
    const rig = new OtlpRig();
    expect(rig.take(captured("metrics", "json"), "metrics", "json").answer).toEqual({ status: 200, body: null });
    expect([rig.walks, rig.kernel.otlpDistributions()]).toEqual([1, 6]);
    const odd = metricsOf([{ ...gauge([point()]), sum: null }]);
    expect(rig.take(Buffer.from(JSON.stringify(odd)), "metrics", "json").rows).toHaveLength(1);
    expect(rig.walks).toBe(1);
  });

  it("reads int64 as number or string, enums by name, ids in any case, and refuses an item with a field of another type", () => {
    const take = (request: object, signal: OtlpSignal) => new OtlpRig().take(Buffer.from(JSON.stringify(request)), signal, "json");
    const named = {
      name: "orders",
      sum: {
        aggregationTemporality: "AGGREGATION_TEMPORALITY_CUMULATIVE",
        isMonotonic: true,
        dataPoints: [point({ asInt: 5, asDouble: undefined, timeUnixNano: OTLP_NOW_MS * 1e6 }), point({ attributes: 7 }), 7],
      },
    };
    const intake = take(metricsOf([named, 7]), "metrics");
    expect(short(intake, "orders")).toEqual([`1 ${OTLP_NOW_MS} ${bitsOf(5)}`]);
    expect(deadLetters(intake).map(({ message }) => message)).toEqual([
      "attributes must be an array",
      "a data point must be an object",
      "a metric must be an object",
    ]);
    const spans = take(
      spansOf([span({ traceId: "0AF7651916CD43DD8448EB211C80319C", kind: "SPAN_KIND_CLIENT", status: { code: "STATUS_CODE_ERROR" } })]),
      "traces",
    );
    expect(records(spans)).toMatchObject([
      { record: { trace_id: span().traceId, attributes: { span_kind: "client", status_code: "error" } } },
    ]);
    const logs = take(logsOf([{ timeUnixNano: NOW, severityNumber: "SEVERITY_NUMBER_WARN2" }]), "logs");
    expect(records(logs)).toMatchObject([{ record: { attributes: { severity: "WARN", severity_number: 14 } } }]);
  });
});

describe("OTLP in protobuf", () => {
  it("keeps the attributes of spans, also when the table of texts fills and begins anew, and those too long for it", () => {
    const rig = new OtlpRig();
    const long = "y".repeat(2_000);
    const spansPerBody = 500;
    let serial = 0;
    for (let body = 0; body < 12; body++) {
      const spans = Array.from({ length: spansPerBody }, () => {
        const id = (++serial).toString(16).padStart(16, "0");
        const own = Array.from({ length: 4 }, (_, i) => text(`own.${i}`, `${id}-${i}`));
        return span({ spanId: id, name: `operation ${serial % 7}`, attributes: [...own, text("common", "value"), text("long", long)] });
      });
      const intake = rig.take(bodyOf("traces", "protobuf", spansOf(spans)), "traces", "protobuf");
      const kept = records(intake).map(({ record }) => record as { metric_name: string; attributes: Record<string, string> });
      expect(kept.map(({ attributes }) => attributes["span_id"])).toEqual(spans.map(({ spanId }) => spanId));
      for (const { metric_name: name, attributes } of kept) {
        const id = attributes["span_id"] as string;
        expect(name).toBe(`operation ${Number.parseInt(id, 16) % 7}`);
        expect(attributes).toMatchObject({ "own.0": `${id}-0`, "own.3": `${id}-3`, common: "value", long });
      }
    }
    expect(rig.walkedSpans).toBe(12 * spansPerBody);
    expect(rig.kernel.spanTextsFirst()).toBeGreaterThan(0);
  });

  it("keeps nothing of a span's fields that must not be stored: those bodies the kernel does not walk", () => {
    const rig = new OtlpRig({ exclusions: "secret" });
    const intake = rig.take(
      bodyOf("traces", "protobuf", spansOf([span({ attributes: [text("secret", "s"), text("a", "b")] })])),
      "traces",
      "protobuf",
    );
    const [record] = records(intake).map((each) => each["record"] as { attributes: object });
    expect(record?.attributes).toMatchObject({ a: "b", env: "prod" });
    expect(record?.attributes).not.toHaveProperty("secret");
    expect(rig.walkedSpans).toBe(0);
  });

  it("takes spans that are out of the ordinary among others, in their order", () => {
    const rig = new OtlpRig();
    const many = Array.from({ length: 65 }, (_, i) => text(`a${i % 64}`, "b"));
    const nested = { key: "list", value: { arrayValue: { values: [{ intValue: "1" }, { stringValue: "x" }] } } };
    const spans = [
      span({ spanId: "0000000000000001" }),
      span({ spanId: "0000000000000002", attributes: many }),
      span({ spanId: "0000000000000003", endTimeUnixNano: "0", startTimeUnixNano: "0" }),
      span({ spanId: "0000000000000004", kind: 9, attributes: [nested] }),
      span({ spanId: "0000000000000005", attributes: [nested, text("list", "last counts")] }),
      span({ spanId: "0000000000000006", attributes: [text("z", "w".repeat(9_000))] }),
      span({ spanId: "0000000000000007", parentSpanId: "0000000000000001" }),
    ];
    const intake = rig.take(bodyOf("traces", "protobuf", spansOf(spans)), "traces", "protobuf");
    expect(rig.walkedSpans).toBe(3);
    expect(deadLetters(intake)).toEqual([]);
    const kept = records(intake).map(({ record }) => (record as { attributes: Record<string, unknown> }).attributes);
    expect(kept.map((attributes) => Number(attributes["span_id"]))).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect([kept[1]?.["a0"], kept[3]?.["list"], kept[4]?.["list"], kept[6]?.["parent_span_id"]]).toEqual([
      "b",
      [1, "x"],
      "last counts",
      "0000000000000001",
    ]);
  });

  it("refuses the points of a resource or with attributes that cannot be read, and takes their neighbours", () => {
    const good = Buffer.from(encodeRequest("metrics", metricsOf([gauge([point()])])));
    const bad = Buffer.from(good);
    bad[bad.indexOf("service.name") - 1] = 120; // the key's length leaves its attribute
    const attributed = Buffer.from(
      encodeRequest("metrics", metricsOf([gauge([point({ attributes: [text("region", "eu")] }), point()], "other")])),
    );
    attributed[attributed.indexOf("region") - 1] = 120;
    const intake = new OtlpRig().take(Buffer.concat([bad, attributed, good]), "metrics", "protobuf");
    expect([intake.rows.length, deadLetters(intake).map(({ reason }) => reason)]).toEqual([2, ["invalid_record", "invalid_record"]]);
  });

  it("reads a metric whose message comes in several fields as one", () => {
    const part = (fields: object) => {
      const whole = Buffer.from(encodeRequest("metrics", { resourceMetrics: [{ scopeMetrics: [{ metrics: [fields] }] }] }));
      return whole.subarray(6); // the three messages around it, of less than 128 bytes
    };
    const metric = Buffer.concat([
      part({ name: "a" }),
      part({ sum: { dataPoints: [point()] } }),
      part({ name: "orders" }),
      part(counter([point({ timeUnixNano: ns(OTLP_NOW_MS - 1) })])),
    ]);
    const around = (bytes: Buffer, field: number) => Buffer.concat([Buffer.from([field * 8 + 2, bytes.length]), bytes]);
    const intake = new OtlpRig().take(around(around(around(metric, 2), 2), 1), "metrics", "protobuf");
    expect(intake.rows.map((row) => row.split(" ").slice(-2))).toEqual([
      [`${OTLP_NOW_MS}`, bitsOf(1)],
      [`${OTLP_NOW_MS - 1}`, bitsOf(1)],
    ]);
    expect(intake.rows[0]).toContain('"orders"');
  });

  it("puts attributes that do not stand together into one key", () => {
    const rig = new OtlpRig();
    const body = (first: object) => Buffer.from(encodeRequest("metrics", metricsOf([gauge([first])])));
    const scattered = body(point({ attributes: [text("a", "1"), text("b", "2")] }));
    // The time, 9 bytes, moves between the two attributes, 10 bytes each.
    const at = scattered.indexOf("\x3a\x08", 0, "latin1");
    const time = scattered.indexOf("\x19", 0, "latin1");
    const moved = Buffer.from(scattered);
    expect([at > 0, time > 0]).toEqual([true, true]);
    const fields = { time: scattered.subarray(time, time + 9) };
    const end = at + 20;
    moved.set(Buffer.concat([scattered.subarray(time + 9, at + 10), fields.time, scattered.subarray(at + 10, end)]), time);
    const [plain, odd, again] = [
      rig.take(scattered, "metrics", "protobuf"),
      rig.take(moved, "metrics", "protobuf"),
      rig.take(moved, "metrics", "protobuf"),
    ];
    expect(plain.rows).toEqual(odd.rows);
    expect(plain.rows).toEqual(again.rows);
    expect(plain.rows[0]).toContain('{"a":"1","b":"2"}');
  });
});
