import { z } from "zod";
import { REPLAY_IDS_MAX } from "../../core/config/limits.ts";
import type { Endpoint } from "../endpoint.ts";
import { textParameter, timeField } from "../parameters.ts";
import { NO_QUERY, PAGE, TIME_RANGE } from "./query-shapes.ts";

const REPLAY_REQUEST = z
  .strictObject({
    ids: z
      .array(z.string().regex(/^[0-9a-f]{44}$/, "must be a dlq_id, 44 hex digits"))
      .min(1)
      .max(REPLAY_IDS_MAX)
      .optional(),
    filter: z
      .strictObject({
        reason: z.string().min(1).optional(),
        service_id: z.string().min(1).optional(),
        topic: z.string().min(1).optional(),
        since: timeField().optional(),
        until: timeField().optional(),
      })
      .optional(),
    dry_run: z.boolean().optional(),
  })
  .refine(({ ids, filter }) => (ids === undefined) !== (filter === undefined), "give either ids or filter; filter {} means every letter");

/** What could not be taken, and its way in after all. */
export const DEAD_LETTERS_ENDPOINTS = [
  {
    name: "dlqStats",
    method: "GET",
    path: "/api/v1/debug/dlq-stats",
    access: "viewer",
    handledBy: "coordinator",
    query: NO_QUERY,
    summary: "Dead letters by reason and topic",
  },
  {
    name: "deadLetters",
    method: "GET",
    path: "/api/v1/dlq",
    access: "operator",
    handledBy: "coordinator",
    query: z.strictObject({
      reason: textParameter("reason").optional(),
      service_id: textParameter("service_id").optional(),
      topic: textParameter("topic").optional(),
      ...TIME_RANGE,
      ...PAGE,
    }),
    summary: "Dead letters with their payload, newest first",
  },
  {
    name: "deadLetter",
    method: "GET",
    path: "/api/v1/dlq/{id}",
    access: "operator",
    handledBy: "coordinator",
    query: NO_QUERY,
    summary: "One dead letter, and what is still wrong with it",
  },
  {
    name: "correctDeadLetter",
    method: "PUT",
    path: "/api/v1/dlq/{id}",
    access: "operator",
    handledBy: "coordinator",
    query: NO_QUERY,
    body: z.record(z.string(), z.unknown()),
    summary: "Puts a corrected record in the place of the one that came",
  },
  {
    name: "deleteDeadLetter",
    method: "DELETE",
    path: "/api/v1/dlq/{id}",
    access: "operator",
    handledBy: "coordinator",
    query: NO_QUERY,
    summary: "Deletes a dead letter for good",
  },
  {
    name: "replayDeadLetters",
    method: "POST",
    path: "/api/v1/dlq/replay",
    access: "operator",
    handledBy: "coordinator",
    query: NO_QUERY,
    body: REPLAY_REQUEST,
    summary: "Takes dead letters in after all, by id or by filter; with dry_run it says what each would become",
  },
  {
    name: "replayJob",
    method: "GET",
    path: "/api/v1/dlq/replay/{id}",
    access: "operator",
    handledBy: "coordinator",
    query: NO_QUERY,
    summary: "How far a replay is",
  },
] as const satisfies readonly Endpoint[];
