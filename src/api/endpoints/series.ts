import { z } from "zod";
import { SERIES_POINTS_DEFAULT, SERIES_POINTS_MAX } from "../../core/config/limits.ts";
import { RECORD_TYPES } from "../../core/layout/counters.ts";
import type { Endpoint } from "../endpoint.ts";
import { attributesParameter, choiceParameter, environmentParameter, limitParameter, textParameter } from "../parameters.ts";
import { PAGE, TIME_RANGE } from "./query-shapes.ts";

/** What is stored. */
export const SERIES_ENDPOINTS = [
  {
    name: "series",
    method: "GET",
    path: "/api/v1/series",
    access: "viewer",
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
    access: "viewer",
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
    access: "viewer",
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
    access: "viewer",
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
