import type { Endpoint } from "../endpoint.ts";
import { METRICS_CONTENT_TYPE } from "../metrics-text.ts";
import { EXAMPLE_TIME } from "../shapes/scalars.ts";
import { HEALTH, OPENAPI_DOCUMENT, READY, STARTING, STATUS } from "../shapes/server.ts";
import { ANY_QUERY, NO_QUERY } from "./query-shapes.ts";

const STATUS_EXAMPLE = {
  status: "ok",
  version: "1.0.0",
  components: { watchdog: "ok", vectorizer: "disabled", rca: "disabled", llm: "disabled", store: "ok" },
  watchdog: { last_run: EXAMPLE_TIME, metrics_monitored: 1250, anomalies_last_hour: 2 },
  engines: [{ engine: 0, state: "ok", series: 1250 }],
  listeners: { otlp: { state: "listening", port: 4318 } },
  queues: { frames_waiting: 0, queries_waiting: 1 },
};

/** The server itself. */
export const SYSTEM_ENDPOINTS = [
  {
    name: "healthz",
    method: "GET",
    path: "/healthz",
    access: "public",
    handledBy: "front",
    query: ANY_QUERY,
    responses: { 200: HEALTH },
    examples: { response: { status: "ok", version: "1.0.0", uptime_seconds: 3600, store: "ok", queue: "ok" } },
    summary: "Whether the process lives, and the state of store and queue",
  },
  {
    name: "readyz",
    method: "GET",
    path: "/readyz",
    access: "public",
    handledBy: "front",
    query: ANY_QUERY,
    responses: { 200: READY, 503: STARTING },
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
    responses: { 200: [{ mediaType: METRICS_CONTENT_TYPE, holds: "Families of metrics in the Prometheus text format" }] },
    summary: "Self-telemetry in the Prometheus text format",
  },
  {
    name: "stream",
    method: "GET",
    path: "/api/v1/stream",
    access: "viewer",
    handledBy: "front",
    query: NO_QUERY,
    responses: { 200: [{ mediaType: "text/event-stream", holds: "Events `anomaly` and `alert`, each with the object as JSON in `data`" }] },
    errors: ["overloaded"],
    summary: "Anomalies and alerts as server-sent events",
  },
  {
    name: "status",
    method: "GET",
    path: "/api/v1/status",
    access: "viewer",
    handledBy: "coordinator",
    query: NO_QUERY,
    responses: { 200: STATUS },
    examples: { response: STATUS_EXAMPLE },
    summary: "Version and state of the parts",
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
    responses: {
      200: [{ mediaType: "text/html; charset=utf-8", holds: "The documentation of this API as one page, which loads nothing" }],
    },
    summary: "This documentation",
  },
] as const satisfies readonly Endpoint[];
