// An engine: one ingest, one shard, their recovery and their checkpoints, as a loop that can be stepped. It never waits and holds no timer;
// its shell (worker.ts, or a simulation) steps it, sleeps when a step had nothing to do, and delivers messages.
import type { EngineMemory } from "../../adapters/shared-memory/engine-memory.ts";
import type { InboxReader } from "../../adapters/shared-memory/inbox-ring.ts";
import { ANOMALIES_PER_COMMIT_MAX } from "../../core/config/limits.ts";
import { ARRIVAL_HISTORY } from "../../core/layout/row-frame.ts";
import type { CrashPosition } from "../../core/protocol/crash-note.ts";
import type { LogFlaw } from "../../core/protocol/data-fault.ts";
import { makeCheckpoints } from "./engine-checkpoints.ts";
import type { EngineDependencies, EngineOptions } from "./engine-options.ts";
import { type EngineParts, makeParts } from "./engine-parts.ts";
import type { IngestPipeline } from "./ingest/ingest-pipeline.ts";
import type { Checkpoints } from "./recovery/checkpoints.ts";
import { isHistoryBlock, type Recovery, type ReplayBlock } from "./recovery/recovery.ts";
import type { Outbox } from "./report/outbox.ts";
import type { Shard } from "./shard/shard.ts";

/** Frames taken from one ring before the others get their turn. */
const FRAMES_PER_SLICE = 16;
/** For messages of the coordinator between two units of work, and how many of them. */
const MESSAGES_MS_MAX = 1;
const MESSAGES_MAX = 64;
/** Size of what waits for the coordinator while logs are read before it is sent. */
const REPLAY_FLUSH_BYTES = 256 * 1024;
/** Milliseconds between two looks at what is due by time. */
const INTERVAL_MS = 200;
/** Timeout of an orderly stop for the store to take the last frames; what it has not taken is in the log. */
const STOP_MS_MAX = 10_000;

type Phase = "recovering" | "serving" | "stopping" | "stopped";

/** One engine of the process. */
export class Engine {
  readonly #options: EngineOptions;
  readonly #dependencies: EngineDependencies;
  readonly #parts: EngineParts;
  readonly #shard: Shard;
  readonly #ingest: IngestPipeline;
  readonly #outbox: Outbox;
  readonly #recovery: Recovery;
  readonly #readers: ReadonlyArray<InboxReader | undefined>;
  /** A block of the logs that has been read and waits to be applied. */
  #block: ReplayBlock | undefined;
  /** End of the logs, once they have been read. */
  #replayed: readonly LogFlaw[] | undefined;
  /** Once the logs have been read. */
  #checkpoints: Checkpoints | undefined;
  readonly #startMs: number;
  #phase: Phase = "recovering";
  #nextIntervalMs = 0;
  #stopByMs = Number.POSITIVE_INFINITY;
  #lastMark = false;

  constructor(options: EngineOptions, dependencies: EngineDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#startMs = dependencies.clock.monotonicMs();
    this.#parts = makeParts(options, dependencies, () => this.#checkpoints?.markNow());
    const { shard, ingest, outbox, recovery, readers } = this.#parts;
    this.#shard = shard;
    this.#ingest = ingest;
    this.#outbox = outbox;
    this.#recovery = recovery;
    this.#readers = readers;
  }

