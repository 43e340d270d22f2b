// What engines send, on its way into the two stores: `control` first and at once, `series` behind it and gathered.
import type { ControlCommitter } from "./control-committer.ts";
import { FrameIntake, type FrameSource } from "./frame-intake.ts";
import { SeriesCommitter, type SeriesCommitterDependencies } from "./series-committer.ts";
import { SeriesFlusher } from "./series-flusher.ts";

/** What the commits need of the world. */
export interface FrameCommitsDependencies extends SeriesCommitterDependencies {
  readonly committer: ControlCommitter;
}

/** How long what is stored in `series` is kept, and how long its frames may gather at most. */
export interface FrameCommitsOptions {
  readonly retentionMs: number;
  readonly seriesRestMs: number;
}

/** The frames of all engines. */
export class FrameCommits {
  readonly series: SeriesFlusher;
  readonly #intake: FrameIntake;
  readonly #committer: ControlCommitter;

  constructor(sources: readonly FrameSource[], { retentionMs, seriesRestMs }: FrameCommitsOptions, dependencies: FrameCommitsDependencies) {
    this.#intake = new FrameIntake(sources);
    this.#committer = dependencies.committer;
    const committer = new SeriesCommitter(retentionMs, dependencies);
    const { ledger } = dependencies.state.alerts;
    this.series = new SeriesFlusher(seriesRestMs, { ...dependencies, intake: this.#intake, committer, ledger });
  }

  /** Frames taken and not yet committed. */
  get waiting(): number {
    return this.#intake.waiting;
  }

  /** Whether all for `control` that was in the rings when they were read last has been committed. */
  get isCaughtUp(): boolean {
    return this.#intake.isCaughtUp;
  }

  /** Reads the rings, and commits what is for `control`; true when there was something, so that there may be more. Rejects with StoreError, and what waited waits on. */
  async commitControl(): Promise<boolean> {
    this.#intake.fill();
    const pick = this.#intake.pickControl();
    if (pick.frames.length === 0) return false;
    await this.#committer.commit(pick.frames);
    this.#intake.confirmControl(pick);
    return true;
  }
}
