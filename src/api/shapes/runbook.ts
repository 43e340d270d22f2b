// Runbooks and their runs, as clients see them (contract 2.12; decisions, section 6).

import { z } from "zod";
import {
  RUNBOOK_BODY_CHARACTERS_MAX,
  RUNBOOK_CHANNELS_MAX,
  RUNBOOK_HEADERS_MAX,
  RUNBOOK_NAME_CHARACTERS_MAX,
  RUNBOOK_SECRET_CHARACTERS_MAX,
  RUNBOOK_SECRETS_MAX,
  RUNBOOK_SILENCE_SECONDS_MAX,
  RUNBOOK_STEPS_MAX,
  RUNBOOK_TEXT_CHARACTERS_MAX,
  RUNBOOK_TIMEOUT_SECONDS_DEFAULT,
  RUNBOOK_TIMEOUT_SECONDS_MAX,
  RUNBOOK_URL_CHARACTERS_MAX,
  RUNBOOK_WAIT_SECONDS_MAX,
} from "../../core/config/runbook-limits.ts";
import {
  WEBHOOK_ENVIRONMENTS_MAX,
  WEBHOOK_HEADER_CHARACTERS_MAX,
  WEBHOOK_PATTERN_CHARACTERS_MAX,
} from "../../core/config/webhook-limits.ts";
import { CHANNEL_PATTERN, parseChannel } from "../../domain/notification/channel.ts";
import { EXECUTION_STATES, STEP_STATES } from "../../domain/runbooks/execution.ts";
import { HTTP_METHODS, RUNBOOK_ID, RUNBOOK_SCORE, STEP_TYPES } from "../../domain/runbooks/runbook.ts";
import { CAUSE_CATEGORIES, headerProblem } from "../../domain/webhooks/webhook.ts";
import { nameField, optionalName } from "./name.ts";
import { COUNT, NEXT_PAGE, TIMESTAMP } from "./scalars.ts";
import { PAUSE } from "./webhook.ts";

const ID = z.string().regex(RUNBOOK_ID, "must be 1 to 64 letters, digits, dots, underscores or hyphens, the first a letter or a digit");
const NAME = nameField().max(RUNBOOK_NAME_CHARACTERS_MAX);
const REGEX = z.string().min(1).max(WEBHOOK_PATTERN_CHARACTERS_MAX).nullable().default(null);
const TIER = z.enum(["low", "medium", "high"]);
const SECRET_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

const MATCH = z.strictObject({
  service_id_regex: REGEX.describe("a regular expression in RE2's syntax, found anywhere in the service's id"),
  metric_name_regex: REGEX,
  min_anomaly_score: z.number().min(0).max(1).default(RUNBOOK_SCORE).describe("the score must be at least it"),
  root_cause_category: z.enum(CAUSE_CATEGORIES).nullable().default(null),
  environments: z.array(optionalName()).min(1).max(WEBHOOK_ENVIRONMENTS_MAX).nullable().default(null),
  severity: z.array(TIER).min(1).max(3).nullable().default(null),
});

const HEADERS = z
  .record(z.string(), z.string().max(WEBHOOK_HEADER_CHARACTERS_MAX))
  .superRefine((headers, context) => {
    for (const [name, value] of Object.entries(headers)) {
      const problem = name.toLowerCase() === "content-type" ? null : headerProblem(name, value);
      if (problem !== null) context.addIssue({ code: "custom", path: [name], message: problem });
    }
  })
  .refine((headers) => Object.keys(headers).length <= RUNBOOK_HEADERS_MAX, `may have ${RUNBOOK_HEADERS_MAX} members`)
  .meta({ maxProperties: RUNBOOK_HEADERS_MAX, propertyNames: { type: "string", pattern: "^X-[A-Za-z0-9-]{1,60}$" } });

const CHANNEL = z
  .string()
  .superRefine((text, context) => {
    const channel = parseChannel(text);
    if (typeof channel === "string") context.addIssue({ code: "custom", message: channel });
  })
  .meta({ pattern: CHANNEL_PATTERN });

/** Members by the type of step: those it must have, and those it may have beside name, type and approval_required. */
const MEMBERS: Readonly<Record<(typeof STEP_TYPES)[number], readonly [required: readonly string[], optional: readonly string[]]>> = {
  http: [["url"], ["method", "headers", "body", "timeout_seconds", "idempotent"]],
  notify: [["channels", "message"], []],
  wait: [["seconds"], []],
  annotate: [["text"], []],
  silence: [["seconds"], ["comment"]],
};
const HEAD_MEMBERS = ["name", "type", "approval_required"];

