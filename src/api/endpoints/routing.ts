import { z } from "zod";
import { RULES_BODY_BYTES_MAX } from "../../core/config/body-limits.ts";
import { ROUTING_QUESTION_BYTES_MAX } from "../../core/config/notification-limits.ts";
import { declared } from "../declared.ts";
import { textParameter } from "../parameters.ts";
import { CHANNEL_LIST, CHANNEL_TEST_ANSWER, CHANNEL_TEST_BODY } from "../shapes/channel.ts";
import { NOTIFICATION_EXAMPLE } from "../shapes/notification.ts";
import {
  PAGE_BUDGET,
  PAGE_BUDGET_BODY,
  PAGE_REPORT,
  ROUTING_RULE_BODY,
  ROUTING_RULE_LIST,
  ROUTING_RULE_STORED,
  ROUTING_TEST_ANSWER,
  ROUTING_TEST_BODY,
} from "../shapes/routing.ts";
import { EXAMPLE_TIME } from "../shapes/scalars.ts";
import { PAGE, TIME_RANGE } from "./query-shapes.ts";

const PARAMETERS = { id: "id of the rule; catch-all for the one behind all others" };
const RULE = {
  name: "payments pages the payments team",
  priority: 100,
  label_matchers: { team: "payments" },
  service_pattern: null,
  severity: "high",
  source: null,
  environment: "production",
  channels: ["pager:payments", "chat:payments"],
} as const;
const EXAMPLE = {
  id: "5d2e3f405163b1f0c5a9d2e47f6a8b0c",
  ...RULE,
  unresolved_targets: ["pager:payments"],
  created_at: EXAMPLE_TIME,
} as const;
const WARNING = "pager:payments is not configured: the pager's default destination is notified in its place";

/** Which channels are informed of an alert. */
export const ROUTING_ENDPOINTS = declared([
  {
    name: "createRoutingRule",
    method: "POST",
    path: "/api/v1/routing/rules",
    access: "admin",
    body: ROUTING_RULE_BODY,
    bodyBytesMax: RULES_BODY_BYTES_MAX,
    responses: { 201: ROUTING_RULE_STORED },
    errors: ["invalid_field", "unprocessable"],
    examples: { body: RULE, response: { ...EXAMPLE, warnings: [WARNING] } },
    summary: "Makes a rule that sends alerts to channels; one whose target is not configured is stored with a warning",
  },
  {
    name: "routingRules",
    method: "GET",
    path: "/api/v1/routing/rules",
    access: "viewer",
    query: z.strictObject({ ...PAGE }),
    responses: { 200: ROUTING_RULE_LIST },
    examples: { response: { rules: [EXAMPLE], unresolved_targets: ["pager:payments"], total: 1, page_token: "" } },
    summary: "Rules in the order in which they are asked, the catch-all last; the first that matches wins",
  },
  {
    name: "changeRoutingRule",
    method: "PUT",
    path: "/api/v1/routing/rules/{id}",
    access: "admin",
    parameters: PARAMETERS,
    body: ROUTING_RULE_BODY,
    bodyBytesMax: RULES_BODY_BYTES_MAX,
    responses: { 200: ROUTING_RULE_STORED },
    errors: ["not_found", "invalid_field", "unprocessable"],
    examples: { body: RULE, response: { ...EXAMPLE, warnings: [WARNING] } },
    summary: "Puts another rule in its place, with the same age; of the catch-all the name and the channels",
  },
  {
    name: "deleteRoutingRule",
    method: "DELETE",
    path: "/api/v1/routing/rules/{id}",
    access: "admin",
    parameters: PARAMETERS,
    responses: { 204: null },
    errors: ["not_found", "conflict"],
    summary: "Ends a rule; channels that were informed of an alert hear of its end all the same",
  },
  {
    name: "testRouting",
    method: "POST",
    path: "/api/v1/routing/test",
    access: "viewer",
    body: ROUTING_TEST_BODY,
    bodyBytesMax: ROUTING_QUESTION_BYTES_MAX,
    responses: { 200: ROUTING_TEST_ANSWER },
    errors: ["not_found"],
    examples: {
      body: { service_id: "checkout", severity: "high", environment: "production", labels: { team: "payments" } },
      response: {
        rule: EXAMPLE,
        channels: ["pager:payments", "chat:payments"],
        resolved: [
          { channel: "pager:payments", target: "", fallback: true },
          { channel: "chat:payments", target: "payments", fallback: false },
        ],
        skipped: [{ rule_id: "3b1f0c5a9d2e47f6a8b0c1d2e3f40516", failed_matcher: "service_pattern" }],
      },
    },
    summary: "Says where an alert would go, and by which rule; no message is sent",
  },
  {
    name: "channels",
    method: "GET",
    path: "/api/v1/routing/channels",
    access: "viewer",
    responses: { 200: CHANNEL_LIST },
    examples: {
      response: {
        channels: [
          {
            channel: "pager",
            notifier: "pager",
            target: "",
            fallback: false,
            rules: ["catch-all"],
            state: "ok",
            last_success_at: EXAMPLE_TIME,
            failing_since: null,
            error: null,
          },
        ],
        total: 1,
        configured: true,
      },
    },
    summary: "Channels that rules name or that are configured, with the last success of each since the server started",
  },
  {
    name: "testChannels",
    method: "POST",
    path: "/api/v1/routing/channels/test",
    access: "operator",
    body: CHANNEL_TEST_BODY,
    responses: { 200: CHANNEL_TEST_ANSWER },
    errors: ["not_found", "overloaded"],
    examples: { body: { channel: "chat:ops" }, response: { results: [{ ...NOTIFICATION_EXAMPLE, channel: "chat:ops" }] } },
    summary: "Sends a message that says it is a drill to one channel, or to all of a rule, and says who was told",
  },
  {
    name: "setPageBudget",
    method: "PUT",
    path: "/api/v1/routing/budgets/{team}",
    access: "admin",
    parameters: { team: "label team of services" },
    body: PAGE_BUDGET_BODY,
    responses: { 200: PAGE_BUDGET },
    errors: ["invalid_parameter", "unprocessable"],
    examples: { body: { pages_per_week: 10 }, response: { team: "payments", pages_per_week: 10, updated_at: EXAMPLE_TIME } },
    summary:
      "Says how many pages in a week a team means to have, which the report holds against those that it had; no page is dropped because of it",
  },
  {
    name: "pageReport",
    method: "GET",
    path: "/api/v1/reports/pages",
    access: "viewer",
    answersCommitted: true,
    query: z.strictObject({
      ...TIME_RANGE,
      team: textParameter("team").optional(),
      service_id: textParameter("service_id").optional(),
    }),
    responses: { 200: PAGE_REPORT },
    examples: {
      response: {
        since: "2026-01-24T12:00:00.000Z",
        until: EXAMPLE_TIME,
        days: 7,
        pages: 12,
        rows: [
          {
            team: "payments",
            service_id: "checkout",
            pages: 12,
            per_service_day: 1.7142857142857142,
            not_told: 1,
            acknowledged: 9,
            median_ack_seconds: 140,
            false_positives: 1,
            budget: 10,
          },
        ],
        teams: [{ team: "payments", pages: 12, pages_last_week: 12, budget: 10, over_budget: true }],
      },
    },
    summary: "Pages by team and service, the last seven days where since is not given: who has taken them, and what people said of them",
  },
]);
