// Outbound webhooks and their deliveries, as clients see them (contract 2.7, 4.8 and 6).
import { z } from "zod";
import {
  TRANSFORM_CHARACTERS_MAX,
  WEBHOOK_ATTEMPTS_MAX,
  WEBHOOK_DELAY_MS_MAX,
  WEBHOOK_ENVIRONMENTS_MAX,
  WEBHOOK_HEADER_CHARACTERS_MAX,
  WEBHOOK_HEADERS_MAX,
  WEBHOOK_MULTIPLIER_MAX,
  WEBHOOK_PATTERN_CHARACTERS_MAX,
  WEBHOOK_SECRET_CHARACTERS_MAX,
  WEBHOOK_URL_CHARACTERS_MAX,
} from "../../core/config/webhook-limits.ts";
import { CAUSE_CATEGORIES, headerProblem, INITIAL_RETRY, WEBHOOK_METHODS, WEBHOOK_NAME } from "../../domain/webhooks/webhook.ts";
import { optionalName } from "./name.ts";
import { COUNT, NEXT_PAGE, TIMESTAMP } from "./scalars.ts";

const WEBHOOK_NAME_TEXT = z
  .string()
  .regex(WEBHOOK_NAME, "must be 1 to 64 letters, digits, dots, underscores or hyphens, the first a letter or a digit");

const REGEX = z.string().min(1).max(WEBHOOK_PATTERN_CHARACTERS_MAX).nullable().default(null);

/** Which events reach it (contract 6.2). */
const EVENT_PATTERN = z.strictObject({
  service_id_regex: REGEX.describe("a regular expression in RE2's syntax, found anywhere in the service's id"),
  metric_name_regex: REGEX,
  min_anomaly_score: z.number().min(0).max(1).nullable().default(null).describe("the score must be above it"),
  root_cause_category: z.enum(CAUSE_CATEGORIES).nullable().default(null),
  environments: z.array(optionalName()).min(1).max(WEBHOOK_ENVIRONMENTS_MAX).nullable().default(null),
});

const HEADERS = z
  .record(z.string(), z.string().max(WEBHOOK_HEADER_CHARACTERS_MAX))
  .superRefine((headers, context) => {
    for (const [name, value] of Object.entries(headers)) {
      const problem = headerProblem(name, value);
      if (problem !== null) context.addIssue({ code: "custom", path: [name], message: problem });
    }
  })
  .refine((headers) => Object.keys(headers).length <= WEBHOOK_HEADERS_MAX, `may have ${WEBHOOK_HEADERS_MAX} members`)
  .meta({ maxProperties: WEBHOOK_HEADERS_MAX, propertyNames: { type: "string", pattern: "^X-[A-Za-z0-9-]{1,60}$" } });

const TRANSFORM = z
  .strictObject({
    type: z.enum(["jq", "javascript", "python"]),
    expression: z.string().min(1).max(TRANSFORM_CHARACTERS_MAX).optional().describe("of jq"),
    code: z.string().min(1).max(TRANSFORM_CHARACTERS_MAX).optional().describe("of javascript and python: defines transform(event)"),
  })
  .refine(
    ({ type, expression, code }) =>
      type === "jq" ? expression !== undefined && code === undefined : code !== undefined && expression === undefined,
    {
      message: "jq takes expression; javascript and python take code",
      path: ["type"],
    },
  )
  .meta({
    oneOf: [
      { properties: { type: { const: "jq" } }, required: ["expression"], not: { required: ["code"] } },
      { properties: { type: { enum: ["javascript", "python"] } }, required: ["code"], not: { required: ["expression"] } },
    ],
  });

const RETRY = z.strictObject({
  max_attempts: z.int().min(1).max(WEBHOOK_ATTEMPTS_MAX).default(INITIAL_RETRY.maxAttempts),
  initial_delay_ms: z.int().min(1).max(WEBHOOK_DELAY_MS_MAX).default(INITIAL_RETRY.initialDelayMs),
  backoff_multiplier: z.number().min(1).max(WEBHOOK_MULTIPLIER_MAX).default(INITIAL_RETRY.backoffMultiplier),
  max_delay_ms: z.int().min(1).max(WEBHOOK_DELAY_MS_MAX).default(INITIAL_RETRY.maxDelayMs),
});

