/**
 * POST /api/v1/dlq/replay {ids | filter, dry_run} and GET /api/v1/dlq/replay/{id}.
 *
 * A job replays what its selection held when it was asked for. Asked again while it runs, the same selection gives the same job; asked again later, a new
 * one that finds its letters gone. A dry run looks at RECORDS_SCANNED_MAX letters, shows REPLAY_IDS_MAX of them and changes nothing.
 */
import { done, type Outcome, refused, shown } from "../../api/refusal.ts";
import type { JobEvent } from "../../api/shapes/stream-events.ts";
import {
  RECORDS_SCANNED_MAX,
  REPLAY_IDS_MAX,
  REPLAY_JOBS_MAX,
  REPLAY_JOBS_RETAINED_MAX,
  REPLAY_SCAN_ROWS,
} from "../../core/config/limits.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { END_REPLAYED } from "./dead-letter-draft.ts";
import {
  type DeadLetterKey,
  deadLetterId,
  deadLetterKey,
  deadLettersAfter,
  decodeKey,
  fateOf,
  readDeadLetter,
  selects,
  WEBHOOK_EXHAUSTED,
} from "./dead-letter-selection.ts";
import { problemView } from "./dead-letter-view.ts";
import type { DeadLettersContext } from "./dead-letters-context.ts";
import type { DeadLetterSelection, ReplayJob } from "./replay-book.ts";

/** Begins a replay, or says what it would do. */
export async function replayDeadLetters(
  context: DeadLettersContext,
  { principal, body }: QueryRequest<"replayDeadLetters">,
): Promise<Outcome<unknown>> {
  const { ids, filter, dry_run } = body;
  const selection = ids === undefined ? selectionOf(filter ?? {}) : { ids: [...new Set(ids)] };
  if (dry_run === true) return done(await rehearse(context, principal.tenant, selection));
  return begin(context, principal.tenant, selection);
}

function selectionOf(filter: NonNullable<QueryRequest<"replayDeadLetters">["body"]["filter"]>): DeadLetterSelection {
  const { reason, service_id, topic, since, until } = filter;
  return {
    ...(reason !== undefined && { reason }),
    ...(service_id !== undefined && { serviceId: service_id }),
    ...(topic !== undefined && { topic }),
    ...(since !== undefined && { fromMs: since }),
    ...(until !== undefined && { toMs: until }),
  };
}

async function begin(
  { state, nowMs, edit }: DeadLettersContext,
  tenant: string,
  selection: DeadLetterSelection,
): Promise<Outcome<unknown>> {
  return edit(async () => {
    const jobs = state.replays.of(tenant);
    const running = jobs.filter(({ finishedMs }) => finishedMs === null);
    const same = running.find((job) => JSON.stringify(job.selection) === JSON.stringify(selection));
    if (same !== undefined) return { ok: true, value: jobView(same), status: 202 };
    if (running.length >= REPLAY_JOBS_MAX) {
      return refused(
        "rate_limit_exceeded",
        `${running.length} replays are under way, as many as a tenant may have; ask again when one is done`,
      );
    }
    const createdMs = nowMs();
    const id = hash128(JSON.stringify([tenant, createdMs, selection, jobs.length, state.replays.of(tenant).at(-1)?.id ?? ""]));
    const job = newJob({ id, tenant, selection, createdMs }, selection.ids?.length ?? state.deadLetters.counts(tenant).total);
    const gone = state.replays.excess(tenant, REPLAY_JOBS_RETAINED_MAX - running.length);
    await state.replays.commit(state.control, [job], {
      operations: () => gone.map((old) => state.replays.removal(old)),
      apply: () => gone.forEach((old) => void state.replays.remove(old)),
    });
    return { ok: true, value: jobView(job), status: 202 };
  });
}

function newJob(head: Pick<ReplayJob, "id" | "tenant" | "selection" | "createdMs">, candidates: number): ReplayJob {
  const untilMs = Math.min(head.selection.toMs ?? Number.MAX_SAFE_INTEGER, head.createdMs + 1);
  const counts = { examined: 0, selected: 0, replayed: 0, failed: 0, missing: 0, replayedBefore: 0, failedByReason: {} };
  return { ...head, untilMs, candidates, finishedMs: null, cursor: null, idsDone: 0, ...counts };
}

/** Progress of a replay. */
export function replayJob({ state }: DeadLettersContext, { principal, path }: QueryRequest<"replayJob">): Outcome<unknown> {
  const job = state.replays.find(principal.tenant, path.id ?? "");
  if (job !== undefined) return done(jobView(job));
  return refused("not_found", `no replay has the id ${shown(path.id ?? "")}; the last ${REPLAY_JOBS_RETAINED_MAX} are remembered`);
}

