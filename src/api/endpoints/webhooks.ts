import { z } from "zod";
import { WEBHOOK_BODY_BYTES_MAX } from "../../core/config/webhook-limits.ts";
import { declared } from "../declared.ts";
import { EXAMPLE_TIME } from "../shapes/scalars.ts";
import {
  WEBHOOK_ATTEMPT,
  WEBHOOK_BODY,
  WEBHOOK_DELIVERIES,
  WEBHOOK_LIST,
  WEBHOOK_PUBLIC_KEY,
  WEBHOOK_SAVED,
  WEBHOOK_TEST_BODY,
  WEBHOOK_VIEW,
} from "../shapes/webhook.ts";
import { PAGE } from "./query-shapes.ts";

const NAME = { name: "name of the webhook" };
const BODY = {
  name: "tickets",
  url: "https://tickets.example.com/hooks/4f1c",
  headers: { Authorization: "Bearer 1f2e" },
  pattern: { min_anomaly_score: 0.7, environments: ["production"] },
  retry: { max_attempts: 5, initial_delay_ms: 1000, backoff_multiplier: 2, max_delay_ms: 30000 },
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
};
const PATTERN = {
  service_id_regex: null,
  metric_name_regex: null,
  min_anomaly_score: 0.7,
  root_cause_category: null,
  environments: ["production"],
};
const EXAMPLE = {
  name: "tickets",
  url: "https://tickets.example.com/***",
  method: "POST",
  headers: { Authorization: "***" },
  pattern: PATTERN,
  transform: null,
  retry: BODY.retry,
  secret: "***",
  enabled: true,
  paused: null,
  created_at: EXAMPLE_TIME,
} as const;
const ATTEMPT = {
  delivery_id: "5d2e3f405163b1f0c5a9d2e47f6a8b0c",
  event_id: "3b1f0c5a9d2e47f6a8b0c1d2e3f40516",
  event_type: "anomaly.declared",
  attempt: 1,
  state: "failed",
  status_code: 503,
  response_time_ms: 18,
  error: "answered 503",
  attempted_at: EXAMPLE_TIME,
  next_attempt_at: "2026-01-31T12:00:01.000Z",
} as const;

/** Events to other systems. */
export const WEBHOOKS_ENDPOINTS = declared([
  {
    name: "createWebhook",
    method: "POST",
    path: "/api/v1/webhooks",
    access: "admin",
    body: WEBHOOK_BODY,
    bodyBytesMax: WEBHOOK_BODY_BYTES_MAX,
    responses: { 201: WEBHOOK_SAVED },
    errors: ["invalid_field", "conflict", "unprocessable", "overloaded"],
    examples: { body: BODY, response: { ...EXAMPLE, transform_trial: [] } },
    summary: "Has events sent to a URL: anomalies that are declared and resolved and match its pattern",
  },
  {
    name: "webhooks",
    method: "GET",
    path: "/api/v1/webhooks",
    access: "admin",
    query: z.strictObject({ ...PAGE }),
    responses: { 200: WEBHOOK_LIST },
    examples: { response: { webhooks: [EXAMPLE], total: 1, page_token: "" } },
    summary: "Webhooks by name",
  },
  {
    name: "testWebhook",
    method: "POST",
    path: "/api/v1/webhooks/test",
    access: "admin",
    body: WEBHOOK_TEST_BODY,
    responses: { 200: WEBHOOK_ATTEMPT },
    errors: ["not_found", "overloaded"],
    examples: {
      body: { webhook_name: "tickets" },
      response: { ...ATTEMPT, event_type: "webhook.test", state: "succeeded", status_code: 204, error: null, next_attempt_at: null },
    },
    summary: "Sends one test event, past the same guard as any other, and tells what came of it",
  },
  {
    name: "webhookKey",
    method: "GET",
    path: "/api/v1/webhooks/public-key",
    access: "viewer",
    responses: { 200: WEBHOOK_PUBLIC_KEY },
    examples: {
      response: {
        public_key: "whpk_dxNtyrIGNDyFGmBlZ8SFGzLTUGq1H2SLPBKWyqF3ZBQ=",
        pem: "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAdxNtyrIGNDyFGmBlZ8SFGzLTUGq1H2SLPBKWyqF3ZBQ=\n-----END PUBLIC KEY-----\n",
      },
    },
    summary: "The key that v1a signatures of events are verified by",
  },
  {
    name: "webhook",
    method: "GET",
    path: "/api/v1/webhooks/{name}",
    access: "admin",
    parameters: NAME,
    responses: { 200: WEBHOOK_VIEW },
    errors: ["not_found"],
    examples: { response: EXAMPLE },
    summary: "One webhook, without its secrets",
  },
  {
    name: "changeWebhook",
    method: "PUT",
    path: "/api/v1/webhooks/{name}",
    access: "admin",
    parameters: NAME,
    body: WEBHOOK_BODY,
    bodyBytesMax: WEBHOOK_BODY_BYTES_MAX,
    responses: { 200: WEBHOOK_SAVED },
    errors: ["not_found", "invalid_field", "conflict", "unprocessable", "overloaded"],
    examples: { body: BODY, response: { ...EXAMPLE, transform_trial: [] } },
    summary: "Puts another webhook in its place; what is sent back as *** is unchanged, and a former secret signs for another day",
  },
  {
    name: "deleteWebhook",
    method: "DELETE",
    path: "/api/v1/webhooks/{name}",
    access: "admin",
    parameters: NAME,
    responses: { 204: null },
    errors: ["not_found"],
    summary: "Ends a webhook and what waits for it",
  },
  {
    name: "webhookDeliveries",
    method: "GET",
    path: "/api/v1/webhooks/{name}/deliveries",
    access: "admin",
    query: z.strictObject({ ...PAGE }),
    parameters: NAME,
    responses: { 200: WEBHOOK_DELIVERIES },
    errors: ["not_found"],
    examples: { response: { deliveries: [ATTEMPT], total: 1, page_token: "" } },
    summary: "Attempts of the last seven days, and those that are to be made, of the newest event first",
  },
]);