/** Contents of a webhook; `***` in place of what is not shown means unchanged. */
export const WEBHOOK_BODY = z.strictObject({
  name: WEBHOOK_NAME_TEXT,
  url: z.string().min(1).max(WEBHOOK_URL_CHARACTERS_MAX),
  method: z.enum(WEBHOOK_METHODS).default("POST"),
  headers: HEADERS.default({}),
  pattern: EVENT_PATTERN.prefault({}),
  transform: TRANSFORM.nullable().default(null),
  retry: RETRY.prefault({}),
  secret: z
    .string()
    .min(1)
    .max(WEBHOOK_SECRET_CHARACTERS_MAX)
    .nullable()
    .default(null)
    .describe("signs events: whsec_ and base64 of 24 to 64 bytes, or any text"),
  enabled: z.boolean().default(true),
});

/** Why something of a tenant's is not done now: it has failed by its own fault so often in a row. */
export const PAUSE = z
  .strictObject({ until: TIMESTAMP, failures: COUNT.describe("in a row"), error: z.string().describe("the last one's") })
  .nullable()
  .describe("where it pauses, after 20 failures in a row by its own fault; it goes on by itself, or when it is saved");

export const WEBHOOK_VIEW = z
  .strictObject({
    name: z.string(),
    url: z.string().describe("its origin; *** stands for the rest"),
    method: z.enum(WEBHOOK_METHODS),
    headers: z.record(z.string(), z.string()).describe("values are ***"),
    pattern: z.strictObject({
      service_id_regex: z.string().nullable(),
      metric_name_regex: z.string().nullable(),
      min_anomaly_score: z.number().nullable(),
      root_cause_category: z.enum(CAUSE_CATEGORIES).nullable(),
      environments: z.array(z.string()).nullable(),
    }),
    transform: z
      .strictObject({ type: z.enum(["jq", "javascript", "python"]), expression: z.string().optional(), code: z.string().optional() })
      .nullable(),
    retry: z.strictObject({ max_attempts: z.int(), initial_delay_ms: z.int(), backoff_multiplier: z.number(), max_delay_ms: z.int() }),
    paused: PAUSE,
    secret: z.string().nullable().describe("*** where there is one"),
    enabled: z.boolean().describe("false also where its receiver has answered 410"),
    created_at: TIMESTAMP,
  })
  .meta({ id: "Webhook" });

/** A webhook that has been saved. */
export const WEBHOOK_SAVED = WEBHOOK_VIEW.extend({
  transform_trial: z
    .array(
      z.strictObject({
        event_id: z.string(),
        output: z.unknown().describe("the body that would be sent; null where there is none"),
        error: z.string().nullable().describe("why none is"),
        line: z.int().nullable().describe("of the program, where the failure names one"),
      }),
    )
    .describe("the transform on stored events, the newest first: up to 20, fewer where one overran its limits or time ran out"),
}).meta({ id: "WebhookSaved" });

export const WEBHOOK_LIST = z.strictObject({ webhooks: z.array(WEBHOOK_VIEW), total: COUNT, page_token: NEXT_PAGE });

export const WEBHOOK_TEST_BODY = z.strictObject({ webhook_name: WEBHOOK_NAME_TEXT });

const ATTEMPT_STATE = z.enum(["pending", "succeeded", "failed", "exhausted"]);

export const WEBHOOK_ATTEMPT = z
  .strictObject({
    delivery_id: z.string(),
    event_id: z.string(),
    event_type: z.enum(["anomaly.declared", "anomaly.resolved", "webhook.test"]),
    attempt: COUNT,
    state: ATTEMPT_STATE.describe("pending: it has not been made"),
    status_code: z.int().nullable(),
    response_time_ms: z.int().nullable(),
    error: z.string().nullable(),
    attempted_at: TIMESTAMP.nullable(),
    next_attempt_at: TIMESTAMP.nullable(),
  })
  .meta({ id: "WebhookAttempt" });

export const WEBHOOK_DELIVERIES = z.strictObject({ deliveries: z.array(WEBHOOK_ATTEMPT), total: COUNT, page_token: NEXT_PAGE });

export const WEBHOOK_PUBLIC_KEY = z.strictObject({
  public_key: z.string().describe("whpk_ and base64 of the 32 bytes of an Ed25519 key, as Standard Webhooks has it"),
  pem: z.string(),
});
