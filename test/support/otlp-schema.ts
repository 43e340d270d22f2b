// OTLP requests as protobufjs writes and reads them: the oracle of the decoders. What it reads is given in OTLP's JSON encoding, so that it can be
// handed to the JSON decoders too. Each message has fields that OTLP does not know (extra...), which a plain schema does not read.
import protobuf from "protobufjs";
import type { OtlpSignal } from "../../src/core/protocol/otlp-kind.ts";

const EXTRA = "string extraText = 1001; fixed32 extraWord = 1002; uint64 extraNumber = 90; repeated double extraList = 91;";

const proto = (extra: string) => `
  syntax = "proto3";
  message AnyValue { oneof value { string stringValue = 1; bool boolValue = 2; int64 intValue = 3; double doubleValue = 4; ArrayValue arrayValue = 5;
    KeyValueList kvlistValue = 6; bytes bytesValue = 7; } ${extra} }
  message ArrayValue { repeated AnyValue values = 1; }
  message KeyValueList { repeated KeyValue values = 1; }
  message KeyValue { string key = 1; AnyValue value = 2; ${extra} }
  message Resource { repeated KeyValue attributes = 1; uint32 droppedAttributesCount = 2; ${extra} }
  message Scope { string name = 1; string version = 2; repeated KeyValue attributes = 3; ${extra} }

  message ExportMetricsServiceRequest { repeated ResourceMetrics resourceMetrics = 1; ${extra} }
  message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scopeMetrics = 2; string schemaUrl = 3; ${extra} }
  message ScopeMetrics { Scope scope = 1; repeated Metric metrics = 2; string schemaUrl = 3; ${extra} }
  message Metric { string name = 1; string description = 2; string unit = 3; oneof data { Gauge gauge = 5; Sum sum = 7; Histogram histogram = 9;
    ExponentialHistogram exponentialHistogram = 10; Summary summary = 11; } repeated KeyValue metadata = 12; ${extra} }
  message Gauge { repeated NumberDataPoint dataPoints = 1; ${extra} }
  message Sum { repeated NumberDataPoint dataPoints = 1; int32 aggregationTemporality = 2; bool isMonotonic = 3; ${extra} }
  message Histogram { repeated HistogramDataPoint dataPoints = 1; int32 aggregationTemporality = 2; ${extra} }
  message ExponentialHistogram { repeated ExponentialHistogramDataPoint dataPoints = 1; int32 aggregationTemporality = 2; ${extra} }
  message Summary { repeated SummaryDataPoint dataPoints = 1; ${extra} }
  message NumberDataPoint { repeated KeyValue attributes = 7; fixed64 startTimeUnixNano = 2; fixed64 timeUnixNano = 3;
    oneof value { double asDouble = 4; sfixed64 asInt = 6; } repeated Exemplar exemplars = 5; uint32 flags = 8; ${extra} }
  message Exemplar { repeated KeyValue filteredAttributes = 7; fixed64 timeUnixNano = 2; double asDouble = 3; bytes spanId = 4; bytes traceId = 5; }
  message HistogramDataPoint { repeated KeyValue attributes = 9; fixed64 startTimeUnixNano = 2; fixed64 timeUnixNano = 3; fixed64 count = 4;
    optional double sum = 5; repeated fixed64 bucketCounts = 6; repeated double explicitBounds = 7; repeated Exemplar exemplars = 8; uint32 flags = 10;
    optional double min = 11; optional double max = 12; ${extra} }
  message Buckets { sint32 offset = 1; repeated uint64 bucketCounts = 2; }
  message ExponentialHistogramDataPoint { repeated KeyValue attributes = 1; fixed64 startTimeUnixNano = 2; fixed64 timeUnixNano = 3; fixed64 count = 4;
    optional double sum = 5; sint32 scale = 6; fixed64 zeroCount = 7; Buckets positive = 8; Buckets negative = 9; uint32 flags = 10;
    repeated Exemplar exemplars = 11; optional double min = 12; optional double max = 13; double zeroThreshold = 14; ${extra} }
  message ValueAtQuantile { double quantile = 1; double value = 2; }
  message SummaryDataPoint { repeated KeyValue attributes = 7; fixed64 startTimeUnixNano = 2; fixed64 timeUnixNano = 3; fixed64 count = 4; double sum = 5;
    repeated ValueAtQuantile quantileValues = 6; uint32 flags = 8; ${extra} }

  message ExportTraceServiceRequest { repeated ResourceSpans resourceSpans = 1; ${extra} }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scopeSpans = 2; string schemaUrl = 3; ${extra} }
  message ScopeSpans { Scope scope = 1; repeated Span spans = 2; string schemaUrl = 3; ${extra} }
  message Span { bytes traceId = 1; bytes spanId = 2; string traceState = 3; bytes parentSpanId = 4; string name = 5; int32 kind = 6;
    fixed64 startTimeUnixNano = 7; fixed64 endTimeUnixNano = 8; repeated KeyValue attributes = 9; uint32 droppedAttributesCount = 10;
    repeated Event events = 11; repeated Link links = 13; Status status = 15; fixed32 flags = 16; ${extra} }
  message Event { fixed64 timeUnixNano = 1; string name = 2; repeated KeyValue attributes = 3; }
  message Link { bytes traceId = 1; bytes spanId = 2; string traceState = 3; repeated KeyValue attributes = 4; }
  message Status { string message = 2; int32 code = 3; }

  message ExportLogsServiceRequest { repeated ResourceLogs resourceLogs = 1; ${extra} }
  message ResourceLogs { Resource resource = 1; repeated ScopeLogs scopeLogs = 2; string schemaUrl = 3; ${extra} }
  message ScopeLogs { Scope scope = 1; repeated LogRecord logRecords = 2; string schemaUrl = 3; ${extra} }
  message LogRecord { fixed64 timeUnixNano = 1; fixed64 observedTimeUnixNano = 11; int32 severityNumber = 2; string severityText = 3; AnyValue body = 5;
    repeated KeyValue attributes = 6; uint32 droppedAttributesCount = 7; fixed32 flags = 8; bytes traceId = 9; bytes spanId = 10; string eventName = 12; ${extra} }

  message PartialSuccess { int64 rejected = 1; string errorMessage = 2; }
  message ExportServiceResponse { PartialSuccess partialSuccess = 1; }
  message RpcStatus { int32 code = 1; string message = 2; }
`;

