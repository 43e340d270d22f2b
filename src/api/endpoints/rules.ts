import { z } from "zod";
import { RULE_GROUP_BODY_BYTES_MAX } from "../../core/config/body-limits.ts";
import type { Endpoint } from "../endpoint.ts";
import { RULE_GROUP, RULE_GROUP_LIST } from "../shapes/prometheus-rules.ts";
import { EXAMPLE_TIME } from "../shapes/scalars.ts";
import { NO_QUERY, PAGE } from "./query-shapes.ts";

const NAME = { name: "name of the group" };
const FILE_EXAMPLE = `groups:
  - name: shop
    interval: 30s
    rules:
      - record: service_id:requests:rate5m
        expr: sum by (service_id) (rate(requests_total[5m]))
      - alert: Down
        expr: up == 0
        for: 2m
        labels: { severity: critical }
        annotations: { summary: "{{ $labels.service_id }} is down" }
`;
const EXAMPLE = {
  name: "shop",
  source: "api",
  file: "",
  changed_by: "admin",
  changed_at: EXAMPLE_TIME,
  definition: {
    name: "shop",
    interval: "30s",
    rules: [
      { record: "service_id:requests:rate5m", expr: "sum by (service_id) (rate(requests_total[5m]))" },
      {
        alert: "Down",
        expr: "up == 0",
        for: "2m",
        labels: { severity: "critical" },
        annotations: { summary: "{{ $labels.service_id }} is down" },
      },
    ],
  },
};

/** Endpoints of groups of alerting and recording rules. */
export const RULES_ENDPOINTS = [
  {
    name: "ruleGroups",
    method: "GET",
    path: "/api/v1/rule-groups",
    access: "viewer",
    handledBy: "coordinator",
    query: z.strictObject({ ...PAGE }),
    responses: { 200: RULE_GROUP_LIST },
    examples: { response: { rule_groups: [EXAMPLE], total: 1, page_token: "" } },
    summary: "Groups of rules, those of RULES_DIR among them",
  },
  {
    name: "ruleGroup",
    method: "GET",
    path: "/api/v1/rule-groups/{name}",
    access: "viewer",
    handledBy: "coordinator",
    query: NO_QUERY,
    parameters: NAME,
    responses: { 200: RULE_GROUP },
    errors: ["not_found"],
    examples: { response: EXAMPLE },
    summary: "One group of rules",
  },
  {
    name: "setRuleGroup",
    method: "PUT",
    path: "/api/v1/rule-groups/{name}",
    access: "admin",
    handledBy: "coordinator",
    query: NO_QUERY,
    parameters: NAME,
    bodyTypes: ["application/yaml", "application/x-yaml", "text/yaml", "application/json"],
    body: z.string(),
    bodyBytesMax: RULE_GROUP_BODY_BYTES_MAX,
    responses: { 200: RULE_GROUP, 201: RULE_GROUP },
    errors: ["conflict", "unprocessable"],
    examples: { body: FILE_EXAMPLE, response: EXAMPLE },
    summary: "Writes a group of rules: a file of Prometheus with this one group; what is wrong with it is answered with its lines",
  },
  {
    name: "deleteRuleGroup",
    method: "DELETE",
    path: "/api/v1/rule-groups/{name}",
    access: "admin",
    handledBy: "coordinator",
    query: NO_QUERY,
    parameters: NAME,
    responses: { 204: null },
    errors: ["not_found", "conflict"],
    summary: "Ends a group of rules",
  },
] as const satisfies readonly Endpoint[];
