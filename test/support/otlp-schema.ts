// OTLP requests as protobufjs writes and reads them: the oracle of the decoders. What it reads is given in OTLP's JSON encoding, so that it can be
// handed to the JSON decoders too. The schema is that of OpenTelemetry's own files; each message has fields that OTLP does not know (extra...), which a plain schema does
// not read.
import type { OtlpSignal } from "../../src/core/protocol/otlp-kind.ts";
import { loadOtlpSchema, loadSchema } from "./schema-files.ts";

const plain = loadOtlpSchema();
const extended = loadOtlpSchema({
  extraText: [1001, "string"],
  extraWord: [1002, "fixed32"],
  extraNumber: [90, "uint64"],
  extraList: [91, "double", "repeated"],
});
const answers = loadSchema("otlp-answers.proto", "google/rpc/status.proto");
const REQUESTS: Readonly<Record<OtlpSignal, string>> = {
  metrics: "opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest",
  traces: "opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest",
  logs: "opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest",
};
const RESPONSES: Readonly<Record<OtlpSignal, string>> = {
  metrics: "otlp.ExportMetricsServiceResponse",
  traces: "otlp.ExportTraceServiceResponse",
  logs: "otlp.ExportLogsServiceResponse",
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

/** An Export*ServiceResponse. */
export function decodeResponse(signal: OtlpSignal, body: Uint8Array): unknown {
  const type = answers.lookupType(RESPONSES[signal]);
  return type.toObject(type.decode(body), { longs: Number });
}

/** A google.rpc.Status. */
export function decodeStatus(body: Uint8Array): unknown {
  const type = answers.lookupType("google.rpc.Status");
  return type.toObject(type.decode(body));
}
