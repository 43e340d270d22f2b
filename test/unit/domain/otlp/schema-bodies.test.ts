/** The files of schemas/ against bodies that real senders sent (test/golden), and the walkers' field numbers against the files. */
import { readFileSync } from "node:fs";
import protobuf from "protobufjs";
import { describe, expect, it } from "vitest";
import { OTLP_SIGNALS, type OtlpSignal } from "../../../../src/core/protocol/otlp-kind.ts";
import { logsOfProtobuf } from "../../../../src/domain/otlp/protobuf-logs.ts";
import { metricsOfProtobuf } from "../../../../src/domain/otlp/protobuf-metrics.ts";
import { spansOfProtobuf } from "../../../../src/domain/otlp/protobuf-traces.ts";
import { histogramSeries } from "../../../../src/domain/remote-write/histogram-series.ts";
import { metadataMessages } from "../../../../src/domain/remote-write/metadata-messages.ts";
import { decodeNativeHistogram } from "../../../../src/domain/remote-write/native-histogram.ts";
import { BASE_MS, IngestHarness } from "../../../support/ingest-harness.ts";
import { OTLP_NOW_MS, OtlpRig } from "../../../support/otlp-rig.ts";
import { loadOtlpSchema, loadSchema, typesIn } from "../../../support/schema-files.ts";
import { snappyDecode } from "../../../support/snappy-decoder.ts";

const golden = (name: string) => readFileSync(`test/golden/${name}`);
const uncompressed = (name: string) => snappyDecode(golden(name), 1 << 26) as Uint8Array;
const REQUESTS: Readonly<Record<OtlpSignal, string>> = {
  metrics: "opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest",
  traces: "opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest",
  logs: "opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest",
};

/** A body as its schema reads it; throws where the body has a field that the schema has not, at any depth. */
function readWhole(type: protobuf.Type, body: Uint8Array): Record<string, unknown> {
  const reader = protobuf.Reader.create(body);
  reader.discardUnknown = false;
  const message = type.decode(reader);
  refuseUnknown(message, type.name);
  return type.toObject(message, { longs: String, enums: String, bytes: String });
}

function refuseUnknown(value: unknown, place: string): void {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return;
  const { $unknowns: unknown } = value as { $unknowns?: Uint8Array[] };
  if (unknown !== undefined)
    throw new Error(`${place} has fields that the schema has not: ${unknown.map((each) => Buffer.from(each).toString("hex"))}`);
  for (const [name, each] of Object.entries(value)) refuseUnknown(each, `${place}.${name}`);
}

describe("the schemas of schemas/", () => {
  const remoteWrite = loadSchema("prometheus/remote-write-1.proto").lookupType("prometheus.v1.WriteRequest");

  it("read Prometheus' bodies as they were decoded where they were captured", () => {
    for (const name of ["prometheus-remote-write", "prometheus-remote-write-metadata"]) {
      const { timeseries, metadata } = JSON.parse(golden(`${name}.decoded.json`).toString()) as Record<string, unknown[]>;
      const read = readWhole(remoteWrite, uncompressed(`${name}.bin`)) as { timeseries?: unknown[]; metadata?: unknown[] };
      expect((read.timeseries ?? []).slice(0, timeseries?.length)).toEqual(timeseries);
      expect((read.metadata ?? []).slice(0, metadata?.length)).toEqual(metadata);
      expect((timeseries?.length ?? 0) + (metadata?.length ?? 0)).toBeGreaterThan(10);
    }
  });

  it("know every field of what OpenTelemetry's SDKs send", () => {
    const schema = loadOtlpSchema();
    for (const signal of OTLP_SIGNALS) {
      const read = JSON.stringify(readWhole(schema.lookupType(REQUESTS[signal]), golden(`otlp-${signal}-proto.bin`)));
      const sent = JSON.parse(golden(`otlp-${signal}-json.json`).toString()) as object;
      for (const text of textsOf(sent)) expect(read, signal).toContain(JSON.stringify(text));
    }
  });
});

