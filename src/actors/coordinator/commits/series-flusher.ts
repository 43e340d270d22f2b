// When frames for `series` are committed. Nobody waits for them: samples, records and states are durable in the logs, and whoever asks has them committed
// first. So they gather while verdicts are committed one run after another (ADR 57).
import type { LedgerBook } from "../../../modules/alerts/ledger-book.ts";
import type { FrameIntake } from "./frame-intake.ts";
import { UnstorableFramesError } from "./frame-sifting.ts";
import type { SeriesCommitter } from "./series-committer.ts";
import type { SetAsideFrames } from "./set-aside-frames.ts";

export interface SeriesFlusherDependencies {
  readonly intake: FrameIntake;
  readonly committer: SeriesCommitter;
  readonly ledger: LedgerBook;
  readonly setAside: Pick<SetAsideFrames, "take">;
  nowMs(): number;
  monotonicMs(): number;
  /** Has whoever steps the coordinator do so: a commit has ended. */
  wake?(): void;
}

/** Gathers for `gatherMs`, then commits beside whatever else is done. One commit is under way at a time; nothing else may write to `series` meanwhile. */
export class SeriesFlusher {
  readonly #gatherMs: number;
  readonly #dependencies: SeriesFlusherDependencies;
  #gatherEndsMs = Number.POSITIVE_INFINITY;
  #underWay: Promise<void> | undefined;
  #failures: unknown[] = [];

  constructor(gatherMs: number, dependencies: SeriesFlusherDependencies) {
    this.#gatherMs = gatherMs;
    this.#dependencies = dependencies;
  }

  /** Whether anything is not committed yet. */
  get isWaiting(): boolean {
    const { intake, ledger } = this.#dependencies;
    return this.isUnderWay || intake.seriesWaiting > 0 || ledger.isWaiting;
  }

  get isUnderWay(): boolean {
    return this.#underWay !== undefined;
  }

  /** Whether `end` would reject at once. */
  get hasFailed(): boolean {
    return this.#failures.length > 0;
  }

  /** Whether a commit is to be waited for: where frames do not gather, nothing goes on beside it. */
  get isAwaited(): boolean {
    return this.#gatherMs === 0;
  }

  /** Monotonic time at which what waits is to be committed; none while a commit is under way, whose end is told. */
  get dueMs(): number {
    return this.isUnderWay ? Number.POSITIVE_INFINITY : this.#gatherEndsMs;
  }

  /** Whether what waits has gathered long enough, or is enough. */
  get isDue(): boolean {
    const { intake, ledger, nowMs, monotonicMs } = this.#dependencies;
    return monotonicMs() >= this.#gatherEndsMs || intake.isSeriesFull || ledger.isDue(nowMs());
  }

  /** Begins to commit what is due, or all there is where it is urgent; true when there was something. */
  begin(isUrgent: boolean): boolean {
    const mayBegin = this.#mayBegin(isUrgent);
    if (this.isUnderWay || !mayBegin) return false;
    const waited = this.isWaiting;
    this.#gatherEndsMs = Number.POSITIVE_INFINITY;
    this.#underWay = this.#commit().then(
      () => this.#end(),
      (error) => this.#end([error]),
    );
    return waited;
  }

  /** Waits for the commit under way. Rejects with StoreError where it, or one before it, has failed, once; what waited waits on. */
  async end(): Promise<void> {
    await this.#underWay;
    const [failure] = this.#failures;
    this.#failures = [];
    if (failure !== undefined) throw failure;
  }

  #end(failures: readonly unknown[] = []): void {
    this.#underWay = undefined;
    this.#failures.push(...failures);
    this.#dependencies.wake?.();
  }

  async #commit(): Promise<void> {
    const { intake, committer, setAside } = this.#dependencies;
    const pick = intake.pickSeries();
    try {
      await committer.commit(pick.frames);
    } catch (error) {
      intake.returnSeries();
      if (!(error instanceof UnstorableFramesError)) throw error;
      intake.setAside(setAside.take(error.unstorable));
      return; // what is left waits again, behind the letters
    }
    intake.confirmSeries(pick);
    await committer.raiseFloor();
  }

  #mayBegin(isUrgent: boolean): boolean {
    const { intake, committer, ledger, monotonicMs } = this.#dependencies;
    if (intake.seriesWaiting === 0 && !ledger.isWaiting) {
      this.#gatherEndsMs = Number.POSITIVE_INFINITY; // the commit under way has taken along what began to wait meanwhile
      return committer.isFloorStale;
    }
    this.#gatherEndsMs = Math.min(this.#gatherEndsMs, monotonicMs() + this.#gatherMs);
    return isUrgent || this.isDue;
  }
}
