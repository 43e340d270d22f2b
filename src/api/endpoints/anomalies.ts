import { z } from "zod";
import type { Endpoint } from "../endpoint.ts";
import { numberParameter, textParameter } from "../parameters.ts";
import { NO_QUERY, PAGE, TIME_RANGE } from "./query-shapes.ts";

/** What was found. */
export const ANOMALIES_ENDPOINTS = [
  {
    name: "anomalies",
    method: "GET",
    path: "/api/v1/anomalies",
    access: "viewer",
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
    access: "viewer",
    handledBy: "coordinator",
    query: NO_QUERY,
    summary: "One anomaly with its verdict",
  },
] as const satisfies readonly Endpoint[];