  /** What it works at, where that can be left out; for whoever sees it throw. */
  get crashPosition(): CrashPosition | null {
    return this.#shard.work.positionOf(this.#shard.items);
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Does what can be done now; false when that was nothing. */
  step(): boolean {
    if (this.#phase === "stopped") return false;
    const did = this.#phase === "recovering" ? this.#recover() : this.#serve();
    this.#shard.returns.flush();
    const moved = this.#holdsBack(did) ? false : this.#outbox.flush();
    return moved || did;
  }

  /** While logs are read nobody waits for a verdict: telling the coordinator of each costs as much as the rows. Of what is owed a commit's worth goes together. */
  #holdsBack(did: boolean): boolean {
    if (this.#phase === "recovering") return did && this.#outbox.waitingBytes < REPLAY_FLUSH_BYTES;
    return this.#shard.owed.size > 0 && this.#outbox.frames < ANOMALIES_PER_COMMIT_MAX;
  }

  /** A stop that comes before the start is over leaves everything to the next one, as a kill would. */
  #recover(): boolean {
    this.#parts.commands.takeAll();
    if (this.#parts.commands.isStopAsked) return this.#end();
    if (this.#outbox.isOverLimit) return false;
    if (!this.#recovery.isRestored) {
      this.#recovery.askForStates();
      return this.#parts.inbox.takeOne("restoring");
    }
    const did = this.#parts.inbox.takeOne("replaying");
    const { returns } = this.#shard;
    if (returns.isFull) return did;
    if (this.#replayed !== undefined) return this.#endReplay(this.#replayed) || did;
    return this.#replay() || did;
  }

  /** Applies the next block; one of history waits for the long baselines that it goes into. */
  #replay(): boolean {
    if (this.#block === undefined) {
      const step = this.#dependencies.replay.next();
      if (step.done) this.#replayed = step.value;
      else this.#block = step.value;
    }
    if (this.#block === undefined) return true;
    if (isHistoryBlock(this.#block) && !this.#parts.baselines.load()) return false;
    this.#recovery.apply(this.#block);
    this.#block = undefined;
    this.#parts.handlers.families.settle();
    this.#shard.work.endBlock();
    this.#parts.counters.set("rowsReplayed", this.#recovery.rows);
    return true;
  }

  /** The last rows may wait for streams. */
  #endReplay(flaws: readonly LogFlaw[]): boolean {
    if (!this.#shard.returns.isIdle) return false;
    this.#finishRecovery(flaws);
    return true;
  }

  #finishRecovery(flaws: readonly LogFlaw[]): void {
    this.#recovery.finish();
    this.#phase = "serving";
    this.#checkpoints = makeCheckpoints(this.#options, this.#dependencies, this.#parts);
    this.#shard.publishCounters();
    const replayMs = this.#dependencies.clock.monotonicMs() - this.#startMs;
    const streams = this.#dependencies.kernel.streams();
    this.#dependencies.report({
      type: "ready",
      streams,
      replayedRows: this.#recovery.rows,
      replayMs,
      flaws,
      leftOut: this.#recovery.leftOut,
    });
  }

  #serve(): boolean {
    let did = this.#drainInboxes(FRAMES_PER_SLICE);
    if (!this.#shard.returns.isFull) did = this.#ingest.step() || did;
    if (did) this.#parts.watchdog.noteBody();
    did = this.#takeMessages() || did;
    did = this.#parts.handlers.families.settle() || did;
    did = this.#parts.delayed.answerSome(this.#checkpoints?.isCarrying === true) || did;
    did = this.#onInterval() || did;
    // What changes streams or stores them has its turn behind what is owed of them.
    if (this.#shard.owed.reportSome()) return true;
    did = this.#stepEvidence() || did;
    did = this.#shard.profiles.step() || did;
    if (this.#phase === "serving") did = this.#parts.handlers.doDue(did) || did;
    did = this.#checkpoints?.step() || did;
    // A cycle that a stop cuts off is made again by the next start: at its end it would only be stored.
    if (this.#phase === "serving") did = this.#stepWatchdog() || did;
    else did = this.#stop() || did;
    return this.#parts.services.keepUp(did) || did;
  }

  #stepEvidence(): boolean {
    const { evidence } = this.#parts;
    if (!evidence.isAsked) return false;
    const answer = evidence.step();
    if (answer !== undefined) this.#dependencies.reply(answer, [answer.numbers.buffer]);
    return true;
  }

  #stepWatchdog(): boolean {
    if (!this.#parts.watchdog.isDue(this.#ingest.waiting > 0)) return false;
    const answer = this.#parts.watchdog.step();
    if (answer !== undefined) this.#dependencies.reply(answer);
    return true;
  }

  /** Applies frames from the other engines; true when there were any. */
  #drainInboxes(framesMax: number): boolean {
    let any = false;
    this.#readers.forEach((reader, writer) => {
      if (reader === undefined) return;
      let taken = 0;
      const { returns } = this.#shard;
      for (
        let frame = returns.isFull ? undefined : reader.peek();
        frame !== undefined;
        frame = taken < framesMax && !returns.isFull ? reader.peek() : undefined
      ) {
        if (frame.arrivalMs === ARRIVAL_HISTORY && !this.#parts.baselines.load()) break;
        this.#shard.work.beginBlock(this.#options.epoch, writer, frame);
        this.#shard.applyFrame(frame);
        this.#shard.work.endBlock();
        // Verdicts go first: the ingest answers once the frame is released, and who was answered and asks finds them in the ring.
        this.#outbox.flush();
        reader.release();
        taken++;
      }
      if (taken === 0) return;
      any = true;
      (this.#dependencies.memories[writer] as EngineMemory).ringBell();
    });
    return any;
  }

  /** Of questions that are only noted many: each of them waits for the unit of work before it. */
  #takeMessages(): boolean {
    const any = this.#parts.commands.takeAll();
    if (this.#parts.commands.isStopAsked && this.#phase === "serving") this.#phase = "stopping";
    const { clock } = this.#dependencies;
    const endMs = clock.monotonicMs() + MESSAGES_MS_MAX;
    let taken = 1;
    return this.#parts.inbox.takeSome("serving", () => taken++ < MESSAGES_MAX && clock.monotonicMs() < endMs) || any;
  }

  #onInterval(): boolean {
    const nowMs = this.#dependencies.clock.monotonicMs();
    if (nowMs < this.#nextIntervalMs) return false;
    this.#nextIntervalMs = nowMs + INTERVAL_MS;
    this.#publishCounters();
    if (this.#phase === "serving") this.#parts.baselines.onInterval(nowMs);
    if (this.#phase === "serving") for (const handler of this.#shard.handlers) handler.onInterval?.(this.#dependencies.clock.wallMs());
    return this.#phase === "serving" && !this.#outbox.isOverLimit && this.#checkpoints?.onInterval(nowMs) === true;
  }

  /** Time for which the engine may sleep when it has nothing to do. */
  get restMs(): number {
    return Math.min(INTERVAL_MS, this.#parts.handlers.dueInMs);
  }

  #publishCounters(): void {
    const counters = this.#parts.counters;
    this.#shard.publishCounters();
    counters.raise("inboxFillMax", this.#parts.placement.inboxFill);
    counters.set("coordinatorRingFill", this.#outbox.ringFill);
    counters.set("overflowFrames", this.#outbox.frames);
    counters.set("keyTableEntries", this.#dependencies.kernel.keyTableEntries());
    counters.set("keyTextBytes", this.#dependencies.kernel.keyTextBytes());
  }

  /** Once nothing is under way: checkpoints of all partitions, then the end. */
  #stop(): boolean {
    const checkpoints = this.#checkpoints as Checkpoints;
    if (!this.#ingest.isIdle || !this.#shard.returns.isIdle) return false;
    if (this.#stopByMs === Number.POSITIVE_INFINITY) {
      this.#stopByMs = this.#dependencies.clock.monotonicMs() + STOP_MS_MAX;
      this.#parts.watchdog.storeAll();
      checkpoints.beginLast();
      return true;
    }
    const isLate = this.#dependencies.clock.monotonicMs() >= this.#stopByMs;
    if (!isLate && !this.#parts.baselines.storeAll()) return false;
    if (!isLate && !this.#lastMark) {
      if (!checkpoints.isDone) return false;
      this.#lastMark = true;
      checkpoints.markNow();
      return true;
    }
    if (!isLate && !this.#outbox.drained) return false;
    return this.#end();
  }

  #end(): boolean {
    this.#dependencies.log.close();
    this.#phase = "stopped";
    this.#dependencies.report({ type: "stopped" });
    return true;
  }
}
