// Endpoints that Prometheus' clients ask: BASE/prometheus is what they are given as its address.
import { z } from "zod";
import { PROMQL_FORM_BYTES_MAX } from "../../core/config/promql-limits.ts";
import { declared } from "../declared.ts";
import type { Endpoint, MediaBody } from "../endpoint.ts";
import {
  PROMETHEUS_ALERTS,
  PROMETHEUS_EXEMPLARS,
  PROMETHEUS_FACTS,
  PROMETHEUS_METADATA,
  PROMETHEUS_RANGE,
  PROMETHEUS_RESULT,
  PROMETHEUS_RULES,
  PROMETHEUS_SERIES,
  PROMETHEUS_TEXTS,
} from "../shapes/prometheus-answers.ts";
import { ANY_QUERY } from "./query-shapes.ts";

const text = (description: string) => z.string().optional().meta({ description });

const EVALUATION = {
  query: text("an expression of PromQL"),
  timeout: text("a shorter time than PROMQL_TIMEOUT_SECONDS: 30s or 30"),
  limit: text("series of the answer; 0 or absent for all"),
  lookback_delta: text("how far back a selector looks for a sample, 5m where absent"),
  stats: text("any text: with times and numbers of samples"),
};
const RANGE = { start: text("seconds since 1970 or RFC 3339"), end: text("seconds since 1970 or RFC 3339, included") };
const SELECTION = {
  "match[]": text("a selector; may come more than once"),
  ...RANGE,
  limit: text("rows of the answer; 0 or absent for all"),
};

const INSTANT_QUERY = z.object({ ...EVALUATION, time: text("seconds since 1970 or RFC 3339; now where absent") });
const RANGE_QUERY = z.object({ ...EVALUATION, ...RANGE, step: text("seconds or a duration such as 1m") });
const LIST_QUERY = z.object(SELECTION);
const EXEMPLAR_QUERY = z.object({ query: text("an expression of PromQL"), ...RANGE });
const METADATA_QUERY = z.object({
  metric: text("one metric alone"),
  limit: text("metrics of the answer"),
  limit_per_metric: text("rows of a metric"),
});

const RULE_QUERY = z.object({
  type: text("alert or record; both where it is absent"),
  "rule_name[]": text("a rule's name; may come more than once"),
  "rule_group[]": text("a group's name; may come more than once"),
  "file[]": text("a file of RULES_DIR; may come more than once"),
  "match[]": text("a selector on labels of rules; may come more than once"),
  exclude_alerts: text("true: without the alerts of rules"),
  group_limit: text("groups of the answer"),
  group_next_token: text("groupNextToken of the answer before: the groups behind it"),
});

const FORM: readonly MediaBody[] = [
  { mediaType: "application/x-www-form-urlencoded", holds: "The parameters, in place of the query or besides it" },
];

/** What all have in common. */
const PROMETHEUS = { access: "viewer", envelope: "prometheus" } as const satisfies Partial<Endpoint>;
const GET = { ...PROMETHEUS, method: "GET" } as const;
const POST = { ...PROMETHEUS, method: "POST", takes: FORM, bodyBytesMax: PROMQL_FORM_BYTES_MAX } as const;

const RESULT_EXAMPLE = {
  status: "success",
  data: {
    resultType: "vector",
    result: [{ metric: { __name__: "queue_depth", environment: "production", service_id: "checkout" }, value: [1_769_860_800, "17"] }],
  },
};
const RANGE_EXAMPLE = {
  status: "success",
  data: {
    resultType: "matrix",
    result: [
      {
        metric: { __name__: "queue_depth", service_id: "checkout" },
        values: [
          [1_769_860_800, "17"],
          [1_769_860_860, "18.5"],
        ],
      },
    ],
  },
};

const success = (data: unknown) => ({ response: { status: "success", data } });
const LABELS_EXAMPLE = success(["__name__", "environment", "service_id"]);
const SERIES_EXAMPLE = success([{ __name__: "queue_depth", service_id: "checkout" }]);

const QUERY = {
  path: "/prometheus/api/v1/query",
  handledBy: "query",
  query: INSTANT_QUERY,
  responses: { 200: PROMETHEUS_RESULT },
  examples: { response: RESULT_EXAMPLE },
} as const;
const QUERY_RANGE = {
  path: "/prometheus/api/v1/query_range",
  handledBy: "query",
  query: RANGE_QUERY,
  responses: { 200: PROMETHEUS_RANGE },
  examples: { response: RANGE_EXAMPLE },
} as const;
const LABELS = {
  path: "/prometheus/api/v1/labels",
  handledBy: "query",
  query: LIST_QUERY,
  responses: { 200: PROMETHEUS_TEXTS },
  examples: LABELS_EXAMPLE,
} as const;
const SERIES = {
  path: "/prometheus/api/v1/series",
  handledBy: "query",
  query: LIST_QUERY,
  responses: { 200: PROMETHEUS_SERIES },
  examples: SERIES_EXAMPLE,
} as const;
const EXEMPLARS = {
  path: "/prometheus/api/v1/query_exemplars",
  handledBy: "query",
  query: EXEMPLAR_QUERY,
  responses: { 200: PROMETHEUS_EXEMPLARS },
  examples: success([]),
} as const;

