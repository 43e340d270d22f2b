import { z } from "zod";
import { JSON_ELEMENT_BYTES_MAX, REPLAY_REQUEST_BYTES_MAX } from "../../core/config/body-limits.ts";
import { REPLAY_IDS_MAX } from "../../core/config/limits.ts";
import { VALIDATION_REASONS } from "../../core/layout/counters.ts";
import { UNSTORABLE } from "../../core/protocol/set-aside.ts";
import { declared } from "../declared.ts";
import { choiceParameter, textParameter, timeField } from "../parameters.ts";
import {
  DEAD_LETTER_EXAMPLE,
  DEAD_LETTER_LIST,
  DEAD_LETTER_STATS,
  JOB_EXAMPLE,
  JUDGED_DEAD_LETTER,
  REPLAY_JOB,
  REPLAY_REHEARSAL,
} from "../shapes/dead-letter.ts";
import { nameField } from "../shapes/name.ts";
import { EXAMPLE_TIME } from "../shapes/scalars.ts";
import { PAGE, TIME_RANGE } from "./query-shapes.ts";

const REPLAY_REQUEST = z
  .strictObject({
    ids: z
      .array(z.string().regex(/^[0-9a-f]{44}$/, "must be a dlq_id, 44 hex digits"))
      .min(1)
      .max(REPLAY_IDS_MAX)
      .optional(),
    filter: z
      .strictObject({
        reason: z.enum(VALIDATION_REASONS).optional(),
        service_id: nameField().optional(),
        topic: z.string().min(1).optional(),
        since: timeField().optional(),
        until: timeField().optional(),
      })
      .optional(),
    dry_run: z.boolean().optional(),
  })
  .refine(({ ids, filter }) => (ids === undefined) !== (filter === undefined), "give either ids or filter; filter {} means every letter")
  .meta({ oneOf: [{ required: ["ids"] }, { required: ["filter"] }] });

const STATS_EXAMPLE = {
  total_failed: 3,
  by_reason: { invalid_value: 2, timestamp_too_old: 1 },
  oldest_entry: "2026-01-31T09:12:41.000Z",
  newest_entry: EXAMPLE_TIME,
  by_topic: { json: 2, remote_write: 1 },
  bytes: 1420,
  dropped: { by_age: 0, by_size: 0 },
  limits: { age_seconds: 604_800, bytes: 1_073_741_824 },
};
/** Kinds of dead letters: telemetry, what was taken and cannot be stored, and messages that reached nobody, which cannot be replayed as telemetry. */
const DEAD_LETTER_REASONS = [...VALIDATION_REASONS, UNSTORABLE, "channel_exhausted", "webhook_exhausted"] as const;
const PROBLEM_EXAMPLE = { reason: DEAD_LETTER_EXAMPLE.reason, field: DEAD_LETTER_EXAMPLE.field, message: DEAD_LETTER_EXAMPLE.message };

/** Endpoints of dead letters and their replay. */
export const DEAD_LETTERS_ENDPOINTS = declared([
  {
    name: "dlqStats",
    method: "GET",
    path: "/api/v1/debug/dlq-stats",
    access: "viewer",
    answersCommitted: true,
    responses: { 200: DEAD_LETTER_STATS },
    examples: { response: STATS_EXAMPLE },
    summary: "Dead letters by reason and topic",
  },
  {
    name: "deadLetters",
    method: "GET",
    path: "/api/v1/dlq",
    access: "operator",
    answersCommitted: true,
    query: z.strictObject({
      reason: choiceParameter("reason", DEAD_LETTER_REASONS).optional(),
      service_id: textParameter("service_id").optional(),
      topic: textParameter("topic").optional(),
      ...TIME_RANGE,
      ...PAGE,
    }),
    responses: { 200: DEAD_LETTER_LIST },
    examples: { response: { entries: [DEAD_LETTER_EXAMPLE], total: 1, total_relation: "eq", page_token: "" } },
    summary: "Dead letters with their payload, newest first",
  },
  {
    name: "deadLetter",
    method: "GET",
    path: "/api/v1/dlq/{id}",
    access: "operator",
    answersCommitted: true,
    parameters: { id: "dlq_id of the letter" },
    responses: { 200: JUDGED_DEAD_LETTER },
    examples: { response: { ...DEAD_LETTER_EXAMPLE, replayable: false, problem: PROBLEM_EXAMPLE } },
    summary: "One dead letter, and what is still wrong with it",
  },
  {
    name: "correctDeadLetter",
    method: "PUT",
    path: "/api/v1/dlq/{id}",
    access: "operator",
    answersCommitted: true,
    body: z.record(z.string(), z.unknown()),
    bodyBytesMax: JSON_ELEMENT_BYTES_MAX,
    parameters: { id: "dlq_id of the letter" },
    responses: { 200: JUDGED_DEAD_LETTER },
    examples: {
      body: { ...DEAD_LETTER_EXAMPLE.payload, value: 7 },
      response: {
        ...DEAD_LETTER_EXAMPLE,
        payload: { ...DEAD_LETTER_EXAMPLE.payload, value: 7 },
        corrected_at: EXAMPLE_TIME,
        replayable: true,
        problem: null,
      },
    },
    summary: "Puts a corrected record in the place of the one that came",
  },
  {
    name: "deleteDeadLetter",
    method: "DELETE",
    path: "/api/v1/dlq/{id}",
    access: "operator",
    answersCommitted: true,
    parameters: { id: "dlq_id of the letter" },
    responses: { 204: null },
    summary: "Deletes a dead letter for good",
  },
  {
    name: "replayDeadLetters",
    method: "POST",
    path: "/api/v1/dlq/replay",
    access: "operator",
    answersCommitted: true,
    body: REPLAY_REQUEST,
    bodyBytesMax: REPLAY_REQUEST_BYTES_MAX,
    responses: { 200: REPLAY_REHEARSAL, 202: REPLAY_JOB },
    examples: { body: { filter: { reason: "invalid_value", service_id: "checkout" } }, response: JOB_EXAMPLE },
    summary: "Takes dead letters in after all, by id or by filter; with dry_run it says what each would become",
  },
  {
    name: "replayJob",
    method: "GET",
    path: "/api/v1/dlq/replay/{id}",
    access: "operator",
    answersCommitted: true,
    parameters: { id: "job_id of the replay" },
    responses: { 200: REPLAY_JOB },
    examples: { response: JOB_EXAMPLE },
    summary: "How far a replay is",
  },
]);
