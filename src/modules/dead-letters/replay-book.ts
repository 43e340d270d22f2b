// Replay jobs: what each is to replay, how far it is, and what became of its letters. Stored in the transactions that move them on.

import { JobBook, type JobKind } from "../state/jobs.ts";
import { list, nullable, number, object, optional, record, StoredForm, text } from "../state/stored-json.ts";
import { tenantTimeKey } from "../state/tables.ts";

/** Which letters: those named, or all that match. Received times, `fromMs` inclusive, `toMs` exclusive. */
export interface DeadLetterSelection {
  /** dlq_ids. */
  readonly ids?: readonly string[];
  readonly reason?: string;
  readonly serviceId?: string;
  readonly topic?: string;
  readonly fromMs?: number;
  readonly toMs?: number;
}

/** One job. Counts are exact over restarts: `replayed` moves in the transaction that takes the letters out of the queue. */
export interface ReplayJob {
  /** 32 hex digits. */
  readonly id: string;
  readonly tenant: string;
  readonly selection: DeadLetterSelection;
  readonly createdMs: number;
  readonly finishedMs: number | null;
  /** Only letters that were received before this. */
  readonly untilMs: number;
  /** The last letter that has been dealt with: received time and id, or how many of `selection.ids`. */
  readonly cursor: { readonly receivedMs: number; readonly id: string } | null;
  readonly idsDone: number;
  /** Letters that the selection may hold at most, counted at the beginning. */
  readonly candidates: number;
  /** Letters looked at, of these selected, and of the latter entered, refused again, gone since, replayed before. */
  readonly examined: number;
  readonly selected: number;
  readonly replayed: number;
  readonly failed: number;
  readonly missing: number;
  readonly replayedBefore: number;
  readonly failedByReason: Readonly<Record<string, number>>;
}

const JOB = new StoredForm<ReplayJob>("replay_jobs", {
  id: text,
  tenant: text,
  selection: object<DeadLetterSelection>({
    ids: optional(list(text)),
    reason: optional(text),
    serviceId: optional(text),
    topic: optional(text),
    fromMs: optional(number),
    toMs: optional(number),
  }),
  createdMs: number,
  finishedMs: nullable(number),
  untilMs: number,
  cursor: nullable(object<NonNullable<ReplayJob["cursor"]>>({ receivedMs: number, id: text })),
  idsDone: number,
  candidates: number,
  examined: number,
  selected: number,
  replayed: number,
  failed: number,
  missing: number,
  replayedBefore: number,
  failedByReason: record(number),
});

/** Replays, in the order of their creation; each tenant has at most REPLAY_JOBS_RETAINED_MAX. */
const REPLAYS: JobKind<ReplayJob> = {
  table: "replay_jobs",
  form: JOB,
  key: ({ tenant, createdMs, id }) => tenantTimeKey(tenant, createdMs, id),
  createdMs: ({ createdMs }) => createdMs,
  endedMs: ({ finishedMs }) => finishedMs,
};

export type ReplayBook = JobBook<ReplayJob>;

export function replayBook(): ReplayBook {
  return new JobBook(REPLAYS);
}
