import { z } from "zod";
import { DRAWN_BUCKETS_MAX, SERIES_TOGETHER_MAX } from "../../core/config/interface-limits.ts";
import { SERIES_POINTS_DEFAULT, SERIES_POINTS_MAX } from "../../core/config/limits.ts";
import { RECORD_TYPES } from "../../core/layout/counters.ts";
import { declared } from "../declared.ts";
import {
  attributesParameter,
  choiceParameter,
  environmentParameter,
  limitParameter,
  namesParameter,
  partParameter,
  textParameter,
  wholeParameter,
} from "../parameters.ts";
import { EXAMPLE_TIME } from "../shapes/scalars.ts";
import { CALL_GRAPH, RECORD_LIST, SERIES_DATA, SERIES_LIST } from "../shapes/series.ts";
import { RECORD_EXAMPLE } from "../shapes/telemetry.ts";
import { PAGE, TIME_RANGE } from "./query-shapes.ts";

const NAME_EXAMPLE = { service_id: "checkout", metric_name: "queue.depth", environment: "production", attributes: { queue: "orders" } };
const SERIES_EXAMPLE = {
  ...NAME_EXAMPLE,
  kind: "gauge",
  samples: 8640,
  last_value: 17,
  last_timestamp: EXAMPLE_TIME,
  maturity: "settling",
  ended: false,
  type: "gauge",
  unit: null,
};
const DATA_EXAMPLE = {
  ...NAME_EXAMPLE,
  kind: "gauge",
  resolution: "raw",
  points: [
    {
      timestamp: EXAMPLE_TIME,
      value: 17,
      expected: 15.2,
      lower: 9.8,
      upper: 20.6,
      statistical: { expected: 15.2, lower: 9.8, upper: 20.6 },
      adaptive: { expected: 15, lower: 5.1, upper: 26.3 },
      judged_by: "statistical",
    },
  ],
  anomalies: [
    {
      anomaly_id: "3b1f0c5a9d2e47f6a8b0c1d2e3f40516",
      detector: "z_score",
      severity: "high",
      direction: "high",
      attributes: { queue: "orders" },
      started_at: EXAMPLE_TIME,
      observed_at: EXAMPLE_TIME,
      resolved_at: null,
      observed: 92,
      expected: 15.2,
      lower: 9.8,
      upper: 20.6,
    },
  ],
  matches: 1,
  complete: true,
};
const GRAPH_EXAMPLE = {
  edges: [{ caller: "shop", callee: "checkout", environment: "production", calls: 1200, errors: 3, duration_ms: 48_250.5 }],
  since: "2026-01-31T11:00:00.000Z",
  until: EXAMPLE_TIME,
  complete: true,
};

/** Endpoints of stored series. */
export const SERIES_ENDPOINTS = declared([
  {
    name: "series",
    method: "GET",
    path: "/api/v1/series",
    access: "viewer",
    query: z.strictObject({
      service_id: textParameter("service_id").optional(),
      metric_name: textParameter("metric_name").optional(),
      environment: environmentParameter().optional(),
      q: partParameter().optional(),
      ...PAGE,
    }),
    responses: { 200: SERIES_LIST },
    examples: { response: { series: [SERIES_EXAMPLE], total: 1, page_token: "" } },
    summary: "Series by service, metric, environment and attributes",
  },
  {
    name: "seriesData",
    method: "GET",
    path: "/api/v1/series/data",
    access: "viewer",
    query: z.strictObject({
      service_id: textParameter("service_id"),
      metric_name: textParameter("metric_name"),
      environment: environmentParameter().optional(),
      attributes: attributesParameter().optional(),
      ...TIME_RANGE,
      resolution: choiceParameter("resolution", ["raw", "1m", "1h"]).optional(),
      limit: limitParameter(SERIES_POINTS_DEFAULT, SERIES_POINTS_MAX),
      points: wholeParameter(
        "points",
        1,
        DRAWN_BUCKETS_MAX,
        "for a picture, in place of limit: each of so many equal parts of the range gives its least and its greatest value",
      ).optional(),
      series: wholeParameter(
        "series",
        1,
        SERIES_TOGETHER_MAX,
        "series that match and are answered: the first here, the others in more",
      ).optional(),
      metrics: namesParameter(
        "metrics",
        SERIES_TOGETHER_MAX - 1,
        "further metrics of the service whose series are answered too",
      ).optional(),
    }),
    responses: { 200: SERIES_DATA },
    errors: ["not_found"],
    examples: { response: DATA_EXAMPLE },
    summary: "Values of a series, or of several, with what was expected and what was found: the newest of the range, in ascending order",
  },
  {
    name: "records",
    method: "GET",
    path: "/api/v1/records",
    access: "viewer",
    answersCommitted: true,
    query: z.strictObject({
      service_id: textParameter("service_id").optional(),
      environment: environmentParameter().optional(),
      type: choiceParameter("type", RECORD_TYPES, "invalid_type").optional(),
      trace_id: textParameter("trace_id").optional(),
      ...TIME_RANGE,
      ...PAGE,
    }),
    responses: { 200: RECORD_LIST },
    examples: {
      response: {
        records: [{ ...RECORD_EXAMPLE, type: "metric", environment: "production" }],
        total: 1,
        total_relation: "eq",
        page_token: "",
      },
    },
    summary: "Stored telemetry records, newest first; without service_id a metric appears with its newest sample only",
  },
  {
    name: "callGraph",
    method: "GET",
    path: "/api/v1/call-graph",
    access: "viewer",
    answersCommitted: true,
    query: z.strictObject({
      service_id: textParameter("service_id").optional(),
      environment: environmentParameter().optional(),
      ...TIME_RANGE,
      resolution: choiceParameter("resolution", ["total", "1m"]).optional(),
    }),
    responses: { 200: CALL_GRAPH },
    examples: { response: GRAPH_EXAMPLE },
    summary: "Calls between services that traces have shown: number, errors and time, in all or by minute; without since the last hour",
  },
]);