const STEP = z
  .strictObject({
    action: z.undefined({ error: "is called type since 12.10: write type in place of action" }).optional().meta({ not: {} }),
    name: NAME.optional().describe("step-1, step-2, ... where it is not given"),
    type: z.enum(STEP_TYPES),
    approval_required: z.boolean().default(false),
    method: z.enum(HTTP_METHODS).optional().describe("of http; POST where it is not given"),
    url: z.string().min(1).max(RUNBOOK_URL_CHARACTERS_MAX).optional().describe("of http; placeholders stand behind the host"),
    headers: HEADERS.optional().describe("of http"),
    body: z.string().max(RUNBOOK_BODY_CHARACTERS_MAX).nullable().optional().describe("of http"),
    timeout_seconds: z
      .int()
      .min(1)
      .max(RUNBOOK_TIMEOUT_SECONDS_MAX)
      .optional()
      .describe(`of http; ${RUNBOOK_TIMEOUT_SECONDS_DEFAULT} where it is not given`),
    idempotent: z.boolean().optional().describe("of http: it may be done again where its outcome is not known"),
    channels: z.array(CHANNEL).min(1).max(RUNBOOK_CHANNELS_MAX).optional().describe("of notify"),
    message: z.string().min(1).max(RUNBOOK_TEXT_CHARACTERS_MAX).optional().describe("of notify"),
    seconds: z.int().min(1).max(RUNBOOK_SILENCE_SECONDS_MAX).optional().describe("of wait (an hour at most) and silence (a day at most)"),
    text: z.string().min(1).max(RUNBOOK_TEXT_CHARACTERS_MAX).optional().describe("of annotate"),
    comment: z.string().max(RUNBOOK_TEXT_CHARACTERS_MAX).optional().describe("of silence"),
  })
  .superRefine((step, context) => {
    const [required, optional] = MEMBERS[step.type];
    const issue = (name: string, message: string) => context.addIssue({ code: "custom", path: [name], message });
    for (const name of required) if (!Object.hasOwn(step, name)) issue(name, `a step of type ${step.type} has ${required.join(" and ")}`);
    const taken = [...HEAD_MEMBERS, ...required, ...optional];
    for (const name of Object.keys(step)) if (!taken.includes(name)) issue(name, `a step of type ${step.type} has no such member`);
    if (step.type === "wait" && (step.seconds ?? 0) > RUNBOOK_WAIT_SECONDS_MAX)
      issue("seconds", `must be at most ${RUNBOOK_WAIT_SECONDS_MAX}`);
  })
  .meta({
    oneOf: STEP_TYPES.map((type) => ({
      properties: {
        type: { const: type },
        ...Object.fromEntries(
          Object.values(MEMBERS)
            .flatMap(([required, optional]) => [...required, ...optional])
            .filter((name) => ![...MEMBERS[type][0], ...MEMBERS[type][1]].includes(name))
            .map((name) => [name, false]),
        ),
        ...(type === "wait" && { seconds: { maximum: RUNBOOK_WAIT_SECONDS_MAX } }),
      },
      required: [...MEMBERS[type][0]],
    })),
  });

/** Contents of a runbook; `***` in place of what is not shown means unchanged. */
export const RUNBOOK_BODY = z.strictObject({
  id: ID.optional().describe("made by the server where it is not given"),
  name: NAME,
  match: MATCH.prefault({}),
  dry_run: z.boolean().default(false).describe("its runs show what they would do, and do nothing"),
  approval_required: z.boolean().default(false).describe("each run waits for an approval before its first step"),
  auto: z.boolean().default(false).describe("it runs by itself for anomalies that match"),
  steps: z.array(STEP).min(1).max(RUNBOOK_STEPS_MAX),
  secrets: z
    .record(z.string(), z.string().min(1).max(RUNBOOK_SECRET_CHARACTERS_MAX))
    .refine((secrets) => Object.keys(secrets).every((name) => SECRET_NAME.test(name)), "names are letters, digits and underscores")
    .refine((secrets) => Object.keys(secrets).length <= RUNBOOK_SECRETS_MAX, `may have ${RUNBOOK_SECRETS_MAX} members`)
    .default({})
    .describe("values of placeholders such as {{secrets.token}}, which nobody is shown")
    .meta({ maxProperties: RUNBOOK_SECRETS_MAX, propertyNames: { type: "string", pattern: SECRET_NAME.source } }),
});

