/**
 * Replays dead letters: one body at a time leaves for an engine, beside live telemetry and slower than it.
 *
 *   1. a batch of letters is read behind the job's cursor and judged by their first arrival; those still refused stay
 *   2. the others go to an engine, some hundred a body; it logs their rows and records in one block with the word that these letters have ended
 *   3. that word comes back in the engine's frames and takes the letters out of the queue (dead-letter-draft.ts)
 *   4. behind the last of the batch the cursor moves
 *
 * A crash between 2 and 4 repeats what is left of a batch: letters that have ended are gone, and rows and records that are there already change nothing.
 */
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import {
  REPLAY_BUSY_SHARE,
  REPLAY_DEAD_LETTERS_PER_SECOND_MAX,
  REPLAY_LATENCY_MS_MAX,
  REPLAY_RETRY_MS_FIRST,
  REPLAY_RETRY_MS_MAX,
  REPLAY_SCAN_ROWS,
  REPLAY_YIELD_MS_MAX,
} from "../../core/config/limits.ts";
import { pauseMsAfter } from "../../core/fairness/paced-work.ts";
import type { DeadLetterEnvelope } from "../../core/protocol/coordinator-frame.ts";
import type { CoordinatorMessage, ReplayAnswer, ReplayOutcome } from "../../core/protocol/query.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { JobDraft } from "../state/jobs.ts";
import { END_REPLAYED } from "./dead-letter-draft.ts";
import { deadLetterKey, deadLettersAfter, decodeKey, readDeadLetter } from "./dead-letter-selection.ts";
import { countFailure, ReplayBatcher, type ReplayBody, type ReplayTally, withTally } from "./replay-batcher.ts";
import type { ReplayBook, ReplayJob } from "./replay-book.ts";

export interface ReplayRunnerDependencies {
  readonly control: KeyValueStore;
  readonly replays: ReplayBook;
  readonly counters: CoordinatorCounters;
  nowMs(): number;
  monotonicMs(): number;
  emit(message: CoordinatorMessage): void;
  readonly events: EventReplays;
}

/** Replays of dead letters that hold events of webhooks. */
export interface EventReplays {
  /** Puts them back on their way: to be stored with the end of their letters, and then taken over. */
  again(letters: readonly DeadLetterEnvelope[]): {
    readonly taken: readonly DeadLetterEnvelope[];
  } & JobDraft;
  ends(tenant: string, letters: readonly DeadLetterEnvelope[]): JobDraft;
}

/** Work under way for a job, and the state of the job once it is done. */
interface Batch {
  readonly job: ReplayJob;
  readonly moved: Partial<ReplayJob>;
  readonly tally: ReplayTally;
  /** Those that have not been answered; the first may be at an engine. */
  readonly bodies: ReplayBody[];
  /** Events of webhooks. */
  readonly events: readonly DeadLetterEnvelope[];
  /** Steps since the last answer. */
  steps: number;
}

/** Steps in which the word of a batch comes through, at the latest, where engines send so much that they never seem done. */
const STEPS_MAX = 8;
const encoder = new TextEncoder();

/** The jobs of one server. */
export class ReplayRunner {
  readonly #dependencies: ReplayRunnerDependencies;
  #batch: Batch | undefined;
  /** Number of the body that is at an engine; 0 for none. */
  #sent = 0;
  #bodies = 0;
  #sentMs = 0;
  #answer: ReplayAnswer | undefined;
  #dueMs = 0;
  #retryMs = REPLAY_RETRY_MS_FIRST;
  /** Longest latency of the verdicts since the last body was answered. */
  #slowestMs = 0;
  #yieldMs = REPLAY_RETRY_MS_FIRST;
  /** The job that had its turn last. */
  #lastJob = "";

  constructor(dependencies: ReplayRunnerDependencies) {
    this.#dependencies = dependencies;
  }

  /** A verdict was stored so long after its bytes had come. */
  observeLatency(seconds: number): void {
    this.#slowestMs = Math.max(this.#slowestMs, 1000 * seconds);
  }

