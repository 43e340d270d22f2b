// Frames that were taken from the engines' rings and wait for their commit, in order per engine. A ring is read again only when less than a
// transaction of verdicts is left of it: a few more than FRAMES_TAKEN_MAX wait per engine at most, the rest stays in the ring and holds it back.
import { ANOMALIES_PER_COMMIT_MAX, FRAMES_TAKEN_MAX, RECORDS_PER_COMMIT_MAX, TRANSACTION_BYTES_MAX } from "../../core/config/limits.ts";
import {
  type EngineFrame,
  FRAME_BLOCK,
  FRAME_DEAD_LETTER,
  FRAME_RECORD,
  FRAME_SPAN_BLOCK,
  FRAME_VERDICT,
} from "../../core/protocol/coordinator-frame.ts";

const RECORD_KINDS: ReadonlySet<number> = new Set([FRAME_RECORD, FRAME_DEAD_LETTER, FRAME_SPAN_BLOCK]);

/** Where frames come from. */
export interface FrameSource {
  /** Takes at most `most` frames, oldest first. */
  takeFrames(most: number): EngineFrame[];
  /** Takes a payload back that nothing reads any more. */
  reuse(payload: Uint8Array): void;
}

/** Frames for one transaction: `counts[i]` of them from source i, each source's in order. */
export interface FramePick {
  readonly frames: readonly EngineFrame[];
  readonly counts: readonly number[];
}

/** The queues of all engines. */
export class FrameIntake {
  readonly #sources: readonly FrameSource[];
  readonly #queues: EngineFrame[][];
  #first = 0;
  #leftBehind = false;

  constructor(sources: readonly FrameSource[]) {
    this.#sources = sources;
    this.#queues = sources.map(() => []);
  }

  /** Frames taken and not yet committed. */
  get waiting(): number {
    return this.#queues.reduce((sum, queue) => sum + queue.length, 0);
  }

  /** Whether all that was in the rings when they were read last has been committed. */
  get isCaughtUp(): boolean {
    return !this.#leftBehind && this.waiting === 0;
  }

  /** Reads the rings of the engines whose queue runs short. */
  fill(): void {
    this.#leftBehind = false;
    for (const [source, queue] of this.#queues.entries()) {
      if (queue.length >= ANOMALIES_PER_COMMIT_MAX) continue;
      const taken = (this.#sources[source] as FrameSource).takeFrames(FRAMES_TAKEN_MAX);
      queue.push(...taken);
      this.#leftBehind ||= taken.length === FRAMES_TAKEN_MAX;
    }
  }

  /** The frames of the next transaction; they stay queued until `confirm`. Each call begins with another engine, so that none waits for ever. */
  pick(): FramePick {
    const budget = new TransactionBudget();
    const counts = this.#queues.map(() => 0);
    const frames: EngineFrame[] = [];
    for (let turn = 0; turn < this.#queues.length; turn++) {
      const source = (this.#first + turn) % this.#queues.length;
      const run = takeWithin(this.#queues[source] as EngineFrame[], budget);
      counts[source] = run.length;
      frames.push(...run);
    }
    this.#first = (this.#first + 1) % Math.max(1, this.#queues.length);
    return { frames, counts };
  }

  /** Forgets the frames of a pick that was committed. */
  confirm(pick: FramePick): void {
    for (const [source, count] of pick.counts.entries()) {
      // Of a block nothing is kept but what was stored; others may live on in what was read from them.
      for (const { kind, payload } of this.#queues[source]?.splice(0, count) ?? [])
        if (kind === FRAME_BLOCK) this.#sources[source]?.reuse(payload);
    }
  }
}

/** The longest beginning of a queue that the budget takes: a frame that does not fit holds back those behind it. */
function takeWithin(queue: readonly EngineFrame[], budget: TransactionBudget): readonly EngineFrame[] {
  const end = queue.findIndex((frame) => !budget.take(frame));
  return end < 0 ? queue.slice() : queue.slice(0, end);
}

/** What one transaction may hold; its first frame always fits. */
class TransactionBudget {
  #verdicts = ANOMALIES_PER_COMMIT_MAX;
  #records = RECORDS_PER_COMMIT_MAX;
  #bytes = TRANSACTION_BYTES_MAX;
  #isEmpty = true;

  take(frame: EngineFrame): boolean {
    const verdicts = frame.kind === FRAME_VERDICT ? 1 : 0;
    const records = RECORD_KINDS.has(frame.kind) ? 1 : 0;
    const bytes = frame.payload.length;
    const fits = verdicts <= this.#verdicts && records <= this.#records && bytes <= this.#bytes;
    if (!fits && !this.#isEmpty) return false;
    this.#isEmpty = false;
    this.#verdicts -= verdicts;
    this.#records -= records;
    this.#bytes -= bytes;
    return true;
  }
}