/** Names, keys and texts of a request in JSON, without ids, times and numbers, which differ from one sending to the next. */
function textsOf(value: unknown, name = ""): string[] {
  if (typeof value === "string") return /Id$|Nano$|^(as|int)|count|flags|sum|body/i.test(name) || /\d{6}|^\d*$/.test(value) ? [] : [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => textsOf(each, key));
}

/** Fields that change what `read` makes of the body once they have another number: a line for each message. */
function fieldsRead(schema: protobuf.Root, requestType: string, request: object, read: (body: Uint8Array) => unknown): string {
  const type = schema.lookupType(requestType);
  const body = () => type.encode(type.fromObject(request)).finish();
  const sent = body();
  const before = JSON.stringify(read(sent));
  const lines: string[] = [];
  for (const message of typesIn(schema)) {
    const found: string[] = [];
    for (const field of message.fieldsArray) {
      const { name, id } = field;
      const [moved, back] = [MOVED, id].map(
        (number) => new protobuf.Field(name, number, field.type, field.repeated ? "repeated" : undefined),
      );
      message.remove(field).add(moved as protobuf.Field);
      const changed = body();
      if (!Buffer.from(sent).equals(changed) && JSON.stringify(read(changed)) !== before) found.push(name);
      message.remove(moved as protobuf.Field).add(back as protobuf.Field);
    }
    if (found.length > 0) lines.push(`${message.name}: ${found.sort().join(" ")}`);
  }
  return lines.sort().join("\n");
}

const MOVED = 777;
const NOW = `${OTLP_NOW_MS - 1000}000000`;
const START = `${OTLP_NOW_MS - 1005}000000`;
const keyValue = (key: string, value: object = { stringValue: `the ${key}` }) => ({ key, value });
const values = [
  keyValue("text"),
  keyValue("flag", { boolValue: true }),
  keyValue("whole", { intValue: 7 }),
  keyValue("real", { doubleValue: 1.5 }),
  keyValue("list", { arrayValue: { values: [{ stringValue: "in a list" }] } }),
  keyValue("map", { kvlistValue: { values: [keyValue("inside")] } }),
  keyValue("bytes", { bytesValue: Buffer.from("bytes") }),
];
const resource = { attributes: [keyValue("service.name"), keyValue("host.name")], droppedAttributesCount: 3 };
const scope = { name: "a scope", version: "1", attributes: [keyValue("scope")] };
const times = { startTimeUnixNano: START, timeUnixNano: NOW };
const exemplars = [
  { filteredAttributes: values, timeUnixNano: NOW, asDouble: 2, spanId: Buffer.alloc(8, 1), traceId: Buffer.alloc(16, 1) },
];
const [positive, negative] = [
  { offset: 1, bucketCounts: [1, 2] },
  { offset: 2, bucketCounts: [3] },
];
const metrics = [
  {
    name: "gauge",
    description: "A gauge.",
    unit: "s",
    gauge: { dataPoints: [{ ...times, attributes: values, asDouble: 1.5, exemplars }] },
  },
  { name: "stale", gauge: { dataPoints: [{ ...times, asInt: 3, flags: 1 }] } },
  { name: "sum", metadata: values, sum: { dataPoints: [{ ...times, asInt: 3 }], aggregationTemporality: 2, isMonotonic: true } },
  {
    name: "histogram",
    histogram: {
      dataPoints: [
        { ...times, attributes: values, count: 3, sum: 4, min: 1, max: 2, bucketCounts: [1, 2], explicitBounds: [0.5], exemplars },
        { ...times, flags: 1 },
      ],
      aggregationTemporality: 1,
    },
  },
  {
    name: "exponential",
    exponentialHistogram: {
      dataPoints: [
        {
          ...times,
          attributes: values,
          count: 9,
          sum: 4,
          min: 1,
          max: 2,
          scale: 3,
          zeroCount: 1,
          zeroThreshold: 0.1,
          positive,
          negative,
          exemplars,
        },
        { ...times, flags: 1 },
      ],
      aggregationTemporality: 1,
    },
  },
  {
    name: "summary",
    summary: {
      dataPoints: [
        { ...times, attributes: values, count: 3, sum: 4, quantileValues: [{ quantile: 0.5, value: 2 }] },
        { ...times, flags: 1 },
      ],
    },
  },
];
const span = {
  traceId: Buffer.alloc(16, 1),
  spanId: Buffer.alloc(8, 2),
  traceState: "state",
  parentSpanId: Buffer.alloc(8, 3),
  name: "GET /",
  kind: 3,
  startTimeUnixNano: START,
  endTimeUnixNano: NOW,
  attributes: values,
  droppedAttributesCount: 1,
  events: [{ timeUnixNano: NOW, name: "an event", attributes: values, droppedAttributesCount: 1 }],
  droppedEventsCount: 1,
  links: [{ traceId: Buffer.alloc(16, 4), spanId: Buffer.alloc(8, 5), traceState: "state", attributes: values, flags: 1 }],
  droppedLinksCount: 1,
  status: { message: "failed", code: 2 },
  flags: 257,
};
const logRecord = {
  timeUnixNano: NOW,
  observedTimeUnixNano: START,
  severityNumber: 17,
  severityText: "ERROR",
  body: { stringValue: "a line" },
  attributes: values,
  droppedAttributesCount: 1,
  flags: 1,
  traceId: Buffer.alloc(16, 1),
  spanId: Buffer.alloc(8, 2),
  eventName: "an event",
};
const requestOf = (source: string, scopes: string, items: string, list: object[]) => ({
  [source]: [{ resource, schemaUrl: "a url", [scopes]: [{ scope, schemaUrl: "a url", [items]: list }] }],
});
const itemsOf = (items: Iterable<object | undefined>) =>
  [...items].map((item = {}) => (item as { point?: { attributes?: unknown } }).point ?? item).map(pointText);
