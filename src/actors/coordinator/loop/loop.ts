// The rounds of the coordinator: one transaction of what engines have sent, edits between transactions, one step of retention and replay, and the steps of
// parts that keep a pace of their own. It has no timer: each round says when the next is due.
import { StoreError } from "../../../adapters/storage/key-value-store.ts";
import { failureOf } from "../../../core/faults/guard.ts";
import type { AwaitedFrames } from "../../../core/protocol/coordinator-frame.ts";
import type { CoordinatorMessage } from "../../../core/protocol/query.ts";
import type { PartList } from "../../../modules/state/part.ts";
import type { DiskUsage } from "../../../modules/status/disk-usage.ts";
import type { FrameCommits } from "../commits/frame-commits.ts";
import type { Retention, RetentionOutcome } from "./retention.ts";
import type { StoreGuard } from "./store-guard.ts";

/** Outcome of a step: whether another may be done at once, else the monotonic time at which the next is due even without a command. */
export interface StepReport {
  readonly more: boolean;
  /** More is only what engines have sent meanwhile: a step a little later commits that with what comes until then. */
  readonly mayGather: boolean;
  /** The store does not take writes until `dueMs`: what engines have sent stays where it is. */
  readonly isPaused: boolean;
  /** Which frames are not to wait for `dueMs`. */
  readonly awaits: AwaitedFrames;
  readonly dueMs: number;
}

/** Parts that a round steps: those that store, and the list of those that keep a pace of their own. */
export interface LoopParts {
  readonly guard: StoreGuard;
  readonly frames: FrameCommits;
  readonly disk: DiskUsage;
  readonly retention: Retention;
  /** More may be added until the first step. */
  readonly list: PartList;
  /** Takes down, behind each round, how much is configured. */
  count(): void;
}

export interface LoopDependencies {
  nowMs(): number;
  monotonicMs(): number;
  emit(message: CoordinatorMessage): void;
  /** Has whoever steps do so: an edit was a step of its own, and it leaves more. */
  wake?(): void;
}

/** Steps that a query waits for at most, so that what an engine no longer holds has reached the store. */
const SETTLE_STEPS_MAX = 8;

/** One coordinator's rounds, one at a time. */
export class Loop {
  readonly #parts: LoopParts;
  readonly #dependencies: LoopDependencies;
  readonly #edits = new EditQueue();
  /** Edits of what is in `control` alone: they wait for no commit of `series`. */
  readonly #controlEdits = new EditQueue();
  #stepping: Promise<StepReport> | undefined;
  /** Whether the last step committed anything that engines had sent. */
  #tookFrames = false;
  /** Queries that wait for all that engines have sent. */
  #settling = 0;
  #stopping: "no" | "asked" | "done" = "no";
  enginesReady = false;
  /** Wall clock of the last look at what engines have sent. */
  lastRunMs = 0;

  constructor(parts: LoopParts, dependencies: LoopDependencies) {
    this.#parts = parts;
    this.#dependencies = dependencies;
  }

  get isStopping(): boolean {
    return this.#stopping !== "no";
  }

