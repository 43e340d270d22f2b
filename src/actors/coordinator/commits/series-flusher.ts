// When frames for `series` are committed. Nobody waits for them: samples, records and states are durable in the logs, and whoever asks has them committed
// first. So they gather while verdicts are committed one run after another (ADR 57).
import type { LedgerBook } from "../alerts/ledger-book.ts";
import type { FrameIntake } from "./frame-intake.ts";
import type { SeriesCommitter } from "./series-committer.ts";

/** What the flusher needs. */
export interface SeriesFlusherDependencies {
  readonly intake: FrameIntake;
  readonly committer: SeriesCommitter;
  readonly ledger: LedgerBook;
  nowMs(): number;
  monotonicMs(): number;
}

/** Gathers for `restMs`, then commits. */
export class SeriesFlusher {
  readonly #restMs: number;
  readonly #dependencies: SeriesFlusherDependencies;
  #restEndsMs = Number.POSITIVE_INFINITY;

  constructor(restMs: number, dependencies: SeriesFlusherDependencies) {
    this.#restMs = restMs;
    this.#dependencies = dependencies;
  }

  /** Whether anything waits to be committed. */
  get isWaiting(): boolean {
    const { intake, ledger } = this.#dependencies;
    return intake.seriesWaiting > 0 || ledger.isWaiting;
  }

  /** Monotonic time at which what waits is to be committed. */
  get dueMs(): number {
    return this.#restEndsMs;
  }

  /** Commits what is due, or all there is where it is urgent; true when there was something. Rejects with StoreError, and what waited waits on. */
  async flush(isUrgent: boolean): Promise<boolean> {
    const { intake, committer } = this.#dependencies;
    if (!this.#isDue(isUrgent)) return false;
    const waited = this.isWaiting;
    const pick = intake.pickSeries();
    await committer.commit(pick.frames);
    intake.confirmSeries(pick);
    this.#restEndsMs = Number.POSITIVE_INFINITY;
    await committer.raiseFloor();
    return waited;
  }

  #isDue(isUrgent: boolean): boolean {
    const { intake, committer, ledger, nowMs, monotonicMs } = this.#dependencies;
    if (!this.isWaiting) return committer.isFloorStale;
    this.#restEndsMs = Math.min(this.#restEndsMs, monotonicMs() + this.#restMs);
    return isUrgent || monotonicMs() >= this.#restEndsMs || intake.isSeriesFull || ledger.isDue(nowMs());
  }
}