/** A number point's attributes are given when they are asked for. */
const pointText = (item: object) => {
  const { attributes } = item as { attributes?: unknown };
  return typeof attributes === "function" ? { ...item, attributes: attributes() } : item;
};

describe("the walkers read their fields by the numbers of the schema", () => {
  it("of metrics", () => {
    const request = requestOf("resourceMetrics", "scopeMetrics", "metrics", metrics);
    const read = (body: Uint8Array) => itemsOf(metricsOfProtobuf(Buffer.from(body), false));
    expect(fieldsRead(loadOtlpSchema(), REQUESTS.metrics, request, read)).toMatchInlineSnapshot(`
      "AnyValue: arrayValue boolValue bytesValue doubleValue intValue kvlistValue stringValue
      ArrayValue: values
      Buckets: bucketCounts offset
      ExponentialHistogram: aggregationTemporality dataPoints
      ExponentialHistogramDataPoint: attributes count flags max min negative positive scale startTimeUnixNano sum timeUnixNano zeroCount zeroThreshold
      ExportMetricsServiceRequest: resourceMetrics
      Gauge: dataPoints
      Histogram: aggregationTemporality dataPoints
      HistogramDataPoint: attributes bucketCounts count explicitBounds flags max min startTimeUnixNano sum timeUnixNano
      InstrumentationScope: name
      KeyValue: key value
      KeyValueList: values
      Metric: exponentialHistogram gauge histogram name sum summary unit
      NumberDataPoint: asDouble asInt attributes flags startTimeUnixNano timeUnixNano
      Resource: attributes droppedAttributesCount
      ResourceMetrics: resource scopeMetrics
      ScopeMetrics: metrics scope
      Sum: aggregationTemporality dataPoints isMonotonic
      Summary: dataPoints
      SummaryDataPoint: attributes count flags quantileValues startTimeUnixNano sum timeUnixNano
      ValueAtQuantile: quantile value"
    `);
  });

  it("of number points in the kernel", () => {
    const request = requestOf("resourceMetrics", "scopeMetrics", "metrics", metrics.slice(0, 3));
    const read = (body: Uint8Array) => {
      const { rows, answer } = new OtlpRig().take(body, "metrics", "protobuf");
      return [rows, answer];
    };
    expect(fieldsRead(loadOtlpSchema(), REQUESTS.metrics, request, read)).toMatchInlineSnapshot(`
      "AnyValue: arrayValue boolValue bytesValue doubleValue intValue kvlistValue stringValue
      ArrayValue: values
      ExportMetricsServiceRequest: resourceMetrics
      Gauge: dataPoints
      KeyValue: key value
      KeyValueList: values
      Metric: gauge name sum
      NumberDataPoint: asDouble asInt attributes flags startTimeUnixNano timeUnixNano
      Resource: attributes
      ResourceMetrics: resource scopeMetrics
      ScopeMetrics: metrics
      Sum: aggregationTemporality dataPoints isMonotonic"
    `);
  });

  it("of spans", () => {
    const request = requestOf("resourceSpans", "scopeSpans", "spans", [span]);
    expect(
      fieldsRead(loadOtlpSchema(), REQUESTS.traces, request, (body) => [...spansOfProtobuf(Buffer.from(body))]),
    ).toMatchInlineSnapshot(`
      "AnyValue: arrayValue boolValue bytesValue doubleValue intValue kvlistValue stringValue
      ArrayValue: values
      ExportTraceServiceRequest: resourceSpans
      KeyValue: key value
      KeyValueList: values
      Resource: attributes droppedAttributesCount
      ResourceSpans: resource scopeSpans
      ScopeSpans: spans
      Span: attributes droppedAttributesCount endTimeUnixNano kind name parentSpanId spanId startTimeUnixNano status traceId
      Status: code"
    `);
  });

  it("of spans in the kernel", () => {
    const { droppedAttributesCount: _, ...usual } = span;
    const request = requestOf("resourceSpans", "scopeSpans", "spans", [{ ...usual, attributes: [keyValue("peer")] }]);
    const read = (body: Uint8Array) => {
      const rig = new OtlpRig();
      const { frames, spanLines, answer } = rig.take(body, "traces", "protobuf");
      return [frames, spanLines, answer];
    };
    expect(fieldsRead(loadOtlpSchema(), REQUESTS.traces, request, read)).toMatchInlineSnapshot(`
      "AnyValue: stringValue
      ExportTraceServiceRequest: resourceSpans
      KeyValue: key value
      Resource: attributes droppedAttributesCount
      ResourceSpans: resource scopeSpans
      ScopeSpans: spans
      Span: attributes endTimeUnixNano kind name parentSpanId spanId startTimeUnixNano status traceId
      Status: code"
    `);
  });

  it("of log records", () => {
    const request = requestOf("resourceLogs", "scopeLogs", "logRecords", [logRecord, { observedTimeUnixNano: NOW }]);
    expect(fieldsRead(loadOtlpSchema(), REQUESTS.logs, request, (body) => [...logsOfProtobuf(Buffer.from(body))])).toMatchInlineSnapshot(`
      "AnyValue: arrayValue boolValue bytesValue doubleValue intValue kvlistValue stringValue
      ArrayValue: values
      ExportLogsServiceRequest: resourceLogs
      KeyValue: key value
      KeyValueList: values
      LogRecord: attributes body droppedAttributesCount eventName observedTimeUnixNano severityNumber severityText spanId timeUnixNano traceId
      Resource: attributes droppedAttributesCount
      ResourceLogs: resource scopeLogs
      ScopeLogs: logRecords"
    `);
  });

  const histogram = {
    countInt: 12,
    sum: 18,
    schema: 1,
    zeroThreshold: 0.001,
    zeroCountInt: 2,
    positiveSpans: [{ offset: 2, length: 2 }],
    positiveDeltas: [1, 1],
    negativeSpans: [{ offset: 3, length: 1 }],
    negativeDeltas: [5],
    timestamp: BASE_MS,
    resetHint: 1,
    startTimestamp: BASE_MS - 7,
  };

  it("of remote write 1.0", () => {
    const labels = [{ name: "__name__", value: "up" }, { name: "job", value: "node" }]; // biome-ignore format: a list
    const request = {
      timeseries: [
        {
          labels,
          samples: [
            { value: 1.5, timestamp: BASE_MS },
            { value: 2, timestamp: BASE_MS + 1 },
          ],
          exemplars: [{ labels, value: 1, timestamp: BASE_MS }],
        },
        { labels, histograms: [histogram] },
      ],
      metadata: [{ type: 1, metricFamilyName: "up", help: "Help.", unit: "s" }],
    };
    const read = (body: Uint8Array) => {
      const { staged, begun } = new IngestHarness().ingest(body);
      const histograms = [...histogramSeries(body, 1)].map(({ histograms: sent }) =>
        sent.map((each) => attempt(() => decodeNativeHistogram(each, 0))),
      );
      return [begun, staged.map(({ bits, ...rest }) => ({ ...rest, bits: String(bits) })), histograms, [...metadataMessages(body)]];
    };
    expect(fieldsRead(loadSchema("prometheus/remote-write-1.proto"), "prometheus.v1.WriteRequest", request, read)).toMatchInlineSnapshot(`
      "BucketSpan: length offset
      Histogram: countInt negativeDeltas negativeSpans positiveDeltas positiveSpans schema startTimestamp sum timestamp zeroCountInt zeroThreshold
      Label: name value
      MetricMetadata: help metricFamilyName type unit
      Sample: timestamp value
      TimeSeries: histograms labels samples
      WriteRequest: metadata timeseries"
    `);
  });

  it("of remote write 2.0", () => {
    const request = {
      symbols: ["", "__name__", "up", "Help.", "s"],
      timeseries: [
        {
          labelsRefs: [1, 2],
          samples: [
            { value: 1.5, timestamp: BASE_MS },
            { value: 2, timestamp: BASE_MS + 1 },
          ],
          exemplars: [{ labelsRefs: [1, 2], value: 1, timestamp: BASE_MS }],
          metadata: { type: 1, helpRef: 3, unitRef: 4 },
        },
        { labelsRefs: [1, 2], histograms: [histogram], createdTimestamp: BASE_MS - 9 },
      ],
    };
    const read = (body: Uint8Array) => {
      const { staged, begun, metadata } = new IngestHarness().ingest(body, { version: 2 });
      const histograms = [...histogramSeries(body, 2)].map(({ histograms: sent, createdMs }) => [
        createdMs,
        sent.map((each) => attempt(() => decodeNativeHistogram(each, 0))),
      ]);
      return [begun, metadata, staged.map(({ bits, ...rest }) => ({ ...rest, bits: String(bits) })), histograms];
    };
    expect(fieldsRead(loadSchema("prometheus/remote-write-2.proto"), "prometheus.v2.Request", request, read)).toMatchInlineSnapshot(`
      "BucketSpan: length offset
      Histogram: countInt negativeDeltas negativeSpans positiveDeltas positiveSpans schema startTimestamp sum timestamp zeroCountInt zeroThreshold
      Metadata: helpRef type unitRef
      Request: symbols timeseries
      Sample: timestamp value
      TimeSeries: createdTimestamp histograms labelsRefs metadata samples"
    `);
  });
});

/** What a walk comes to, or why it does not. */
function attempt(walk: () => unknown): unknown {
  try {
    return walk();
  } catch (error) {
    return String(error);
  }
}
