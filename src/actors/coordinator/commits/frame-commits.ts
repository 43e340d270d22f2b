// What engines send, on its way into the two stores: `control` first, and at once where anybody may wait for it; `series` behind it and gathered.

import type { FrameSource } from "../../../modules/engines/engine-link.ts";
import type { ControlCommitter } from "./control-committer.ts";
import { FrameIntake } from "./frame-intake.ts";
import { UnstorableFramesError } from "./frame-sifting.ts";
import { SeriesCommitter, type SeriesCommitterDependencies } from "./series-committer.ts";
import { SeriesFlusher, type SeriesFlusherDependencies } from "./series-flusher.ts";
import type { SetAsideFrames } from "./set-aside-frames.ts";

export interface FrameCommitsDependencies extends SeriesCommitterDependencies, Pick<SeriesFlusherDependencies, "wake" | "setAside"> {
  readonly committer: ControlCommitter;
}

/** Retention of what is stored in `series`, and the time for which its frames may gather at most. */
export interface FrameCommitsOptions {
  readonly retentionMs: number;
  readonly seriesGatherMs: number;
}

/** The frames of all engines. */
export class FrameCommits {
  readonly series: SeriesFlusher;
  readonly #intake: FrameIntake;
  readonly #committer: ControlCommitter;
  readonly #setAside: Pick<SetAsideFrames, "take">;
  readonly #gatherMs: number;
  readonly #monotonicMs: () => number;
  /** When frames for `control` that nobody waits for have gathered long enough. */
  #gatherEndsMs = Number.POSITIVE_INFINITY;

  constructor(
    sources: readonly FrameSource[],
    { retentionMs, seriesGatherMs }: FrameCommitsOptions,
    dependencies: FrameCommitsDependencies,
  ) {
    this.#intake = new FrameIntake(sources);
    this.#committer = dependencies.committer;
    this.#setAside = dependencies.setAside;
    this.#gatherMs = seriesGatherMs;
    this.#monotonicMs = () => dependencies.monotonicMs();
    const committer = new SeriesCommitter(retentionMs, dependencies);
    const { ledger } = dependencies.state.alerts;
    this.series = new SeriesFlusher(seriesGatherMs, { ...dependencies, intake: this.#intake, committer, ledger });
  }

  /** Frames taken and not yet committed. */
  get waiting(): number {
    return this.#intake.waiting;
  }

  /** Whether anything gathers, or is being committed to `series`. */
  get isGathering(): boolean {
    return this.series.isWaiting || this.#intake.isControlWaiting;
  }

  /** Monotonic time at which what gathers is to be committed. */
  get dueMs(): number {
    return Math.min(this.series.dueMs, this.#gatherEndsMs);
  }

  /** Whether all for `control` that was in the rings when they were read last has been committed. */
  get isCaughtUp(): boolean {
    return this.#intake.isCaughtUp;
  }

  /** Reads the rings; whether anything for `control` is due. */
  read(isUrgent: boolean): boolean {
    this.#intake.fill();
    return this.#isControlDue(isUrgent);
  }

  /** Commits what is for `control` and due, with all that came before it; true, because there may be more. Rejects with StoreError, and what waited waits on. */
  async commitControl(): Promise<true> {
    const pick = this.#intake.pickControl();
    try {
      await this.#committer.commit(pick.frames);
    } catch (error) {
      if (!(error instanceof UnstorableFramesError)) throw error;
      this.#intake.setAside(this.#setAside.take(error.unstorable));
      return true;
    }
    this.#intake.confirmControl(pick);
    this.#gatherEndsMs = Number.POSITIVE_INFINITY;
    return true;
  }

  /** Whether anything for `control` is due; what is due for `series` may wait for what came before it for `control`. */
  #isControlDue(isUrgent: boolean): boolean {
    if (!this.#intake.isControlWaiting) return false;
    const nowMs = this.#monotonicMs();
    this.#gatherEndsMs = Math.min(this.#gatherEndsMs, nowMs + this.#gatherMs);
    return isUrgent || this.#intake.isControlDue || nowMs >= this.#gatherEndsMs || this.series.isDue;
  }
}
