import { z } from "zod";
import type { Endpoint } from "../endpoint.ts";
import { numberParameter, textParameter } from "../parameters.ts";
import { ANOMALY, ANOMALY_EXAMPLE, ANOMALY_LIST } from "../shapes/anomaly.ts";
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
    responses: { 200: ANOMALY_LIST },
    examples: { response: { anomalies: [ANOMALY_EXAMPLE], total: 1, page_token: "" } },
    summary: "Anomalies, newest detection first",
  },
  {
    name: "anomaly",
    method: "GET",
    path: "/api/v1/anomalies/{id}",
    access: "viewer",
    handledBy: "coordinator",
    query: NO_QUERY,
    parameters: { id: "anomaly_id of the anomaly" },
    responses: { 200: ANOMALY },
    examples: { response: ANOMALY_EXAMPLE },
    summary: "One anomaly with its verdict",
  },
] as const satisfies readonly Endpoint[];
