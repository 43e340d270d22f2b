import { z } from "zod";
import { EVENT_ID_BYTES_MAX } from "../../core/config/interface-limits.ts";
import { STREAM_EVENT_NAMES } from "../../core/protocol/query.ts";
import { METRICS_CONTENT_TYPE } from "../../core/telemetry/metric.ts";
import { declared } from "../declared.ts";
import { choicesParameter, textParameter } from "../parameters.ts";
import { COUNT, EXAMPLE_TIME } from "../shapes/scalars.ts";
import { DATA_FAULT, HEALTH, NOT_READY, OPENAPI_DOCUMENT, READY, STATUS } from "../shapes/server.ts";
import { ANY_QUERY } from "./query-shapes.ts";

const STREAM_HOLDS =
  "Events `anomaly`, `alert`, `job` and `status`, each with an id and the object as JSON in `data`; " +
  "`missed` {missed, since} where some did not come: the lists tell them, from `since` on";

const STATUS_EXAMPLE = {
  status: "ok",
  version: "1.0.0",
  ingest_auth: "optional",
  components: {
    watchdog: "ok",
    vectorizer: "ok",
    rca: "disabled",
    llm: "disabled",
    store: "ok",
    notifier: "ok",
    drill: "disabled",
    data: "ok",
  },
  detection: { count: 2140, p50_ms: 7.4, p99_ms: 28.1 },
  watchdog: {
    last_run: EXAMPLE_TIME,
    metrics_monitored: 1250,
    anomalies_last_hour: 2,
    mode: "streaming",
    layers: ["statistical", "isolation_forest", "adaptive"],
    lag_seconds: 0.4,
    cycles: 812,
    failed_cycles: 0,
    duration_ms: 640,
    passes: [
      {
        pass: "pairs",
        last_run: EXAMPLE_TIME,
        work_ms: 310,
        evaluated: 1180,
        learning: 62,
        skipped: { ended: 8 },
      },
    ],
  },
  vectorizer: {
    last_run: EXAMPLE_TIME,
    duration_ms: 240,
    work_ms: 85,
    services: 40,
    services_evaluated: 38,
    streams: 1250,
    pillar_values: 6,
  },
  drill: null,
  notifier: { reasons: [], waiting: 0, configured: true, failing: [] },
  sandbox: {
    walls: { interpreter: true, process: true, kernel: true, namespaces: false },
    missing: null,
    languages: ["jq", "javascript", "python"],
    processes: 1,
    waiting: 0,
  },
  store: {
    state: "ok",
    reason: null,
    error_code: null,
    used_bytes: 182_452_224,
    log_bytes: 67_108_864,
    free_bytes: 41_204_318_208,
    limit_bytes: null,
    fill: 0.0044,
  },
  engines: [{ engine: 0, state: "ok", series: 1250 }],
  shared_limits: [],
  listeners: { otlp: { state: "listening", port: 4318 } },
  queues: { frames_waiting: 0, queries_waiting: 1 },
  versions: { vedette: "1.0.0", node: "20.20.1" },
};

const DATA_FAULTS = z.strictObject({ faults: z.array(DATA_FAULT), open: COUNT.describe("not acknowledged"), total: COUNT });
const DATA_FAULTS_EXAMPLE = {
  faults: [
    {
      id: "log e0000000003-0000-00000000.log 1228800",
      kind: "log_damaged",
      what: "120 rows in 3 blocks of e0000000003-0000-00000000.log cannot be read: bytes 1228800 to 1235968, kept in /var/lib/vedette/damaged",
      since: EXAMPLE_TIME,
      acknowledged_by: null,
      acknowledged_at: null,
    },
  ],
  open: 1,
  total: 1,
};