  /** Takes what became of the body that is at an engine. */
  take(answer: ReplayAnswer): void {
    if (answer.batch === this.#sent) this.#answer = answer;
  }

  /** Monotonic time at which `step` has something to do; none until an answer or a job comes. */
  get dueMs(): number {
    const isIdle = this.#sent !== 0 ? this.#answer === undefined : this.#batch === undefined && this.#dependencies.replays.open.size === 0;
    return isIdle ? Number.POSITIVE_INFINITY : this.#dueMs;
  }

  /**
   * Moves the jobs on in turn; to be called when it is due. `isDrained`: nothing of what engines had sent is left to commit. Rejects with StoreError; a later
   * call then does the same again.
   */
  async step(isDrained: boolean): Promise<void> {
    if (this.#answer !== undefined) this.#takeAnswer(this.#answer);
    else if (this.#batch === undefined) this.#begin();
    else if (this.#batch.bodies.length > 0) this.#send(this.#batch);
    else if (isDrained || ++this.#batch.steps >= STEPS_MAX) await this.#finish(this.#batch);
  }

  #begin(): void {
    const jobs = this.#dependencies.replays.oldest();
    this.#dependencies.counters.set("replayJobs", jobs.length);
    const job = jobs[(jobs.findIndex(({ id }) => id === this.#lastJob) + 1) % jobs.length] as ReplayJob;
    this.#lastJob = job.id;
    const batcher = new ReplayBatcher(this.#dependencies.nowMs());
    const moved = job.selection.ids === undefined ? this.#readFilter(job, batcher) : this.#readIds(job, job.selection.ids, batcher);
    const bodies = batcher.bodies();
    this.#batch = { job, moved, tally: batcher.tally, bodies, events: batcher.events, steps: 0 };
  }

  /** Letters behind the cursor that the filter selects. */
  #readFilter(job: ReplayJob, batcher: ReplayBatcher): Partial<ReplayJob> {
    const { control, nowMs } = this.#dependencies;
    const entries = deadLettersAfter(control, job.tenant, { ...job.selection, toMs: job.untilMs }, job.cursor, REPLAY_SCAN_ROWS);
    let inspected = 0;
    for (const entry of entries) {
      if (batcher.isFull(entry.value.length)) break;
      batcher.inspect(readDeadLetter(entry), entry.value.length, job.selection);
      inspected++;
    }
    const last = entries[inspected - 1];
    const isEnd = entries.length < REPLAY_SCAN_ROWS && inspected === entries.length;
    return { cursor: last === undefined ? job.cursor : decodeKey(last.key), finishedMs: isEnd ? nowMs() : null };
  }

  /** The next of the letters that are named. */
  #readIds(job: ReplayJob, ids: readonly string[], batcher: ReplayBatcher): Partial<ReplayJob> {
    const { control, nowMs } = this.#dependencies;
    let idsDone = job.idsDone;
    for (; idsDone < ids.length; idsDone++) {
      const key = deadLetterKey(job.tenant, ids[idsDone] as string);
      const value = key && control.get("dead_letters", key);
      if (batcher.isFull(value?.length ?? 0)) break;
      if (key !== undefined && value !== undefined) batcher.inspect(readDeadLetter({ key, value }), value.length, {});
      else batcher.miss(key !== undefined && control.get("dead_letter_ends", key)?.[0] === END_REPLAYED);
    }
    return { idsDone, finishedMs: idsDone === ids.length ? nowMs() : null };
  }

  #send({ job, bodies }: Batch): void {
    const [{ letters, isHistory }] = bodies as [ReplayBody];
    const body = { job: job.id, letters: letters.map(({ receivedMs, id, payload }) => [receivedMs, id, payload]) };
    this.#answer = undefined;
    this.#sent = ++this.#bodies;
    this.#sentMs = this.#dependencies.monotonicMs();
    this.#dependencies.emit({
      type: "replay-batch",
      batch: this.#sent,
      tenant: job.tenant,
      isHistory,
      body: encoder.encode(JSON.stringify(body)),
    });
  }

  #takeAnswer({ status, body }: ReplayAnswer): void {
    const { counters, monotonicMs } = this.#dependencies;
    const batch = this.#batch as Batch;
    this.#sent = 0;
    this.#answer = undefined;
    if (status !== 200) {
      // Engines are behind or cannot write: live telemetry goes first.
      counters.add("replayBackOffs", 1);
      this.#dueMs = monotonicMs() + this.#retryMs;
      this.#retryMs = Math.min(REPLAY_RETRY_MS_MAX, 2 * this.#retryMs);
      return;
    }
    this.#retryMs = REPLAY_RETRY_MS_FIRST;
    const { letters } = batch.bodies.shift() as ReplayBody;
    const { failures } = JSON.parse(body as string) as ReplayOutcome;
    for (const { reason } of failures) countFailure(batch.tally, reason);
    const tookMs = monotonicMs() - this.#sentMs;
    const pauseMs = Math.max(
      (letters.length / REPLAY_DEAD_LETTERS_PER_SECOND_MAX) * 1000 - tookMs,
      pauseMsAfter(tookMs, REPLAY_BUSY_SHARE),
      this.#yield(),
    );
    this.#dueMs = monotonicMs() + pauseMs;
  }

  /** The job's counts as they are now: the transactions since have moved `replayed` on. */
  async #finish({ job, moved, tally, events: letters }: Batch): Promise<void> {
    const { control, replays, counters, events } = this.#dependencies;
    const now = replays.find(job.tenant, job.id) ?? job;
    const again = events.again(letters);
    const ends = events.ends(job.tenant, again.taken);
    const lost = letters.length - again.taken.length;
    if (lost > 0) tally.failedByReason.webhook_deleted = (tally.failedByReason.webhook_deleted ?? 0) + lost;
    tally.failed += lost;
    const counted = withTally(now, tally);
    const after: ReplayJob = { ...counted, replayed: counted.replayed + again.taken.length, ...moved };
    await replays.commit(control, [after], again, ends);
    counters.add("deadLettersNotReplayed", tally.failed);
    if (after.finishedMs !== null) counters.set("replayJobs", replays.open.size);
    this.#batch = undefined;
  }

  /** Milliseconds to leave to live telemetry, longer and longer while its verdicts come late. */
  #yield(): number {
    const isLate = this.#slowestMs > REPLAY_LATENCY_MS_MAX;
    this.#slowestMs = 0;
    if (!isLate) {
      this.#yieldMs = REPLAY_RETRY_MS_FIRST;
      return 0;
    }
    this.#dependencies.counters.add("replayBackOffs", 1);
    const yieldMs = this.#yieldMs;
    this.#yieldMs = Math.min(REPLAY_YIELD_MS_MAX, 2 * yieldMs);
    return yieldMs;
  }
}
