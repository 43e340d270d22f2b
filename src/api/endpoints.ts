// All endpoints, each declared once. Handlers are keyed by name where the actor that answers lives.
import { z } from "zod";
import { SERIES_POINTS_DEFAULT, SERIES_POINTS_MAX } from "../core/config/limits.ts";
import { RECORD_TYPES } from "../core/layout/counters.ts";
import type { Endpoint } from "./endpoint.ts";
import {
  attributesParameter,
  choiceParameter,
  environmentParameter,
  limitParameter,
  numberParameter,
  pageTokenParameter,
  textParameter,
  timeParameter,
} from "./parameters.ts";

const NO_QUERY = z.strictObject({});
/** Health probes and scrapers add parameters of their own (cache busters, scrape params): ignored, never refused. */
const ANY_QUERY = z.object({});

const TIME_RANGE = { since: timeParameter("since").optional(), until: timeParameter("until").optional() };
const PAGE = { limit: limitParameter(), page_token: pageTokenParameter() };

/** `since` is inclusive, `until` exclusive, everywhere: adjacent ranges then share no row. */
export const ENDPOINTS = [
  {
    name: "telemetry",
    method: "POST",
    path: "/api/v1/telemetry",
    access: "ingest",
    handledBy: "engine",
    query: NO_QUERY,
    summary: "Stores one telemetry record",
  },
  {
    name: "telemetryBatch",
    method: "POST",
    path: "/api/v1/telemetry/batch",
    access: "ingest",
    handledBy: "engine",
    query: NO_QUERY,
    summary: "Stores up to 10,000 telemetry records; each that fails is named with its index",
  },
  {
    name: "remoteWrite",
    method: "POST",
    path: "/api/v1/rwmetrics/write",
    access: "ingest",
    handledBy: "engine",
    query: NO_QUERY,
    summary: "Prometheus remote-write",
  },
  {
    name: "remoteWriteOtherSpelling",
    method: "POST",
    path: "/api/v1/rwmetrics/remote_write",
    access: "ingest",
    handledBy: "engine",
    query: NO_QUERY,
    summary: "Prometheus remote-write, other spelling of the path",
  },
  {
    name: "otlpMetrics",
    method: "POST",
    path: "/v1/metrics",
    access: "ingest",
    handledBy: "engine",
    query: ANY_QUERY,
    summary: "OTLP metrics, JSON or protobuf",
  },
  {
    name: "otlpTraces",
    method: "POST",
    path: "/v1/traces",
    access: "ingest",
    handledBy: "engine",
    query: ANY_QUERY,
    summary: "OTLP spans, JSON or protobuf",
  },
  {
    name: "otlpLogs",
    method: "POST",
    path: "/v1/logs",
    access: "ingest",
    handledBy: "engine",
    query: ANY_QUERY,
    summary: "OTLP log records, JSON or protobuf",
  },
  {
    name: "otlpMetricsOfBase",
    method: "POST",
    path: "/api/v1/otlp/v1/metrics",
    access: "ingest",
    handledBy: "engine",
    query: ANY_QUERY,
    summary: "OTLP metrics, JSON or protobuf, under the base path",
  },
  {
    name: "otlpTracesOfBase",
    method: "POST",
    path: "/api/v1/otlp/v1/traces",
    access: "ingest",
    handledBy: "engine",
    query: ANY_QUERY,
    summary: "OTLP spans, JSON or protobuf, under the base path",
  },
  {
    name: "otlpLogsOfBase",
    method: "POST",
    path: "/api/v1/otlp/v1/logs",
    access: "ingest",
    handledBy: "engine",
    query: ANY_QUERY,
    summary: "OTLP log records, JSON or protobuf, under the base path",
  },
  {
    name: "telemetryTypes",
    method: "GET",
    path: "/api/v1/telemetry-types",
    access: "read",
    handledBy: "front",
    query: NO_QUERY,
    summary: "The types of telemetry records",
  },
  {
    name: "healthz",
    method: "GET",
    path: "/healthz",
    access: "public",
    handledBy: "front",
    query: ANY_QUERY,
    summary: "Whether the process lives, and the state of store and queue",
  },
  {
    name: "readyz",
    method: "GET",
    path: "/readyz",
    access: "public",
    handledBy: "front",
    query: ANY_QUERY,
    summary: "Whether telemetry is taken and queries are answered",
  },
  {
    name: "metrics",
    method: "GET",
    path: "/metrics",
    access: "public",
    handledBy: "front",
    query: ANY_QUERY,
    summary: "Self-telemetry in the Prometheus text format",
  },
  {
    name: "stream",
    method: "GET",
    path: "/api/v1/stream",
    access: "read",
    handledBy: "front",
    query: NO_QUERY,
    summary: "Anomalies and alerts as server-sent events",
  },
  {
    name: "status",
    method: "GET",
    path: "/api/v1/status",
    access: "read",
    handledBy: "coordinator",
    query: NO_QUERY,
    summary: "Version and state of the parts",
  },
  {
    name: "dlqStats",
    method: "GET",
    path: "/api/v1/debug/dlq-stats",
    access: "read",
    handledBy: "coordinator",
    query: NO_QUERY,
    summary: "Dead letters by reason and topic",
  },
  {
    name: "deadLetters",
    method: "GET",
    path: "/api/v1/dlq",
    access: "operate",
    handledBy: "coordinator",
    query: z.strictObject({
      reason: textParameter("reason").optional(),
      service_id: textParameter("service_id").optional(),
      topic: textParameter("topic").optional(),
      ...TIME_RANGE,
      ...PAGE,
    }),
    summary: "Dead letters with their payload, newest first",
  },
  {
    name: "deadLetter",
    method: "GET",
    path: "/api/v1/dlq/{id}",
    access: "operate",
    handledBy: "coordinator",
    query: NO_QUERY,
    summary: "One dead letter, and what is still wrong with it",
  },
  {
    name: "correctDeadLetter",
    method: "PUT",
    path: "/api/v1/dlq/{id}",
    access: "operate",
    handledBy: "coordinator",
    query: NO_QUERY,
    summary: "Puts a corrected record in the place of the one that came",
  },
  {
    name: "deleteDeadLetter",
    method: "DELETE",
    path: "/api/v1/dlq/{id}",
    access: "operate",
    handledBy: "coordinator",
    query: NO_QUERY,
    summary: "Deletes a dead letter for good",
  },
  {
    name: "replayDeadLetters",
    method: "POST",
    path: "/api/v1/dlq/replay",
    access: "operate",
    handledBy: "coordinator",
    query: NO_QUERY,
    summary: "Takes dead letters in after all, by id or by filter; with dry_run it says what each would become",
  },
  {
    name: "replayJob",
    method: "GET",
    path: "/api/v1/dlq/replay/{id}",
    access: "operate",
    handledBy: "coordinator",
    query: NO_QUERY,
    summary: "How far a replay is",
  },
  {
    name: "importHistory",
    method: "POST",
    path: "/api/v1/import",
    access: "administer",
    handledBy: "engine",
    query: NO_QUERY,
    summary: "Stores samples of the past as history: CSV, Prometheus query JSON, OTLP JSON, up to 10,000 and 1 MiB a request",
  },
  {
    name: "anomalies",
    method: "GET",
    path: "/api/v1/anomalies",
    access: "read",
    handledBy: "coordinator",
    query: z.strictObject({
      service_id: textParameter("service_id").optional(),
      ...TIME_RANGE,
      min_score: numberParameter("min_score", 0, 1).optional(),
      ...PAGE,
    }),
    summary: "Anomalies, newest detection first",
  },
  {
    name: "anomaly",
    method: "GET",
    path: "/api/v1/anomalies/{id}",
    access: "read",
    handledBy: "coordinator",
    query: NO_QUERY,
    summary: "One anomaly with its verdict",
  },
  {
    name: "series",
    method: "GET",
    path: "/api/v1/series",
    access: "read",
    handledBy: "coordinator",
    query: z.strictObject({
      service_id: textParameter("service_id").optional(),
      metric_name: textParameter("metric_name").optional(),
      environment: environmentParameter().optional(),
      ...PAGE,
    }),
    summary: "Series by service, metric, environment and attributes",
  },
  {
    name: "seriesData",
    method: "GET",
    path: "/api/v1/series/data",
    access: "read",
    handledBy: "coordinator",
    query: z.strictObject({
      service_id: textParameter("service_id"),
      metric_name: textParameter("metric_name"),
      environment: environmentParameter().optional(),
      attributes: attributesParameter().optional(),
      ...TIME_RANGE,
      resolution: choiceParameter("resolution", ["raw", "1m", "1h"]).optional(),
      limit: limitParameter(SERIES_POINTS_DEFAULT, SERIES_POINTS_MAX),
    }),
    summary: "Values of one series with what was expected: the newest of the range, in ascending order",
  },
  {
    name: "records",
    method: "GET",
    path: "/api/v1/records",
    access: "read",
    handledBy: "coordinator",
    query: z.strictObject({
      service_id: textParameter("service_id").optional(),
      type: choiceParameter("type", RECORD_TYPES, "invalid_type").optional(),
      trace_id: textParameter("trace_id").optional(),
      ...TIME_RANGE,
      ...PAGE,
    }),
    summary: "Stored telemetry records, newest first; without service_id a metric appears with its newest sample only",
  },
  {
    name: "callGraph",
    method: "GET",
    path: "/api/v1/call-graph",
    access: "read",
    handledBy: "coordinator",
    query: z.strictObject({
      service_id: textParameter("service_id").optional(),
      environment: environmentParameter().optional(),
      ...TIME_RANGE,
      resolution: choiceParameter("resolution", ["total", "1m"]).optional(),
    }),
    summary: "Calls between services that traces have shown: number, errors and time, in all or by minute; without since the last hour",
  },
] as const satisfies readonly Endpoint[];

/** Name of an endpoint. */
export type EndpointName = (typeof ENDPOINTS)[number]["name"];
type EndpointOf<N extends EndpointName> = Extract<(typeof ENDPOINTS)[number], { name: N }>;

/** The query of an endpoint after parsing. */
export type QueryOf<N extends EndpointName> = z.output<EndpointOf<N>["query"]>;

/** Names of the endpoints that the coordinator answers. */
export type CoordinatorEndpoint = Extract<(typeof ENDPOINTS)[number], { handledBy: "coordinator" }>["name"];

const BY_NAME: ReadonlyMap<string, Endpoint> = new Map(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint]));

/** The endpoint of that name, which must exist. */
export function endpointNamed(name: string): Endpoint {
  const endpoint = BY_NAME.get(name);
  if (endpoint === undefined) throw new RangeError(`no endpoint is named ${name}`);
  return endpoint;
}
