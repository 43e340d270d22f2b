// Sorts the letters of one step of a replay by what becomes of them, and counts.
import { ownMember, setMember } from "../../core/collections/own-member.ts";
import { REPLAY_BATCH_BYTES, REPLAY_BODY_BYTES, REPLAY_BODY_DEAD_LETTERS, REPLAY_SCAN_ROWS } from "../../core/config/limits.ts";
import type { DeadLetterEnvelope } from "../../core/protocol/coordinator-frame.ts";
import { fateOf, selects, WEBHOOK_EXHAUSTED } from "./dead-letter-selection.ts";
import type { DeadLetterSelection, ReplayJob } from "./replay-book.ts";

/** Counts that one step adds to its job. */
export interface ReplayTally {
  examined: number;
  selected: number;
  failed: number;
  missing: number;
  replayedBefore: number;
  readonly failedByReason: Record<string, number>;
}

/** Batch that goes to an engine at once. */
export interface ReplayBody {
  readonly letters: readonly DeadLetterEnvelope[];
  readonly isHistory: boolean;
}

/** A letter, and its bytes as it is stored. */
interface SizedDeadLetter {
  readonly letter: DeadLetterEnvelope;
  readonly bytes: number;
}

/** Collects letters until a batch is full. */
export class ReplayBatcher {
  readonly #live: SizedDeadLetter[] = [];
  readonly #history: SizedDeadLetter[] = [];
  /** Events of webhooks: they go back on their way, and to no engine. */
  readonly events: DeadLetterEnvelope[] = [];
  readonly tally: ReplayTally = { examined: 0, selected: 0, failed: 0, missing: 0, replayedBefore: 0, failedByReason: {} };
  readonly #nowMs: number;
  #bytes = 0;

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  /** The batch, in bodies. */
  bodies(): ReplayBody[] {
    return [...bodiesOf(this.#live, false), ...bodiesOf(this.#history, true)];
  }

  /** Whether a letter of so many bytes has to wait for the next batch; the first of a batch never has. */
  isFull(bytes: number): boolean {
    const letters = this.#live.length + this.#history.length + this.events.length;
    return letters > 0 && (letters >= REPLAY_SCAN_ROWS || this.#bytes + bytes > REPLAY_BATCH_BYTES);
  }

  /** Takes a letter if the selection does. */
  inspect(letter: DeadLetterEnvelope, bytes: number, selection: DeadLetterSelection): void {
    this.tally.examined++;
    if (!selects(selection, letter)) return;
    this.tally.selected++;
    if (letter.reason === WEBHOOK_EXHAUSTED) {
      this.#bytes += bytes;
      this.events.push(letter);
      return;
    }
    const fate = fateOf(letter, this.#nowMs);
    if (fate.outcome === "refused") {
      countFailure(this.tally, fate.refusal.reason);
      return;
    }
    this.#bytes += bytes;
    (fate.outcome === "live" ? this.#live : this.#history).push({ letter, bytes });
  }

  /** A letter that was named is not there. */
  miss(wasReplayed: boolean): void {
    this.tally.examined++;
    if (wasReplayed) this.tally.replayedBefore++;
    else this.tally.missing++;
  }
}

function* bodiesOf(letters: readonly SizedDeadLetter[], isHistory: boolean): Generator<ReplayBody> {
  let body: DeadLetterEnvelope[] = [];
  let bodyBytes = 0;
  for (const { letter, bytes } of letters) {
    if (body.length > 0 && (body.length >= REPLAY_BODY_DEAD_LETTERS || bodyBytes + bytes > REPLAY_BODY_BYTES)) {
      yield { letters: body, isHistory };
      body = [];
      bodyBytes = 0;
    }
    body.push(letter);
    bodyBytes += bytes;
  }
  if (body.length > 0) yield { letters: body, isHistory };
}

/** A letter was refused again. */
export function countFailure(tally: ReplayTally, reason: string): void {
  tally.failed++;
  setMember(tally.failedByReason, reason, (ownMember(tally.failedByReason, reason) ?? 0) + 1);
}

/** The job with what a step adds. */
export function withTally(job: ReplayJob, tally: ReplayTally): ReplayJob {
  const failedByReason = { ...job.failedByReason };
  for (const [reason, count] of Object.entries(tally.failedByReason))
    setMember(failedByReason, reason, (ownMember(failedByReason, reason) ?? 0) + count);
  return {
    ...job,
    examined: job.examined + tally.examined,
    selected: job.selected + tally.selected,
    failed: job.failed + tally.failed,
    missing: job.missing + tally.missing,
    replayedBefore: job.replayedBefore + tally.replayedBefore,
    failedByReason,
  };
}