/** The server itself. */
export const SYSTEM_ENDPOINTS = declared([
  {
    name: "healthz",
    method: "GET",
    path: "/healthz",
    access: "public",
    handledBy: "front",
    query: ANY_QUERY,
    responses: { 200: HEALTH },
    examples: { response: { status: "ok", version: "1.0.0", uptime_seconds: 3600, store: "ok", log: "ok", queue: "ok", data: "ok" } },
    summary: "Whether the process lives, and the state of store, log, queue and data",
  },
  {
    name: "readyz",
    method: "GET",
    path: "/readyz",
    access: "public",
    handledBy: "front",
    query: ANY_QUERY,
    responses: { 200: READY, 503: NOT_READY },
    examples: { response: { status: "ready" } },
    summary: "Whether telemetry is taken and queries are answered",
  },
  {
    name: "metrics",
    method: "GET",
    path: "/metrics",
    access: "public",
    handledBy: "front",
    query: ANY_QUERY,
    responses: {},
    media: { 200: [{ mediaType: METRICS_CONTENT_TYPE, holds: "Families of metrics in the Prometheus text format" }] },
    summary: "Self-telemetry in the Prometheus text format",
  },
  {
    name: "stream",
    method: "GET",
    path: "/api/v1/stream",
    access: "viewer",
    handledBy: "front",
    query: z.strictObject({
      types: choicesParameter("types", STREAM_EVENT_NAMES).optional(),
      last_event_id: textParameter("last_event_id", EVENT_ID_BYTES_MAX)
        .meta({ description: "as the header Last-Event-ID, which goes ahead: the stream begins with `missed`" })
        .optional(),
    }),
    responses: {},
    media: { 200: [{ mediaType: "text/event-stream", holds: STREAM_HOLDS }] },
    errors: ["overloaded"],
    summary: "Anomalies, alerts, jobs and changes of the server's state as server-sent events",
  },
  {
    name: "status",
    method: "GET",
    path: "/api/v1/status",
    access: "viewer",
    needsShares: "refusals",
    responses: { 200: STATUS },
    examples: { response: STATUS_EXAMPLE },
    summary: "Version and state of the parts",
  },
  {
    name: "dataFaults",
    method: "GET",
    path: "/api/v1/data-faults",
    access: "operator",
    responses: { 200: DATA_FAULTS },
    examples: { response: DATA_FAULTS_EXAMPLE },
    summary: "What of the stored data cannot be read any more",
  },
  {
    name: "acknowledgeDataFaults",
    method: "POST",
    path: "/api/v1/data-faults/acknowledge",
    access: "operator",
    responses: { 200: DATA_FAULTS },
    examples: {
      response: {
        ...DATA_FAULTS_EXAMPLE,
        faults: DATA_FAULTS_EXAMPLE.faults.map((fault) => ({
          ...fault,
          acknowledged_by: "jane@example.com",
          acknowledged_at: EXAMPLE_TIME,
        })),
        open: 0,
      },
    },
    summary: "Says that an operator has seen the faults of the data: the server is no longer degraded because of them",
  },
  {
    name: "openapi",
    method: "GET",
    path: "/openapi.json",
    access: "public",
    handledBy: "front",
    query: ANY_QUERY,
    responses: { 200: OPENAPI_DOCUMENT },
    summary: "This API as an OpenAPI 3.1 document, made from what validates requests",
  },
  {
    name: "docs",
    method: "GET",
    path: "/docs",
    access: "public",
    handledBy: "front",
    query: ANY_QUERY,
    responses: {},
    media: {
      200: [{ mediaType: "text/html; charset=utf-8", holds: "The documentation of this API as one page, which loads nothing" }],
    },
    summary: "This documentation",
  },
  {
    name: "web",
    method: "GET",
    path: "/",
    access: "public",
    handledBy: "front",
    query: ANY_QUERY,
    responses: {},
    media: {
      200: [
        { mediaType: "text/html; charset=utf-8", holds: "The user interface, where Accept names text/html" },
        { mediaType: "text/plain; charset=utf-8", holds: "Links to what there is, for other clients" },
      ],
    },
    summary: "The user interface for a browser, a page of links for other clients",
  },
  {
    name: "webFile",
    method: "GET",
    path: "/ui/{file}",
    access: "public",
    handledBy: "front",
    query: ANY_QUERY,
    parameters: { file: "name of the file, with a hash of its content" },
    responses: {},
    media: {
      200: [
        { mediaType: "text/javascript; charset=utf-8", holds: "A script of the user interface" },
        { mediaType: "text/css; charset=utf-8", holds: "A style sheet of the user interface" },
        { mediaType: "image/svg+xml", holds: "An icon" },
      ],
    },
    errors: ["not_found"],
    summary: "A file of the user interface",
  },
]);