const STEP_VIEW = z.strictObject({
  name: z.string(),
  type: z.enum(STEP_TYPES),
  approval_required: z.boolean(),
  method: z.enum(HTTP_METHODS).optional(),
  url: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional().describe("values are ***"),
  body: z.string().nullable().optional(),
  timeout_seconds: z.int().optional(),
  idempotent: z.boolean().optional(),
  channels: z.array(z.string()).optional(),
  message: z.string().optional(),
  seconds: z.int().optional(),
  text: z.string().optional(),
  comment: z.string().optional(),
});

export const RUNBOOK_VIEW = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    revision: COUNT.describe("counts its changes, from 1"),
    digest: z.string().describe("of all that it does, secrets included: the same for the same content"),
    match: z.strictObject({
      service_id_regex: z.string().nullable(),
      metric_name_regex: z.string().nullable(),
      min_anomaly_score: z.number(),
      root_cause_category: z.enum(CAUSE_CATEGORIES).nullable(),
      environments: z.array(z.string()).nullable(),
      severity: z.array(TIER).nullable(),
    }),
    dry_run: z.boolean(),
    approval_required: z.boolean(),
    auto: z.boolean(),
    steps: z.array(STEP_VIEW),
    secrets: z.record(z.string(), z.string()).describe("values are ***"),
    paused: PAUSE,
    created_at: TIMESTAMP,
    updated_at: TIMESTAMP,
  })
  .meta({ id: "Runbook" });

export const RUNBOOK_LIST = z.strictObject({ runbooks: z.array(RUNBOOK_VIEW), total: COUNT, page_token: NEXT_PAGE });

export const EXECUTE_BODY = z.strictObject({
  anomaly_id: z.string().max(64).optional().describe("what placeholders speak of; without it they are empty"),
  dry_run: z.boolean().default(false),
});

export const DECISION_BODY = z.strictObject({
  step: z.string().min(1).max(RUNBOOK_NAME_CHARACTERS_MAX).describe("name of the step that waits"),
  digest: z.string().max(64).optional().describe("of the run as it was looked at: 409 where it has another"),
  comment: z.string().max(RUNBOOK_TEXT_CHARACTERS_MAX).default(""),
});

export const CANCEL_BODY = z.strictObject({
  step: z.string().min(1).max(RUNBOOK_NAME_CHARACTERS_MAX).optional(),
  comment: z.string().max(RUNBOOK_TEXT_CHARACTERS_MAX).default(""),
});

export const EXECUTION_STATE = z.enum(EXECUTION_STATES);

export const EXECUTION_VIEW = z
  .strictObject({
    execution_id: z.string(),
    runbook_id: z.string(),
    runbook_name: z.string(),
    revision: COUNT.describe("of the runbook as it ran"),
    digest: z.string().describe("of the runbook as it ran: an approval holds where the runbook still has it"),
    anomaly_id: z.string().nullable(),
    service_id: z.string().nullable(),
    state: EXECUTION_STATE.describe(
      "interrupted: a request was under way when the server ended, or no answer came: nobody knows its outcome",
    ),
    dry_run: z.boolean(),
    started_by: z.string().nullable().describe("null where it began by itself"),
    starter: z
      .string()
      .nullable()
      .describe("the person who counts as having started it, and may not approve: the owner of a key, or who declared its anomaly"),
    pending_step: z.string().nullable().describe("name of the step that waits for an approval"),
    expires_at: TIMESTAMP.nullable().describe("of the approval that is waited for"),
    created_at: TIMESTAMP,
    ended_at: TIMESTAMP.nullable(),
    reason: z.string().nullable().describe("why it ended as it did; null where it succeeded"),
    steps: z.array(
      z.strictObject({
        name: z.string(),
        type: z.enum(STEP_TYPES),
        state: z.enum(STEP_STATES).describe("rendered: of a dry run; skipped: the run ended before it"),
        approval_required: z.boolean(),
        decided_by: z.string().nullable(),
        decided_at: TIMESTAMP.nullable(),
        comment: z.string().nullable(),
        action: z.string().describe("what it does, in words"),
        request: z
          .strictObject({
            method: z.enum(HTTP_METHODS),
            url: z.string(),
            headers: z.record(z.string(), z.string()),
            body: z.string().nullable(),
          })
          .nullable()
          .describe("of http, with *** in place of secrets and of headers' values"),
        attempts: COUNT,
        status_code: z.int().nullable(),
        result: z.string().nullable(),
        started_at: TIMESTAMP.nullable(),
        ended_at: TIMESTAMP.nullable(),
      }),
    ),
  })
  .meta({ id: "RunbookExecution" });

export const EXECUTION_LIST = z.strictObject({ executions: z.array(EXECUTION_VIEW), total: COUNT, page_token: NEXT_PAGE });