  /** From now on `step` ends with `stopped`, once everything that the engines have sent is stored, or at once when the store does not take it. */
  stop(): void {
    if (this.#stopping !== "no") return;
    this.#stopping = "asked";
    this.#parts.list.stop();
  }

  /** Does one round of work; a call during a round gets the round that runs. Rejects only on a defect of this program or a store that was closed. */
  step(): Promise<StepReport> {
    this.#stepping ??= this.#step()
      .catch(failed)
      .finally(() => {
        this.#stepping = undefined;
      });
    return this.#stepping;
  }

  /** Does work that writes. Nothing else writes meanwhile: edits have their turn between transactions. */
  edit<T>(work: () => Promise<T>): Promise<T> {
    return this.#edit(work, this.#edits);
  }

  /** The same for work that writes to `control` alone. */
  editControl<T>(work: () => Promise<T>): Promise<T> {
    return this.#edit(work, this.#controlEdits);
  }

  /** Commits what engines have sent so far. A round that runs already may have read the ring too early, so it does not count. */
  async settle(): Promise<void> {
    this.#settling++;
    try {
      await this.#stepping;
      for (let steps = 0; steps < SETTLE_STEPS_MAX; steps++) {
        await this.step();
        if (!this.#tookFrames || this.#parts.guard.isReadOnly) return;
      }
    } finally {
      this.#settling--;
      if (this.#parts.frames.isGathering) this.#dependencies.wake?.();
    }
  }

  async #step(): Promise<StepReport> {
    const { monotonicMs } = this.#dependencies;
    const pausedUntilMs = this.#parts.guard.pausedUntilMs(monotonicMs());
    if (pausedUntilMs !== undefined) for (const edits of [this.#edits, this.#controlEdits]) edits.refuse();
    const paused = { more: false, mayGather: false, isPaused: true, awaits: "any" } as const;
    if (pausedUntilMs !== undefined) return this.#finished({ ...paused, dueMs: pausedUntilMs });
    const { more, mayGather } = await this.#write();
    const isServing = this.enginesReady && this.#stopping === "no";
    const partsDueMs = isServing ? this.#parts.list.step() : Number.POSITIVE_INFINITY;
    this.#parts.disk.measure(monotonicMs());
    this.#parts.guard.limit(this.#parts.disk.isOverLimit);
    const retryMs = this.#parts.guard.pausedUntilMs(monotonicMs());
    if (retryMs !== undefined) return this.#finished({ ...paused, dueMs: retryMs });
    const { isGathering } = this.#parts.frames;
    const dueMs = Math.min(this.#retentionDueMs, this.#parts.disk.dueMs, this.#workDueMs, partsDueMs, this.#parts.frames.dueMs);
    return this.#finished({ more, mayGather, isPaused: false, awaits: isGathering ? "prompt" : "any", dueMs });
  }

  /** Retention is tried even where frames were refused: it may be what makes room. A part without work is passed over: some hundred rounds a second have one. */
  async #write(): Promise<Pick<StepReport, "more" | "mayGather">> {
    const { nowMs, monotonicMs } = this.#dependencies;
    const attempts = new Attempts();
    const { failures } = attempts;
    const { series } = this.#parts.frames;
    if (series.hasFailed || this.#edits.isWaiting || this.#isUrgent) await attempts.make(() => series.end());
    if (this.#edits.isWaiting && !series.isUnderWay) await this.#edits.run();
    await this.#controlEdits.run();
    this.lastRunMs = nowMs();
    this.#tookFrames = this.#parts.frames.read(this.#isUrgent) && (await attempts.make(() => this.#parts.frames.commitControl())) === true;
    const worked = monotonicMs() >= this.#workDueMs && (await attempts.make(() => this.#stepWork()));
    const retains = monotonicMs() >= this.#retentionDueMs;
    const retention: RetentionOutcome | undefined = retains ? await attempts.make(() => this.#parts.retention.step(nowMs())) : "idle";
    if (monotonicMs() >= this.#parts.disk.trimDueMs) await attempts.make(() => this.#parts.disk.trim(monotonicMs()));
    const isUrgent = this.#isUrgent;
    const begun = failures.length === 0 && series.begin(isUrgent);
    if (isUrgent) await attempts.make(() => series.end());
    this.#tookFrames ||= begun && isUrgent;
    // Work of retention that has come to no commit yet says nothing of the store.
    if (failures.length === 0 && (this.#tookFrames || retention !== "worked")) this.#parts.guard.succeeded();
    if (failures.length > 0) this.#parts.guard.failed(failures[0], monotonicMs());
    const works = worked === true || retention !== "idle";
    const more = failures.length === 0 && (this.#tookFrames || works);
    return { more, mayGather: more && !works && this.#parts.frames.isCaughtUp && this.#stopping === "no" };
  }

  /** Nobody else writes to `series` while a commit there is under way. Engines that start come first, but where the store takes nothing: they may need room. */
  get #retentionDueMs(): number {
    const mayRetain =
      this.#stopping === "no" && !this.#parts.frames.series.isUnderWay && (this.enginesReady || this.#parts.guard.refusesWrites);
    return mayRetain ? this.#parts.retention.dueMs : Number.POSITIVE_INFINITY;
  }

  /** Whether nothing may wait to be committed with others, or beside a step. */
  get #isUrgent(): boolean {
    return this.#settling > 0 || this.isStopping || this.#parts.guard.isReadOnly || this.#parts.frames.series.isAwaited;
  }

  get #workDueMs(): number {
    const mayWork = this.enginesReady && this.#stopping === "no" && !this.#parts.guard.refusesWrites;
    return mayWork ? this.#parts.list.workDueMs : Number.POSITIVE_INFINITY;
  }

  /** Returns whether it may go on at once. */
  async #stepWork(): Promise<boolean> {
    const { list, frames } = this.#parts;
    const { monotonicMs } = this.#dependencies;
    await list.stepWork(monotonicMs(), !this.#tookFrames && !frames.isGathering);
    return list.workDueMs <= monotonicMs();
  }

  #finished(report: StepReport): StepReport {
    this.#parts.count();
    const isDrained = !report.more || this.#parts.guard.isReadOnly;
    if (this.#stopping !== "asked" || !isDrained) return report;
    this.#stopping = "done";
    this.#dependencies.emit({ type: "stopped" });
    return report;
  }

  async #edit<T>(work: () => Promise<T>, edits: EditQueue): Promise<T> {
    const edited = edits.add(work);
    // It may end before it is waited for below, and its end is told there.
    edited.catch(() => undefined);
    await this.#stepping;
    const { more, mayGather } = await this.step();
    if ((more && !mayGather) || this.#parts.frames.isGathering) this.#dependencies.wake?.();
    return edited;
  }
}

/** A step that throws is the end of the coordinator, also where a query has asked for it. */
function failed(error: unknown): never {
  throw error instanceof StoreError ? error : failureOf("a step of the coordinator", error);
}

/** Parts of a round of which each may fail without taking the others' turn. */
class Attempts {
  /** Why parts have failed, in their order. */
  readonly failures: unknown[] = [];

  /** Does a part; undefined where it failed. */
  async make<T>(part: () => Promise<T>): Promise<T | undefined> {
    try {
      return await part();
    } catch (error) {
      this.failures.push(error);
      return undefined;
    }
  }
}

// Writes that queries ask for. They wait for their turn between transactions, because a transaction works on counts as they were when it began.

interface Edit {
  readonly run: () => Promise<void>;
  readonly refuse: (error: Error) => void;
}

/** Edits in the order in which they came; each belongs to a query, so there are at most QUERIES_WAITING_MAX. */
class EditQueue {
  #edits: Edit[] = [];

  /** Resolves or rejects with what the work does once it has had its turn. */
  add<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#edits.push({ run: () => work().then(resolve, reject), refuse: reject });
    });
  }

  get isWaiting(): boolean {
    return this.#edits.length > 0;
  }

  /** Gives each its turn. */
  async run(): Promise<void> {
    const edits = this.#edits;
    this.#edits = [];
    for (const edit of edits) await edit.run();
  }

  /** The store takes no writes now. */
  refuse(): void {
    const edits = this.#edits;
    this.#edits = [];
    for (const edit of edits) edit.refuse(new StoreError("write", "READ_ONLY"));
  }
}
