// Dead letters and their replay.
import { z } from "zod";
import { COUNT, COUNTS, EXAMPLE_TIME, NEXT_PAGE, RECORD, TIMESTAMP, TOTAL_RELATION } from "./scalars.ts";

/** Counts by reason and topic. */
export const DEAD_LETTER_STATS = z.strictObject({
  total_failed: COUNT,
  by_reason: COUNTS,
  oldest_entry: TIMESTAMP.nullable(),
  newest_entry: TIMESTAMP.nullable(),
  by_topic: COUNTS,
  bytes: COUNT,
  dropped: z.strictObject({ by_age: COUNT, by_size: COUNT }),
  limits: z.strictObject({ age_seconds: COUNT, bytes: COUNT }),
});

const PROBLEM = z.strictObject({ reason: z.string(), field: z.string().nullable(), message: z.string() });

const DEAD_LETTER = {
  dlq_id: z.string(),
  reason: z.string(),
  field: z.string().nullable(),
  message: z.string(),
  topic: z.string().describe("the way it came in"),
  received_at: TIMESTAMP,
  payload: z.unknown(),
  count: COUNT.describe("records of one request that are equal in payload and problem, and that this letter stands for"),
  places: z
    .array(z.tuple([COUNT, COUNT]))
    .describe(
      "first and last of each run of their places, where they are several: in the array of a JSON batch, else among what was refused of the request",
    ),
  corrected_at: TIMESTAMP.optional(),
};

/** A page of letters. */
export const DEAD_LETTER_LIST = z.strictObject({
  entries: z.array(z.strictObject(DEAD_LETTER).meta({ id: "DeadLetter" })),
  total: COUNT,
  total_relation: TOTAL_RELATION,
  page_token: NEXT_PAGE,
});

/** One letter, and what is still wrong with it. */
export const JUDGED_DEAD_LETTER = z
  .strictObject({ ...DEAD_LETTER, replayable: z.boolean(), problem: PROBLEM.nullable() })
  .meta({ id: "JudgedDeadLetter" });

/** Progress of a replay. */
export const REPLAY_JOB = z
  .strictObject({
    job_id: z.string(),
    state: z.enum(["queued", "running", "done"]),
    created_at: TIMESTAMP,
    finished_at: TIMESTAMP.nullable(),
    progress: z.number().min(0).max(1),
    candidates: COUNT,
    examined: COUNT,
    selected: COUNT,
    replayed: COUNT,
    failed: COUNT,
    failed_by_reason: COUNTS,
    already_replayed: COUNT,
    not_found: COUNT,
  })
  .meta({ id: "ReplayJob" });

const BECOMES = z.strictObject(RECORD);

/** Preview of a replay. */
export const REPLAY_REHEARSAL = z.strictObject({
  dry_run: z.literal(true),
  complete: z.boolean(),
  examined: COUNT,
  selected: COUNT,
  accepted: COUNT,
  refused: COUNT,
  entries: z.array(
    z.strictObject({
      dlq_id: z.string(),
      outcome: z.enum(["accepted", "refused", "already_replayed", "not_found"]),
      problem: PROBLEM.nullable().optional(),
      taken_as: z.enum(["live", "history"]).optional(),
      becomes: BECOMES.optional(),
    }),
  ),
});

/** For the documentation. */
export const DEAD_LETTER_EXAMPLE = {
  dlq_id: "0019c0f3a1b2c3d4e5f60718293a4b5c6d7e8f901234",
  reason: "invalid_value",
  field: "value",
  message: 'value must be a finite number, got "7"',
  topic: "json",
  received_at: EXAMPLE_TIME,
  payload: { service_id: "checkout", metric_name: "queue.depth", value: "7", timestamp: EXAMPLE_TIME },
  count: 2,
  places: [[4, 5]] as Array<[number, number]>,
};
export const JOB_EXAMPLE = {
  job_id: "9f86d081884c7d659a2feaa0c55ad015",
  state: "running",
  created_at: EXAMPLE_TIME,
  finished_at: null,
  progress: 0.25,
  candidates: 400,
  examined: 100,
  selected: 90,
  replayed: 88,
  failed: 2,
  failed_by_reason: { invalid_value: 2 },
  already_replayed: 0,
  not_found: 0,
};
