import type { Endpoint } from "../endpoint.ts";
import { ANY_QUERY, NO_QUERY } from "./query-shapes.ts";

/** The server itself. */
export const SYSTEM_ENDPOINTS = [
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
    access: "viewer",
    handledBy: "front",
    query: NO_QUERY,
    summary: "Anomalies and alerts as server-sent events",
  },
  {
    name: "status",
    method: "GET",
    path: "/api/v1/status",
    access: "viewer",
    handledBy: "coordinator",
    query: NO_QUERY,
    summary: "Version and state of the parts",
  },
] as const satisfies readonly Endpoint[];
