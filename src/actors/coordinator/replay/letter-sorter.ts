// Sorts the letters of one step of a replay by what becomes of them, and counts.
import { REPLAY_BATCH_BYTES, REPLAY_BATCH_LETTERS } from "../../../core/config/limits.ts";
import type { DeadLetterEnvelope } from "../../../core/protocol/coordinator-frame.ts";
import { fateOf, selects } from "./letter-selection.ts";
import type { LetterSelection, ReplayJob } from "./replay-book.ts";

/** What one step adds to its job's counts. */
export interface ReplayTally {
  examined: number;
  selected: number;
  failed: number;
  missing: number;
  replayedBefore: number;
  readonly failedByReason: Record<string, number>;
}

/** Collects letters until a batch is full. */
export class LetterSorter {
  readonly live: DeadLetterEnvelope[] = [];
  readonly history: DeadLetterEnvelope[] = [];
  readonly tally: ReplayTally = { examined: 0, selected: 0, failed: 0, missing: 0, replayedBefore: 0, failedByReason: {} };
  readonly #nowMs: number;
  #bytes = 0;

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  get letters(): number {
    return this.live.length + this.history.length;
  }

  /** Whether a letter of so many bytes has to wait for the next batch; the first of a batch never has. */
  isFull(bytes: number): boolean {
    return this.letters > 0 && (this.letters >= REPLAY_BATCH_LETTERS || this.#bytes + bytes > REPLAY_BATCH_BYTES);
  }

  /** Takes a letter if the selection does. */
  look(letter: DeadLetterEnvelope, bytes: number, selection: LetterSelection): void {
    this.tally.examined++;
    if (!selects(selection, letter)) return;
    this.tally.selected++;
    const fate = fateOf(letter, this.#nowMs);
    if (fate.outcome === "refused") {
      countFailure(this.tally, fate.refusal.reason);
      return;
    }
    this.#bytes += bytes;
    (fate.outcome === "live" ? this.live : this.history).push(letter);
  }

  /** A letter that was named is not there. */
  miss(wasReplayed: boolean): void {
    this.tally.examined++;
    if (wasReplayed) this.tally.replayedBefore++;
    else this.tally.missing++;
  }
}

/** A letter was refused again. */
export function countFailure(tally: ReplayTally, reason: string): void {
  tally.failed++;
  tally.failedByReason[reason] = (tally.failedByReason[reason] ?? 0) + 1;
}

/** The job with what a step adds. */
export function withTally(job: ReplayJob, tally: ReplayTally): ReplayJob {
  const failedByReason = { ...job.failedByReason };
  for (const [reason, count] of Object.entries(tally.failedByReason)) failedByReason[reason] = (failedByReason[reason] ?? 0) + count;
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
