// Frames that were taken from the engines' rings and wait for their commit: those for `control` and those for `series` in two queues per engine, in order.
// A frame for `series` may say that all before it is stored, so it is picked only once the frames for `control` before it are.
import {
  ANOMALIES_PER_COMMIT_MAX,
  DEAD_LETTER_PLACES,
  FRAMES_TAKEN_MAX,
  RECORDS_PER_COMMIT_MAX,
  SERIES_GATHERED_BYTES_MAX,
  TRANSACTION_BYTES_MAX,
} from "../../../core/config/limits.ts";
import {
  CONTROL_FRAMES,
  type EngineFrame,
  FRAME_BLOCK,
  FRAME_CHECKPOINT_PART,
  FRAME_CLOSING,
  FRAME_DEAD_LETTER,
  FRAME_DETECTOR_STATES,
  FRAME_RECORD,
  FRAME_SPAN_BLOCK,
  FRAME_VERDICT,
  PROMPT_FRAMES,
} from "../../../core/protocol/coordinator-frame.ts";
import type { FrameSource } from "../../../modules/engines/engine-link.ts";
import { SET_ASIDE } from "./set-aside-frames.ts";

const VERDICT_KINDS: ReadonlySet<number> = new Set([FRAME_VERDICT, FRAME_CLOSING]);
/** Of such frames nothing is kept but what was stored; others may live on in what was read from them. */
const REUSED_KINDS: ReadonlySet<number> = new Set([FRAME_BLOCK, FRAME_CHECKPOINT_PART, FRAME_DETECTOR_STATES]);
/** Places of records that a frame takes, by its kind. */
const RECORD_PLACES: ReadonlyMap<number, number> = new Map([
  [FRAME_RECORD, 1],
  [FRAME_SPAN_BLOCK, 1],
  [FRAME_DEAD_LETTER, DEAD_LETTER_PLACES],
]);

/** Frames for one transaction: `counts[i]` of them from source i, each source's in order. */
export interface FramePick {
  readonly frames: readonly EngineFrame[];
  readonly counts: readonly number[];
}

/** The queues of all engines. */
export class FrameIntake {
  readonly #sources: readonly FrameSource[];
  readonly #queues: SourceQueue[];
  #first = 0;
  #leftBehind = false;

  constructor(sources: readonly FrameSource[]) {
    this.#sources = sources;
    this.#queues = sources.map(() => new SourceQueue());
  }

  /** Frames taken and not yet committed. */
  get waiting(): number {
    return this.#queues.reduce((sum, { control, series }) => sum + control.length + series.length, 0);
  }

  /** Whether frames for `control` wait. */
  get isControlWaiting(): boolean {
    return this.#queues.some(({ control }) => control.length > 0);
  }

  /** Whether some of them are not to wait: prompt ones, or so many that rings are left alone. */
  get isControlDue(): boolean {
    return this.#queues.some(({ isControlDue }) => isControlDue);
  }

  /** Frames for `series` that are in no pick. */
  get seriesWaiting(): number {
    return this.#queues.reduce((sum, { seriesFrames }) => sum + seriesFrames, 0);
  }

  /** Whether so much waits for `series` that it should not wait for more. */
  get isSeriesFull(): boolean {
    const bytes = this.#queues.reduce((sum, { seriesBytes }) => sum + seriesBytes, 0);
    return bytes >= SERIES_GATHERED_BYTES_MAX || this.seriesWaiting >= RECORDS_PER_COMMIT_MAX;
  }

  /** Whether all for `control` that was in the rings when they were read last has been committed. */
  get isCaughtUp(): boolean {
    return !this.#leftBehind && this.#queues.every(({ control }) => control.length === 0);
  }