function jobView(job: ReplayJob) {
  const isDone = job.finishedMs !== null;
  const progress = isDone ? 1 : Math.min(0.999, job.candidates === 0 ? 0 : job.examined / job.candidates);
  return {
    job_id: job.id,
    state: isDone ? "done" : job.examined > 0 ? "running" : "queued",
    created_at: formatRfc3339(job.createdMs),
    finished_at: job.finishedMs === null ? null : formatRfc3339(job.finishedMs),
    progress: Math.round(progress * 1000) / 1000,
    candidates: job.candidates,
    examined: job.examined,
    selected: job.selected,
    replayed: job.replayed,
    failed: job.failed,
    failed_by_reason: job.failedByReason,
    already_replayed: job.replayedBefore,
    not_found: job.missing,
  };
}

interface Rehearsal {
  examined: number;
  selected: number;
  accepted: number;
  refused: number;
  readonly entries: unknown[];
}

/** Rehearsal of what each letter would become, without doing it. */
async function rehearse(context: DeadLettersContext, tenant: string, selection: DeadLetterSelection) {
  const rehearsal: Rehearsal = { examined: 0, selected: 0, accepted: 0, refused: 0, entries: [] };
  const isWhole = selection.ids === undefined ? await rehearseFilter(context, tenant, selection, rehearsal) : true;
  for (const id of selection.ids ?? []) rehearseNamed(context, tenant, id, rehearsal);
  return { dry_run: true, complete: isWhole && rehearsal.selected <= REPLAY_IDS_MAX, ...rehearsal };
}

async function rehearseFilter(
  context: DeadLettersContext,
  tenant: string,
  selection: DeadLetterSelection,
  rehearsal: Rehearsal,
): Promise<boolean> {
  let after: DeadLetterKey | null = null;
  while (rehearsal.examined < RECORDS_SCANNED_MAX) {
    const entries = deadLettersAfter(context.state.control, tenant, selection, after, REPLAY_SCAN_ROWS);
    for (const { value } of entries) rehearseDeadLetter(context, value, selection, rehearsal);
    const last = entries.at(-1);
    if (last === undefined || entries.length < REPLAY_SCAN_ROWS) return true;
    after = decodeKey(last.key);
    await context.yieldToLoop();
  }
  return false;
}

function rehearseNamed(context: DeadLettersContext, tenant: string, id: string, rehearsal: Rehearsal): void {
  const key = deadLetterKey(tenant, id) as Uint8Array;
  const value = context.state.control.get("dead_letters", key);
  if (value !== undefined) {
    rehearseDeadLetter(context, value, {}, rehearsal);
    return;
  }
  rehearsal.examined++;
  const wasReplayed = context.state.control.get("dead_letter_ends", key)?.[0] === END_REPLAYED;
  rehearsal.entries.push({ dlq_id: id, outcome: wasReplayed ? "already_replayed" : "not_found" });
}

function rehearseDeadLetter({ nowMs }: DeadLettersContext, value: Uint8Array, selection: DeadLetterSelection, rehearsal: Rehearsal): void {
  const letter = readDeadLetter({ key: value, value });
  rehearsal.examined++;
  if (!selects(selection, letter)) return;
  rehearsal.selected++;
  if (letter.reason === WEBHOOK_EXHAUSTED) {
    rehearsal.accepted++;
    if (rehearsal.entries.length < REPLAY_IDS_MAX) rehearsal.entries.push({ dlq_id: deadLetterId(letter), outcome: "accepted" });
    return;
  }
  const fate = fateOf(letter, nowMs());
  if (fate.outcome === "refused") rehearsal.refused++;
  else rehearsal.accepted++;
  if (rehearsal.entries.length >= REPLAY_IDS_MAX) return;
  const dlq_id = deadLetterId(letter);
  if (fate.outcome === "refused") rehearsal.entries.push({ dlq_id, outcome: "refused", problem: problemView(fate.refusal) });
  else rehearsal.entries.push({ dlq_id, outcome: "accepted", taken_as: fate.outcome, becomes: becoming(fate.record) });
}

function becoming({ serviceId, type, metricName, value, body, traceId, timeMs, attributes }: ReplayedRecord) {
  const content = metricName === "" ? { body } : { metric_name: metricName, value };
  const trace = traceId === "" ? {} : { trace_id: traceId };
  return { service_id: serviceId, type, ...content, ...trace, timestamp: formatRfc3339(timeMs), attributes };
}

type ReplayedRecord = Extract<ReturnType<typeof fateOf>, { outcome: "live" | "history" }>["record"];

/** A job as the event stream tells it. */
export function replayEvent({ id, finishedMs, examined, candidates }: ReplayJob): JobEvent {
  return { job_id: id, kind: "dlq_replay", state: finishedMs === null ? "running" : "done", done: examined, total: candidates };
}