/** Endpoints of Prometheus' HTTP API. */
export const PROMETHEUS_ENDPOINTS = declared([
  {
    ...GET,
    ...QUERY,
    name: "promqlQuery",
    summary: "The value of an expression at a moment",
  },
  { ...POST, ...QUERY, name: "promqlQueryForm", summary: "The same with parameters in a form" },
  {
    ...GET,
    ...QUERY_RANGE,
    name: "promqlQueryRange",
    summary: "The values of an expression over a range, 11,000 steps at most",
  },
  { ...POST, ...QUERY_RANGE, name: "promqlQueryRangeForm", summary: "The same with parameters in a form" },
  { ...GET, ...LABELS, name: "promqlLabels", summary: "Names of labels" },
  { ...POST, ...LABELS, name: "promqlLabelsForm", summary: "The same with parameters in a form" },
  {
    ...GET,
    name: "promqlLabelValues",
    path: "/prometheus/api/v1/label/{name}/values",
    handledBy: "query",
    query: LIST_QUERY,
    parameters: { name: "the label; a name of other characters than letters, digits and _ may come as U__" },
    responses: { 200: PROMETHEUS_TEXTS },
    examples: success(["checkout", "shop"]),
    summary: "Values of a label",
  },
  { ...GET, ...SERIES, name: "promqlSeries", summary: "Series by their labels" },
  { ...POST, ...SERIES, name: "promqlSeriesForm", summary: "The same with parameters in a form" },
  {
    ...GET,
    name: "promqlMetadata",
    path: "/prometheus/api/v1/metadata",
    handledBy: "query",
    query: METADATA_QUERY,
    responses: { 200: PROMETHEUS_METADATA },
    examples: success({ up: [{ type: "gauge", help: "whether the target is up", unit: "" }] }),
    summary: "Types, units and helps of metrics",
  },
  { ...GET, ...EXEMPLARS, name: "promqlExemplars", summary: "Exemplars: none are kept" },
  { ...POST, ...EXEMPLARS, name: "promqlExemplarsForm", summary: "The same with parameters in a form" },
  {
    ...GET,
    name: "promqlRules",
    path: "/prometheus/api/v1/rules",
    query: RULE_QUERY,
    responses: { 200: PROMETHEUS_RULES },
    examples: success({ groups: [] }),
    summary: "Groups of rules",
  },
  {
    ...GET,
    name: "promqlAlerts",
    path: "/prometheus/api/v1/alerts",
    query: ANY_QUERY,
    responses: { 200: PROMETHEUS_ALERTS },
    examples: success({ alerts: [] }),
    summary: "Alerts of rules",
  },
  {
    ...GET,
    name: "promqlBuildInfo",
    path: "/prometheus/api/v1/status/buildinfo",
    handledBy: "front",
    query: ANY_QUERY,
    responses: { 200: PROMETHEUS_FACTS },
    examples: success({ version: "3.14.0", revision: "vedette-1.0.0", branch: "", buildUser: "", buildDate: "", goVersion: "" }),
    summary: "The version of Prometheus whose API this is",
  },
  {
    ...GET,
    name: "promqlRuntimeInfo",
    path: "/prometheus/api/v1/status/runtimeinfo",
    handledBy: "front",
    query: ANY_QUERY,
    responses: { 200: PROMETHEUS_FACTS },
    examples: success({ startTime: "2026-01-31T12:00:00.000Z", reloadConfigSuccess: true }),
    summary: "Since when the server runs",
  },
  {
    name: "promqlHealthy",
    method: "GET",
    path: "/prometheus/-/healthy",
    access: "public",
    envelope: "prometheus",
    handledBy: "front",
    query: ANY_QUERY,
    responses: {},
    media: { 200: [{ mediaType: "text/plain; charset=utf-8", holds: "That the server runs" }] },
    summary: "Whether the server runs",
  },
  {
    name: "promqlReady",
    method: "GET",
    path: "/prometheus/-/ready",
    access: "public",
    envelope: "prometheus",
    handledBy: "front",
    query: ANY_QUERY,
    responses: {},
    media: {
      200: [{ mediaType: "text/plain; charset=utf-8", holds: "That queries are answered" }],
      503: [{ mediaType: "text/plain; charset=utf-8", holds: "That they are not yet" }],
    },
    summary: "Whether queries are answered",
  },
]);
