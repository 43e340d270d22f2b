import { z } from "zod";
import { SILENCE_BODY_BYTES_MAX } from "../../core/config/body-limits.ts";
import { LABEL_MATCHERS_MAX, SILENCE_COMMENT_CHARACTERS_MAX } from "../../core/config/limits.ts";
import { declared } from "../declared.ts";
import { choiceParameter, timeField } from "../parameters.ts";
import { MATCHER, SILENCE_MATCHER } from "../shapes/matcher.ts";
import { COUNT, EXAMPLE_TIME, NEXT_PAGE, TIMESTAMP } from "../shapes/scalars.ts";
import { PAGE } from "./query-shapes.ts";

const DAY = z.enum(["mon", "tue", "wed", "thu", "fri", "sat", "sun"]);
const TIME_OF_DAY = "([01][0-9]|2[0-3]):[0-5][0-9]";
const fromTime = () => z.string().regex(new RegExp(`^${TIME_OF_DAY}$`), "must be a time of day such as 22:30, from 00:00 to 23:59");
const toTime = () =>
  z.string().regex(new RegExp(`^(${TIME_OF_DAY}|24:00)$`), "must be a time of day such as 06:30; 24:00 and 00:00 are midnight");
const STATE = ["pending", "active", "expired"] as const;

const AUTHOR_CHARACTERS_MAX = 256;

const BODY = z.strictObject({
  matchers: z.array(SILENCE_MATCHER).min(1).max(LABEL_MATCHERS_MAX).describe("all must hold"),
  starts_at: timeField().optional().describe("now where it is not given; of recurring: it begins no earlier"),
  ends_at: timeField().optional(),
  startsAt: timeField().optional().describe("Alertmanager's form of starts_at"),
  endsAt: timeField().optional().describe("Alertmanager's form of ends_at"),
  createdBy: z
    .string()
    .max(AUTHOR_CHARACTERS_MAX)
    .optional()
    .describe("Alertmanager's form; it is put behind the comment: created_by says who asked, by their credential"),
  recurring: z
    .strictObject({
      days: z.array(DAY).max(7).describe("on which it begins; none for every day"),
      from: fromTime(),
      to: toTime().describe("of the next day where it is not after from; 24:00 is midnight"),
      timezone: z.string().min(1).max(64).default("UTC").describe("in which from and to are times of the clock on the wall"),
      until: timeField().optional().describe("it begins no later"),
    })
    .optional(),
  comment: z.string().max(SILENCE_COMMENT_CHARACTERS_MAX).default(""),
});
const SILENCE = z.strictObject({
  silence_id: z.string(),
  state: z.enum(STATE),
  matchers: z.array(MATCHER),
  starts_at: TIMESTAMP.nullable(),
  ends_at: TIMESTAMP.nullable(),
  recurring: z
    .strictObject({ days: z.array(DAY), from: z.string(), to: z.string(), timezone: z.string(), until: TIMESTAMP.nullable() })
    .nullable(),
  comment: z.string(),
  created_by: z.string(),
  created_at: TIMESTAMP,
});

const EXAMPLE = {
  silence_id: "3b1f0c5a9d2e47f6a8b0c1d2e3f40516",
  state: "active",
  matchers: [{ name: "service_id", operator: "=", value: "checkout" }],
  starts_at: EXAMPLE_TIME,
  ends_at: "2026-01-31T14:00:00.000Z",
  recurring: null,
  comment: "database upgrade",
  created_by: "jane@example.com",
  created_at: EXAMPLE_TIME,
} as const;

/** Endpoints of silences and inhibitions: alerts that are stored and not sent. */
export const SILENCES_ENDPOINTS = declared([
  {
    name: "createSilence",
    method: "POST",
    path: "/api/v1/silences",
    access: "operator",
    body: BODY,
    bodyBytesMax: SILENCE_BODY_BYTES_MAX,
    responses: { 201: SILENCE },
    errors: ["invalid_parameter", "unprocessable"],
    examples: {
      body: {
        matchers: [{ name: "service_id", operator: "=", value: "checkout" }],
        recurring: { days: ["sat", "sun"], from: "22:00", to: "06:00", timezone: "Europe/Berlin" },
        comment: "weekend maintenance",
      },
      response: EXAMPLE,
    },
    summary: "Silences alerts by their labels, once or in a maintenance window that comes again",
  },
  {
    name: "silences",
    method: "GET",
    path: "/api/v1/silences",
    access: "viewer",
    query: z.strictObject({ state: choiceParameter("state", STATE).optional(), ...PAGE }),
    responses: { 200: z.strictObject({ silences: z.array(SILENCE), total: COUNT, page_token: NEXT_PAGE }) },
    examples: { response: { silences: [EXAMPLE], total: 1, page_token: "" } },
    summary: "Silences, newest first; expired ones stay for five days",
  },
  {
    name: "silence",
    method: "GET",
    path: "/api/v1/silences/{id}",
    access: "viewer",
    parameters: { id: "silence_id of the silence" },
    responses: { 200: SILENCE },
    examples: { response: EXAMPLE },
    summary: "One silence",
  },
  {
    name: "deleteSilence",
    method: "DELETE",
    path: "/api/v1/silences/{id}",
    access: "operator",
    parameters: { id: "silence_id of the silence" },
    responses: { 204: null },
    errors: ["not_found"],
    summary: "Ends a silence at once",
  },
]);
