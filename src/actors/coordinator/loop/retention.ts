// Rolls samples up into hours, and deletes what is past its time or over its bytes, a few hundred rows a step, so that commits of verdicts never
// wait long behind it. A round visits every table once; the next begins RETENTION_INTERVAL_MS after it has begun. Roll-ups pause between steps.
import { StoreError } from "../../../adapters/storage/key-value-store.ts";
import { FULL_DISK_ROWS_PER_STEP, FULL_DISK_STEPS } from "../../../core/config/limits.ts";
import type { RetentionStep, RetentionTerms } from "../../../modules/state/retention-step.ts";

/** Retention periods and bounds. */
export interface RetentionOptions {
  /** Anomalies, episodes, records and roll-ups. */
  readonly retentionMs: number;
  readonly rawRetentionMs: number;
  readonly auditRetentionMs: number;
  readonly auditRowsMax: number;
  readonly deadLetterAgeMs: number;
  readonly deadLetterBytesMax: number;
  readonly episodesMax: number;
  readonly intervalMs: number;
  readonly rowsPerStep: number;
  readonly blocksPerStep: number;
}

export interface RetentionDependencies {
  /** Retention tasks of the nouns. */
  readonly work: Record<"expire" | "gather", (terms: RetentionTerms) => ReadonlyArray<Generator<RetentionStep>>>;
  /** Resolves after a turn of the event loop. */
  yieldToLoop(): Promise<void>;
  monotonicMs(): number;
}

/** Outcome of a step: nothing, because nothing is due; work without a commit; or a commit. */
export type RetentionOutcome = "idle" | "worked" | "committed";

/** The rounds. */
export class Retention {
  readonly #options: RetentionOptions;
  readonly #dependencies: RetentionDependencies;
  #cycle: Generator<RetentionStep> | undefined;
  #dueMs = 0;
  #begunMs = 0;
  /** Rows of a step, fewer since a step found the disk full; as many as otherwise after a round that has come to its end. */
  #rowsMax = Number.POSITIVE_INFINITY;

  constructor(options: RetentionOptions, dependencies: RetentionDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Monotonic time at which `step` has something to do. */
  get dueMs(): number {
    return this.#dueMs;
  }

  /**
   * Does one step; to be called when it is due. Rejects with StoreError: the round then begins anew with the next call. On a full disk
   * calls are seldom and steps are small, so a call does some of them.
   */
  async step(wallNowMs: number): Promise<RetentionOutcome> {
    const monotonicMs = this.#dependencies.monotonicMs();
    if (this.#cycle === undefined) this.#begunMs = monotonicMs;
    let outcome: RetentionOutcome = "worked";
    for (let left = Number.isFinite(this.#rowsMax) ? FULL_DISK_STEPS : 1; left > 0; left--) {
      const done = await this.#draw(wallNowMs);
      if (done === "committed") outcome = done;
      if (done !== "idle") continue;
      this.#dueMs = Math.max(monotonicMs, this.#begunMs + this.#options.intervalMs);
      this.#rowsMax = Number.POSITIVE_INFINITY;
      return "idle";
    }
    return outcome;
  }

  async #draw(wallNowMs: number): Promise<RetentionOutcome> {
    const cycle = this.#cycle ?? this.#steps(wallNowMs);
    this.#cycle = undefined;
    const drawn = cycle.next();
    if (drawn.done) return "idle";
    const { store, operations, apply, pauseMs = 0 } = drawn.value;
    try {
      if (operations.length > 0) await store.commit(operations);
      else await this.#dependencies.yieldToLoop();
    } catch (error) {
      if (error instanceof StoreError && error.isFullDisk)
        this.#rowsMax = Math.max(1, Math.min(FULL_DISK_ROWS_PER_STEP, Math.floor(this.#rowsMax / 2)));
      throw error;
    }
    apply();
    this.#cycle = cycle;
    // A disk that is full is to have room soon.
    if (!Number.isFinite(this.#rowsMax)) this.#dueMs = this.#dependencies.monotonicMs() + pauseMs;
    return operations.length > 0 ? "committed" : "worked";
  }

  /** Each step is drawn when the one before has been applied, so it sees what that has left. Deletions come first: they make room for sums of calls and for roll-ups. */
  *#steps(wallNowMs: number): Generator<RetentionStep> {
    const terms = this.#terms(wallNowMs);
    const { work } = this.#dependencies;
    for (const steps of work.expire(terms)) yield* steps;
    for (const steps of work.gather(terms)) yield* steps;
  }

  #terms(wallNowMs: number): RetentionTerms {
    const { retentionMs, rawRetentionMs, auditRetentionMs, auditRowsMax, deadLetterAgeMs, deadLetterBytesMax, episodesMax } = this.#options;
    const rowsPerStep = () => Math.min(this.#rowsMax, this.#options.rowsPerStep);
    const blocksPerStep = () => Math.min(this.#rowsMax, this.#options.blocksPerStep);
    return {
      wallNowMs,
      retainedFromMs: wallNowMs - retentionMs,
      rawRetainedFromMs: wallNowMs - rawRetentionMs,
      auditRetainedFromMs: wallNowMs - auditRetentionMs,
      auditRowsMax,
      deadLettersRetainedFromMs: wallNowMs - deadLetterAgeMs,
      deadLetterBytesMax,
      episodesMax,
      intervalMs: this.#options.intervalMs,
      get rowsPerStep() {
        return rowsPerStep();
      },
      get blocksPerStep() {
        return blocksPerStep();
      },
    };
  }
}
