import { z } from "zod";
import { IMPORT_BODY_BYTES_MAX } from "../../core/config/limits.ts";
import { RECORD_TYPES } from "../../core/layout/counters.ts";
import type { OtlpSignal } from "../../core/protocol/otlp-kind.ts";
import { declared } from "../declared.ts";
import type { Endpoint, MediaBody } from "../endpoint.ts";
import {
  BATCH_QUEUED,
  IMPORTED,
  OTLP_EXPORTED,
  QUEUED,
  RECORD_EXAMPLE,
  TELEMETRY_BATCH,
  TELEMETRY_RECORD,
  TELEMETRY_TYPES,
} from "../shapes/telemetry.ts";
import { ANY_QUERY } from "./query-shapes.ts";

const ENCODINGS = "gzip or identity; zstd where the server runs on Node 22.15 or newer";
const TELEMETRY_HEADERS = {
  "Content-Encoding": ENCODINGS,
  "Idempotency-Key": "makes repeats of the request known as such, for logs and events; for an hour where they have no time of their own",
};
const REMOTE_WRITE_HEADERS = {
  "Content-Encoding": "snappy",
  "X-Prometheus-Remote-Write-Version": "0.1.0 or 2.0.0; X-Metrics-Remote-Write-Version says the same",
};
const REMOTE_WRITE_BODIES: readonly MediaBody[] = [
  {
    mediaType: "application/x-protobuf",
    holds: "A snappy block of prometheus.WriteRequest, or with proto=io.prometheus.write.v2.Request in the media type of that",
  },
];
const IMPORT_BODIES: readonly MediaBody[] = [
  { mediaType: "text/csv", holds: "Lines service_id,metric_name,timestamp,value and columns of attributes, with a head that names them" },
  {
    mediaType: "application/json",
    holds: "The answer of a Prometheus range query, or ExportMetricsServiceRequest of OTLP",
    schema: z.looseObject({}),
  },
  ...REMOTE_WRITE_BODIES,
];
const OTLP_ANSWERS = {
  200: [
    { mediaType: "application/json", holds: "Export*ServiceResponse, with what was refused", schema: OTLP_EXPORTED, example: {} },
    { mediaType: "application/x-protobuf", holds: "Export*ServiceResponse, with what was refused; empty where nothing was" },
  ],
} as const satisfies Endpoint["media"];
const OTLP_MESSAGES: Readonly<Record<OtlpSignal, readonly [message: string, member: string]>> = {
  metrics: ["ExportMetricsServiceRequest", "resourceMetrics"],
  traces: ["ExportTraceServiceRequest", "resourceSpans"],
  logs: ["ExportLogsServiceRequest", "resourceLogs"],
};

function otlpBodies(signal: OtlpSignal): readonly MediaBody[] {
  const [message, member] = OTLP_MESSAGES[signal];
  const schema = z.looseObject({ [member]: z.array(z.looseObject({})).optional() });
  return [
    { mediaType: "application/json", holds: `${message} of OTLP as JSON`, schema, example: { [member]: [] } },
    { mediaType: "application/x-protobuf", holds: `${message} of OTLP` },
  ];
}
const BATCH_EXAMPLE = {
  status: "partial",
  queued: 1,
  failed: 1,
  failures: [{ index: 1, error: "missing_value", message: "value is absent; a metric needs it", field: "value" }],
};

/** Remote-write, under either of its paths. */
const REMOTE_WRITE = {
  method: "POST",
  access: "ingest",
  handledBy: "engine",
  query: ANY_QUERY,
  takes: REMOTE_WRITE_BODIES,
  headers: REMOTE_WRITE_HEADERS,
  responses: { 204: null },
} as const satisfies Partial<Endpoint>;

/** OTLP of any signal, under either of its paths. */
const OTLP = {
  method: "POST",
  access: "ingest",
  handledBy: "engine",
  query: ANY_QUERY,
  headers: TELEMETRY_HEADERS,
  responses: {},
  media: OTLP_ANSWERS,
} as const satisfies Partial<Endpoint>;

