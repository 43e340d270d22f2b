/** The protobuf decoders, the kernel's walk among them, against protobufjs and the JSON decoders. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OtlpSignal } from "../../../../src/core/protocol/otlp-kind.ts";
import { logsOfJson } from "../../../../src/domain/otlp/json-logs.ts";
import { metricsOfJson } from "../../../../src/domain/otlp/json-metrics.ts";
import { spansOfJson } from "../../../../src/domain/otlp/json-traces.ts";
import type { MetricItem } from "../../../../src/domain/otlp/otlp-items.ts";
import { logsOfProtobuf } from "../../../../src/domain/otlp/protobuf-logs.ts";
import { metricsOfProtobuf } from "../../../../src/domain/otlp/protobuf-metrics.ts";
import { spansOfProtobuf } from "../../../../src/domain/otlp/protobuf-traces.ts";
import { isMetricsRequest, isRequest } from "../../../support/otlp-request-check.ts";
import { OTLP_NOW_MS, type OtlpIntake, OtlpRig } from "../../../support/otlp-rig.ts";
import { decodeRequest, encodeRequest } from "../../../support/otlp-schema.ts";

const text = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.string({ unit: "grapheme", maxLength: 6 }),
  fc.constantFrom("http.route", "__proto__", "pod", "x".repeat(200)),
);
const int64 = fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -1000n, max: 1000n })).map(String);
const uint64 = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.bigInt({ min: 0n, max: 1000n })).map(String);
const double = fc.oneof(
  fc.double(),
  fc.constantFrom(0, -0, 1, Number.NaN, Infinity, -Infinity),
  fc.integer().map((each) => each / 8),
);
/** Fields that OTLP does not know, in some messages. */
const extra = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.record({ extraText: text, extraWord: fc.nat(), extraNumber: uint64, extraList: fc.array(double, { maxLength: 3 }) }),
  },
);

