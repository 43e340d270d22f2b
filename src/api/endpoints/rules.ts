import { z } from "zod";
import { RULE_GROUP_BODY_BYTES_MAX } from "../../core/config/body-limits.ts";
import { RULE_TRIAL_ANSWER_MS_MAX } from "../../core/config/rule-limits.ts";
import { declared } from "../declared.ts";
import { timeField } from "../parameters.ts";
import { RULE_GROUP, RULE_GROUP_LIST, RULE_TRIAL } from "../shapes/prometheus-rules.ts";
import { EXAMPLE_TIME } from "../shapes/scalars.ts";
import { PAGE } from "./query-shapes.ts";

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

const TRIAL_EXAMPLE = {
  since: "2026-01-31T00:00:00.000Z",
  until: EXAMPLE_TIME,
  interval_seconds: 30,
  evaluations: 1445,
  rules: [
    { name: "service_id:requests:rate5m", type: "recording" as const, fired: 0, failed: 0, last_error: null },
    { name: "Down", type: "alerting" as const, fired: 1, failed: 0, last_error: null },
  ],
  fired: 1,
  pages: 1,
  outcomes: { paged: 1 },
  routing: [{ team: "payments", channel: "pager:payments", pages: 1 }],
  alerts: [
    {
      rule: "Down",
      labels: { alertname: "Down", service_id: "checkout", severity: "critical" },
      annotations: { summary: "checkout is down" },
      active_at: "2026-01-31T03:00:10.000Z",
      fired_at: "2026-01-31T03:02:10.000Z",
      ended_at: "2026-01-31T03:20:10.000Z",
      outcome: "paged",
      channels: ["pager:payments"],
    },
  ],
};

/** Endpoints of groups of alerting and recording rules. */
export const RULES_ENDPOINTS = declared([
  {
    name: "ruleGroups",
    method: "GET",
    path: "/api/v1/rule-groups",
    access: "viewer",
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
    parameters: NAME,
    responses: { 204: null },
    errors: ["not_found", "conflict"],
    summary: "Ends a group of rules",
  },
  {
    name: "tryRuleGroup",
    method: "POST",
    path: "/api/v1/rule-groups/trial",
    isBesideNames: true,
    access: "operator",
    answerMsMax: RULE_TRIAL_ANSWER_MS_MAX,
    body: z.strictObject({
      group: z.string().describe("a file of one group, as PUT takes it"),
      since: timeField(),
      until: timeField(),
    }),
    bodyBytesMax: RULE_GROUP_BODY_BYTES_MAX,
    responses: { 200: RULE_TRIAL },
    errors: ["unprocessable", "overloaded"],
    examples: { body: { group: FILE_EXAMPLE, since: "2026-01-31T00:00:00Z", until: EXAMPLE_TIME }, response: TRIAL_EXAMPLE },
    summary: "When a group of rules would have fired over stored samples, and whom it would have told; nothing is stored",
  },
]);