  /** Reads the rings of the engines whose queues run short. */
  fill(): void {
    this.#leftBehind = false;
    for (const [source, queue] of this.#queues.entries()) {
      if (queue.isFull) continue;
      const taken = (this.#sources[source] as FrameSource).takeFrames(FRAMES_TAKEN_MAX);
      queue.push(taken);
      this.#leftBehind ||= taken.length === FRAMES_TAKEN_MAX;
    }
  }

  /** The frames of the next transaction on `control`; they stay queued until they are confirmed. Each call begins with another engine, so that none waits for ever. */
  pickControl(): FramePick {
    return this.#pick((queue, budget) => queue.controlWithin(budget));
  }

  /** The same for `series`; one pick at a time, which is confirmed or returned. */
  pickSeries(): FramePick {
    return this.#pick((queue, budget) => queue.seriesWithin(budget));
  }

  #pick(take: (queue: SourceQueue, budget: TransactionBudget) => readonly EngineFrame[]): FramePick {
    const budget = new TransactionBudget();
    const counts = this.#queues.map(() => 0);
    const frames: EngineFrame[] = [];
    for (let offset = 0; offset < this.#queues.length; offset++) {
      const source = (this.#first + offset) % this.#queues.length;
      const run = take(this.#queues[source] as SourceQueue, budget);
      counts[source] = run.length;
      for (const frame of run) frames.push(frame);
    }
    this.#first = (this.#first + 1) % Math.max(1, this.#queues.length);
    return { frames, counts };
  }

  /** The pick was not committed: its frames wait again. */
  returnSeries(): void {
    for (const queue of this.#queues) queue.returnSeries();
  }

  /** Forgets the frames of a pick that was committed. */
  confirmControl({ counts }: FramePick): void {
    for (const [source, count] of counts.entries()) this.#queues[source]?.confirmControl(count);
  }

  /** Puts letters in the place of frames that cannot be stored, or nothing; no frame of them may be in a pick. */
  setAside(frames: ReadonlyMap<EngineFrame, EngineFrame | undefined>): void {
    for (const queue of this.#queues) queue.setAside(frames);
  }

  confirmSeries({ counts }: FramePick): void {
    for (const [source, count] of counts.entries()) {
      for (const { kind, payload } of this.#queues[source]?.confirmSeries(count) ?? [])
        if (REUSED_KINDS.has(kind)) this.#sources[source]?.reuse(payload);
    }
  }
}

/** Frames that one engine has sent. Of frames for `series` the first `#picked` are in a pick, which does not count as waiting. */
class SourceQueue {
  readonly control: EngineFrame[] = [];
  readonly series: EngineFrame[] = [];
  #picked = 0;
  seriesBytes = 0;
  /** By frame for `series`: how many frames for `control` were taken before it, ever. */
  readonly #behind: number[] = [];
  #controlTaken = 0;
  #controlStored = 0;

  get seriesFrames(): number {
    return this.series.length - this.#picked;
  }

  get isControlDue(): boolean {
    return this.control.length >= ANOMALIES_PER_COMMIT_MAX || this.control.some(({ kind }) => PROMPT_FRAMES.has(kind));
  }

  /** Whether the ring is left alone: it may hold a thousand frames more, or 8 MiB. */
  get isFull(): boolean {
    const { control, seriesFrames, seriesBytes } = this;
    return control.length >= ANOMALIES_PER_COMMIT_MAX || seriesFrames >= RECORDS_PER_COMMIT_MAX || seriesBytes >= TRANSACTION_BYTES_MAX;
  }

  push(frames: readonly EngineFrame[]): void {
    for (const frame of frames) {
      if (CONTROL_FRAMES.has(frame.kind)) {
        this.control.push(frame);
        this.#controlTaken++;
      } else {
        this.series.push(frame);
        this.#behind.push(this.#controlTaken);
        this.seriesBytes += frame.payload.length;
      }
    }
  }

  controlWithin(budget: TransactionBudget): readonly EngineFrame[] {
    return takeWithin(this.control, budget);
  }

  seriesWithin(budget: TransactionBudget): readonly EngineFrame[] {
    const end = this.#behind.findIndex((behind) => behind > this.#controlStored);
    const picked = takeWithin(end < 0 ? this.series : this.series.slice(0, end), budget);
    this.#picked = picked.length;
    this.seriesBytes -= bytesOf(picked);
    return picked;
  }

  returnSeries(): void {
    this.seriesBytes += bytesOf(this.series.slice(0, this.#picked));
    this.#picked = 0;
  }

  confirmControl(count: number): void {
    this.control.splice(0, count);
    this.#controlStored += count;
  }

  /** A letter of a frame for `series` is stored before everything behind that frame. */
  setAside(frames: ReadonlyMap<EngineFrame, EngineFrame | undefined>): void {
    for (const [at, frame] of this.control.entries()) if (frames.has(frame)) this.control[at] = frames.get(frame) ?? SET_ASIDE;
    for (const [at, frame] of this.series.entries()) {
      if (!frames.has(frame)) continue;
      this.series[at] = SET_ASIDE;
      this.seriesBytes -= frame.payload.length;
      const letter = frames.get(frame);
      if (letter === undefined) continue;
      this.control.push(letter);
      this.#controlTaken++;
      this.#behind.fill(this.#controlTaken, at);
    }
  }

  confirmSeries(count: number): readonly EngineFrame[] {
    this.#behind.splice(0, count);
    this.#picked = 0;
    return this.series.splice(0, count);
  }
}

function bytesOf(frames: readonly EngineFrame[]): number {
  return frames.reduce((sum, { payload }) => sum + payload.length, 0);
}

/** The longest beginning of a queue that the budget takes: a frame that does not fit holds back those behind it. */
function takeWithin(queue: readonly EngineFrame[], budget: TransactionBudget): readonly EngineFrame[] {
  const end = queue.findIndex((frame) => !budget.take(frame));
  return end < 0 ? queue.slice() : queue.slice(0, end);
}

/** Bound of one transaction; its first frame always fits. */
class TransactionBudget {
  #verdicts = ANOMALIES_PER_COMMIT_MAX;
  #records = RECORDS_PER_COMMIT_MAX;
  #bytes = TRANSACTION_BYTES_MAX;
  #isEmpty = true;

  take(frame: EngineFrame): boolean {
    const verdicts = VERDICT_KINDS.has(frame.kind) ? 1 : 0;
    const records = RECORD_PLACES.get(frame.kind) ?? 0;
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