const options = { keepCase: true };
const plain = protobuf.parse(proto(""), options).root;
const extended = protobuf.parse(proto(EXTRA), options).root;
const REQUESTS: Readonly<Record<OtlpSignal, string>> = {
  metrics: "ExportMetricsServiceRequest",
  traces: "ExportTraceServiceRequest",
  logs: "ExportLogsServiceRequest",
};

/** A request in protobuf. `request` is as in JSON, but ids are bytes; its messages may have the extra fields. */
export function encodeRequest(signal: OtlpSignal, request: object): Uint8Array {
  const type = extended.lookupType(REQUESTS[signal]);
  return type.encode(type.fromObject(request)).finish();
}

/** Only decodes, for measurements. */
export function decodeMessage(signal: OtlpSignal, body: Uint8Array): unknown {
  return plain.lookupType(REQUESTS[signal]).decode(body);
}

/** A request in protobuf as OTLP's JSON: int64 as strings, ids in hex, other bytes in base64. Throws where protobufjs does. */
export function decodeRequest(signal: OtlpSignal, body: Uint8Array): object {
  const type = plain.lookupType(REQUESTS[signal]);
  return withHexIds(type.toObject(type.decode(body), { longs: String, bytes: Buffer })) as object;
}

const IDS: ReadonlySet<string> = new Set(["traceId", "spanId", "parentSpanId"]);

function withHexIds(value: unknown, name = ""): unknown {
  if (Buffer.isBuffer(value)) return value.toString(IDS.has(name) ? "hex" : "base64");
  if (Array.isArray(value)) return value.map((each) => withHexIds(each));
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : Number.isFinite(value) ? value : String(value);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withHexIds(each, key)]));
}

/** An Export*ServiceResponse; the rejected count of any signal is called `rejected`. */
export function decodeResponse(body: Uint8Array): unknown {
  const type = plain.lookupType("ExportServiceResponse");
  return type.toObject(type.decode(body), { longs: Number });
}

/** A google.rpc.Status. */
export function decodeStatus(body: Uint8Array): unknown {
  const type = plain.lookupType("RpcStatus");
  return type.toObject(type.decode(body));
}