/** An object with now and then a field left out, and now and then fields nobody knows. */
function message(fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> {
  return fc.tuple(fc.record(fields, { requiredKeys: [] }), extra).map(([known, unknown]) => ({ ...known, ...unknown }));
}

const { anyValue, keyValue } = fc.letrec((tie) => ({
  anyValue: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.record({ stringValue: text }),
    fc.record({ intValue: int64 }),
    fc.record({ doubleValue: double }),
    fc.record({ boolValue: fc.boolean() }),
    fc.record({ bytesValue: fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes)) }),
    fc.constant({}),
    fc.record({ arrayValue: fc.record({ values: fc.array(tie("anyValue"), { maxLength: 3 }) }) }),
    fc.record({ kvlistValue: fc.record({ values: fc.array(tie("keyValue"), { maxLength: 3 }) }) }),
  ),
  keyValue: fc.tuple(fc.record({ key: text, value: tie("anyValue") }), extra).map(([known, unknown]) => ({ ...known, ...unknown })),
}));
const attributes = fc.array(keyValue as fc.Arbitrary<object>, { maxLength: 4 });
/** Whom a span calls, named once or twice, by texts and by what is none. */
const peerAttributes = fc.array(
  fc.record({
    key: fc.constantFrom("peer.service", "server.address", "net.peer.name", "db.system", "db.system.name", "messaging.system"),
    value: fc.constantFrom({ stringValue: "orders-db" }, { stringValue: "10.0.0.7:5432" }, { stringValue: "" }, { intValue: 7 }),
  }),
  { maxLength: 3 },
);
const nanoseconds = fc.oneof(
  fc.bigInt({ min: -3_600_000_000_000n, max: 3_600_000_000_000n }).map((offset) => String(BigInt(OTLP_NOW_MS) * 1_000_000n + offset)),
  fc.constantFrom("0", "1", "999999", "1000000", String(2n ** 64n - 1n), String(BigInt(OTLP_NOW_MS - 86_400_000) * 1_000_000n - 1n)),
);
const resource = fc.oneof(
  { weight: 3, arbitrary: message({ attributes }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom("a", "b").map((name) => ({
      attributes: [
        { key: "service.name", value: { stringValue: name } },
        { key: "service.instance.id", value: { stringValue: `${name}-1` } },
        { key: "deployment.environment", value: { stringValue: "prod" } },
      ],
    })),
  },
);

const counts = fc.array(uint64, { maxLength: 4 });
const buckets = fc.record({ offset: fc.integer({ min: -1000, max: 1000 }), bucketCounts: counts });
const pointBase = { attributes, startTimeUnixNano: nanoseconds, timeUnixNano: nanoseconds, flags: fc.nat({ max: 3 }) };
const value = fc.oneof(
  double.map((asDouble) => ({ asDouble })),
  int64.map((asInt) => ({ asInt })),
  fc.constant({}),
);
const exemplars = fc.array(fc.record({ asDouble: double, filteredAttributes: attributes }), { maxLength: 2 });
const numberPoint = fc.tuple(message({ ...pointBase, exemplars }), value).map(([point, given]) => ({ ...point, ...given }));
const temporality = fc.nat({ max: 3 });
const metricData = fc.oneof(
  message({ dataPoints: fc.array(numberPoint, { maxLength: 5 }) }).map((gauge) => ({ gauge })),
  message({ dataPoints: fc.array(numberPoint, { maxLength: 5 }), aggregationTemporality: temporality, isMonotonic: fc.boolean() }).map(
    (sum) => ({ sum }),
  ),
  message({
    dataPoints: fc.array(
      message({
        ...pointBase,
        count: uint64,
        sum: double,
        min: double,
        max: double,
        bucketCounts: counts,
        explicitBounds: fc.array(double, { maxLength: 4 }),
      }),
      { maxLength: 2 },
    ),
    aggregationTemporality: temporality,
  }).map((histogram) => ({ histogram })),
  message({
    dataPoints: fc.array(
      message({
        ...pointBase,
        count: uint64,
        sum: double,
        min: double,
        max: double,
        scale: fc.integer({ min: -10, max: 20 }),
        zeroCount: uint64,
        zeroThreshold: double,
        positive: buckets,
        negative: buckets,
      }),
      { maxLength: 2 },
    ),
    aggregationTemporality: temporality,
  }).map((exponentialHistogram) => ({ exponentialHistogram })),
  message({
    dataPoints: fc.array(
      message({
        ...pointBase,
        count: uint64,
        sum: double,
        quantileValues: fc.array(fc.record({ quantile: double, value: double }), { maxLength: 3 }),
      }),
      { maxLength: 2 },
    ),
  }).map((summary) => ({ summary })),
  fc.constant({}),
);
/** Of one name number points and others are taken in an order that depends on the walk, and the first scope of a name has none in its streams' names: here names tell them apart. */
const nameOf = (name: string, isOfNumbers: boolean) =>
  name === "" ? name : Array.from(name).slice(0, -1).join("") + (isOfNumbers ? "n" : "p");
const metric = fc.tuple(message({ name: text, description: text, unit: text, metadata: attributes }), metricData).map(([head, data]) => {
  const { name } = head as { readonly name?: string };
  return { ...head, ...(name !== undefined && { name: nameOf(name, "gauge" in data || "sum" in data) }), ...data };
});
const id = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((each) => Buffer.from(each));
const span = message({
  traceId: id(16),
  spanId: id(8),
  parentSpanId: id(8),
  traceState: text,
  name: text,
  kind: fc.nat({ max: 6 }),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds,
  attributes,
  events: fc.array(fc.record({ timeUnixNano: nanoseconds, name: text, attributes }), { maxLength: 2 }),
  links: fc.array(fc.record({ traceId: id(16), spanId: id(8), attributes }), { maxLength: 2 }),
  status: message({ message: text, code: fc.nat({ max: 2 }) }),
  flags: fc.nat(),
});
/** A span as most are: what the kernel reads itself, unless an attribute is out of the ordinary. */
const usualSpan = fc
  .record(
    {
      traceId: id(16),
      spanId: id(8),
      name: fc.constantFrom("GET /", "SELECT", "ü", "x".repeat(300)),
      kind: fc.nat({ max: 5 }),
      startMs: fc.nat({ max: 3_600_000 }),
      microseconds: fc.oneof(fc.nat({ max: 10_000_000 }), fc.constantFrom(0, 1, 2 ** 41)),
      nanoseconds: fc.nat({ max: 999_999 }),
      parentSpanId: fc.oneof(id(8), fc.constant(Buffer.alloc(8)), fc.constant(Buffer.alloc(0))),
      code: fc.nat({ max: 2 }),
      attributes: fc.tuple(attributes, peerAttributes).map(([others, peer]) => [...others, ...peer]),
    },
    { requiredKeys: ["traceId", "spanId", "name", "startMs", "microseconds", "nanoseconds"] },
  )
  .map(({ startMs, microseconds, nanoseconds, code, ...rest }) => {
    const end = BigInt(OTLP_NOW_MS - startMs) * 1_000_000n + BigInt(nanoseconds);
    const times = { startTimeUnixNano: String(end - BigInt(microseconds) * 1000n), endTimeUnixNano: String(end) };
    return { ...rest, ...times, ...(code === undefined ? {} : { status: { code } }) };
  });
const logRecord = message({
  timeUnixNano: nanoseconds,
  observedTimeUnixNano: nanoseconds,
  severityNumber: fc.nat({ max: 24 }),
  severityText: text,
  body: anyValue as fc.Arbitrary<object>,
  attributes,
  traceId: id(16),
  spanId: id(8),
  eventName: text,
});

function request(resources: string, scopes: string, items: string, item: fc.Arbitrary<object>): fc.Arbitrary<object> {
  const scope = message({ scope: message({ name: text, attributes }), [items]: fc.array(item, { maxLength: 4 }), schemaUrl: text });
  const source = message({ resource, [scopes]: fc.array(scope, { maxLength: 2 }), schemaUrl: text });
  return message({ [resources]: fc.array(source, { maxLength: 3 }) });
}
const requests: Readonly<Record<OtlpSignal, fc.Arbitrary<object>>> = {
  metrics: request("resourceMetrics", "scopeMetrics", "metrics", metric),
  traces: request("resourceSpans", "scopeSpans", "spans", fc.oneof(span, { weight: 3, arbitrary: usualSpan })),
  logs: request("resourceLogs", "scopeLogs", "logRecords", logRecord),
};

/** Numbers with their signs, NaN too; whether a point could be decoded, not why not. */
function comparable(items: Iterable<unknown>): unknown[] {
  return [...items].map((item) => {
    const found = item as { type: string; point?: MetricItem extends { point: infer P } ? P : unknown };
    if (found.type === "damaged") return "damaged";
    if (found.type !== "number") return item;
    const { spelling: _, attributes: own, ...rest } = (item as Extract<MetricItem, { type: "number" }>).point;
    return { ...rest, attributes: own() };
  });
}

const bytesOf = (body: Uint8Array) => Buffer.from(body);

describe("OTLP in protobuf", () => {
  it("gives the points that protobufjs decodes", () => {
    fc.assert(
      fc.property(requests.metrics, (given) => {
        const body = bytesOf(encodeRequest("metrics", given));
        expect(isMetricsRequest(body)).toBe(true);
        expect(comparable(metricsOfProtobuf(body, false))).toEqual(comparable(metricsOfJson(decodeRequest("metrics", body))));
      }),
      { numRuns: 300 },
    );
  });

  it("gives the spans that protobufjs decodes", () => {
    fc.assert(
      fc.property(requests.traces, (given) => {
        const body = bytesOf(encodeRequest("traces", given));
        expect(isRequest(body)).toBe(true);
        expect([...spansOfProtobuf(body)]).toEqual([...spansOfJson(decodeRequest("traces", body))]);
      }),
      { numRuns: 200 },
    );
  });

  it("gives the log records that protobufjs decodes", () => {
    fc.assert(
      fc.property(requests.logs, (given) => {
        const body = bytesOf(encodeRequest("logs", given));
        expect(isRequest(body)).toBe(true);
        expect([...logsOfProtobuf(body)]).toEqual([...logsOfJson(decodeRequest("logs", body))]);
      }),
      { numRuns: 200 },
    );
  });

  it("stages the same rows by the kernel's walk, by the TypeScript decoder and from JSON, at first sight and again", () => {
    const rigs = [new OtlpRig(), new OtlpRig({ kernelWalks: false })];
    const fromJson = [new OtlpRig(), new OtlpRig({ kernelWalks: false })];
    fc.assert(
      fc.property(requests.metrics, fc.boolean(), fc.nat({ max: 2 }), (given, again, indent) => {
        const body = encodeRequest("metrics", given);
        const json = Buffer.from(JSON.stringify(decodeRequest("metrics", body), null, indent));
        for (let i = again ? 2 : 1; i > 0; i--) {
          const [walked, ...others] = [
            ...rigs.map((rig) => rig.take(body, "metrics", "protobuf")),
            ...fromJson.map((rig) => rig.take(json, "metrics", "json")),
          ];
          const rows = (intake: OtlpIntake | undefined) => intake?.rows.filter((row) => !row.includes(" start "));
          for (const other of others) {
            expect(rows(other)).toEqual(rows(walked));
            expect(counted(other.answer.body)).toBe(counted(walked?.answer.body));
            expect(other.messageBytes).toBe(walked?.messageBytes);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it("gives the same records, messages and answers of spans by the kernel's walk and by the TypeScript decoder", () => {
    const walks = new OtlpRig();
    const decodes = new OtlpRig({ kernelWalks: false });
    const of = ({ answer, frames, spanLines }: OtlpIntake) => ({ answer, frames: frames.map((each) => JSON.stringify(each)), spanLines });
    fc.assert(
      fc.property(
        requests.traces,
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 2 }),
        fc.boolean(),
        (given, damage, isDamaged) => {
          const body = Buffer.from(encodeRequest("traces", given));
          if (isDamaged && body.length > 0) for (const [at, byte] of damage) body[at % body.length] = byte;
          const walked = walks.take(body, "traces", "protobuf");
          expect(of(walked)).toEqual(of(decodes.take(body, "traces", "protobuf")));
          expect(walked.answer.status).toBe(isRequest(body) ? 200 : 400);
        },
      ),
      { numRuns: 1_500 },
    );
    expect(decodes.walkedSpans).toBe(0);
    expect(walks.walkedSpans).toBeGreaterThan(1_000);
  });

  it("is refused, damaged, exactly when the TypeScript decoder refuses it", () => {
    const rig = new OtlpRig();
    fc.assert(
      fc.property(requests.metrics, fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 4 }), (given, damage) => {
        const body = Buffer.from(encodeRequest("metrics", given));
        for (const [at, byte] of damage) if (body.length > 0) body[at % body.length] = byte;
        expect(rig.take(body, "metrics", "protobuf").answer.status).toBe(isMetricsRequest(body) ? 200 : 400);
      }),
      { numRuns: 500 },
    );
  });
});

const counted = (body: string | null | undefined) => (body === null || body === undefined ? 0 : (JSON.parse(body).rejected as number));