/** Endpoints of ingestion. */
export const TELEMETRY_ENDPOINTS = declared([
  {
    name: "telemetry",
    method: "POST",
    path: "/api/v1/telemetry",
    access: "ingest",
    handledBy: "engine",
    takes: [{ mediaType: "application/json", holds: "One record", schema: TELEMETRY_RECORD, example: RECORD_EXAMPLE }],
    headers: TELEMETRY_HEADERS,
    responses: { 200: QUEUED },
    examples: { response: { status: "ok", queued: 1 } },
    summary: "Stores one telemetry record",
  },
  {
    name: "telemetryBatch",
    method: "POST",
    path: "/api/v1/telemetry/batch",
    access: "ingest",
    handledBy: "engine",
    takes: [{ mediaType: "application/json", holds: "An array of records", schema: TELEMETRY_BATCH, example: [RECORD_EXAMPLE] }],
    headers: TELEMETRY_HEADERS,
    responses: { 200: BATCH_QUEUED },
    examples: { response: BATCH_EXAMPLE },
    summary: "Stores up to 10,000 telemetry records; each that fails is named with its index",
  },
  {
    name: "remoteWrite",
    ...REMOTE_WRITE,
    path: "/api/v1/rwmetrics/write",
    summary: "Prometheus remote-write",
  },
  {
    name: "remoteWriteOtherSpelling",
    ...REMOTE_WRITE,
    path: "/api/v1/rwmetrics/remote_write",
    summary: "Prometheus remote-write, other spelling of the path",
  },
  {
    name: "otlpMetrics",
    ...OTLP,
    path: "/v1/metrics",
    takes: otlpBodies("metrics"),
    summary: "OTLP metrics, JSON or protobuf",
  },
  {
    name: "otlpTraces",
    ...OTLP,
    path: "/v1/traces",
    takes: otlpBodies("traces"),
    summary: "OTLP spans, JSON or protobuf",
  },
  {
    name: "otlpLogs",
    ...OTLP,
    path: "/v1/logs",
    takes: otlpBodies("logs"),
    summary: "OTLP log records, JSON or protobuf",
  },
  {
    name: "otlpMetricsOfBase",
    ...OTLP,
    path: "/api/v1/otlp/v1/metrics",
    takes: otlpBodies("metrics"),
    summary: "OTLP metrics, JSON or protobuf, under the base path",
  },
  {
    name: "otlpTracesOfBase",
    ...OTLP,
    path: "/api/v1/otlp/v1/traces",
    takes: otlpBodies("traces"),
    summary: "OTLP spans, JSON or protobuf, under the base path",
  },
  {
    name: "otlpLogsOfBase",
    ...OTLP,
    path: "/api/v1/otlp/v1/logs",
    takes: otlpBodies("logs"),
    summary: "OTLP log records, JSON or protobuf, under the base path",
  },
  {
    name: "telemetryTypes",
    method: "GET",
    path: "/api/v1/telemetry-types",
    access: "viewer",
    handledBy: "front",
    responses: { 200: TELEMETRY_TYPES },
    examples: { response: { types: [...RECORD_TYPES], default: "metric" } },
    summary: "The types of telemetry records",
  },
  {
    name: "importHistory",
    method: "POST",
    path: "/api/v1/import",
    access: "admin",
    handledBy: "engine",
    isOfSender: true,
    takes: IMPORT_BODIES,
    bodyBytesMax: IMPORT_BODY_BYTES_MAX,
    headers: { "Content-Encoding": ENCODINGS },
    responses: { 200: IMPORTED },
    examples: { response: { status: "ok", imported: 1440, series: 1, failed: 0, failures: [] } },
    summary: "Stores samples of the past as history: CSV, Prometheus query JSON, OTLP JSON, remote-write, up to 10,000 and 4 MiB a request",
  },
]);
